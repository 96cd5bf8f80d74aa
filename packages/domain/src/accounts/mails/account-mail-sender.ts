import type { AccountMailKind } from './account-mail.js';
import type { ClaimedAccountMail } from './account-mail-queue.js';

export interface AccountMail extends Pick<ClaimedAccountMail, 'email' | 'about' | 'createdAt' | 'expiresAt'> {
  /** `has-account` answers a `sign-up` for an address that has an account. */
  readonly kind: AccountMailKind | 'has-account';
  /** The token that `completeSignUp`, `resetPassword` or `changeAddress` takes. Undefined for a mail without a link. */
  readonly token: string | undefined;
}

/** Port: sends the mails to account holders. */
export interface AccountMailSender {
  /**
   * Resolves once the mail is delivered, within `timeout` milliseconds.
   *
   * @throws PermanentFailure if the address accepts no mail; another Error if a retry may succeed. Neither contains the
   * address or the token.
   */
  send(mail: AccountMail, timeout: number): Promise<void>;
}
