import type { ClaimedAccountMail } from './account-mail-queue.js';

export interface AccountMail extends Pick<
  ClaimedAccountMail,
  'kind' | 'email' | 'page' | 'about' | 'createdAt' | 'expiresAt'
> {
  /** The token that `resetPassword`, `proveAddress` or `changeAddress` takes. Undefined for a mail without a link. */
  readonly token: string | undefined;
}

/** Port: sends the mails to account holders. */
export interface AccountMailSender {
  /**
   * Resolves once the mail is delivered, within `timeout` milliseconds.
   *
   * @throws RefusedForGood if the address accepts no mail; another Error if a retry may succeed. Neither contains the
   * address or the token.
   */
  send(mail: AccountMail, timeout: number): Promise<void>;
}
