import type { ClaimedAccountMail } from './account-mail-queue.js';

export interface AccountMail extends Pick<ClaimedAccountMail, 'kind' | 'email' | 'page' | 'expiresAt'> {
  /** The token that `resetPassword` or `proveAddress` takes. */
  readonly token: string;
}

/** Port: sends the mails that reset passwords and prove addresses. */
export interface AccountMailSender {
  /**
   * Resolves once the mail is delivered, within `timeout` milliseconds.
   *
   * @throws RefusedForGood if the address accepts no mail; another Error if a retry may succeed. Neither contains the address
   * or the token.
   */
  send(mail: AccountMail, timeout: number): Promise<void>;
}
