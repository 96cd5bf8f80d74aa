/** Port: what the services record for each other and for the operator's commands. */
export interface Deployment {
  /**
   * The portal's address, to which mailed links lead. A worker that can send mail records it; from then on addresses are
   * proven. Undefined as long as none has.
   */
  portalUrl(): Promise<string | undefined>;
  recordPortalUrl(url: string): Promise<void>;
}

/** Whether mail can be sent. Then addresses are proven, and passwords are reset by mail. */
export async function sendsMail({ deployment }: { readonly deployment: Deployment }): Promise<boolean> {
  return (await deployment.portalUrl()) !== undefined;
}
