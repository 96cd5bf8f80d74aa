import type { Instant } from '../../kernel/clock.js';
import type { Account, AccountId } from '../account.js';
import type { LinkKind } from '../mails/account-mail.js';
import type { Credentials, CredentialsChange, MailedLink, NewCredentials, SignUpLink } from './credentials.js';

/**
 * Port: passwords and mailed links of open accounts. A closed account is never returned. The links are those in the
 * mails of `AccountMailQueue`. Addresses are compared as in `AccountRepository`.
 *
 * Notices are queued as `decideNotice` decides. Each method is atomic. `decide` is called once, with what is stored;
 * what it returns is stored. If it returns undefined or throws nothing is changed.
 */
export interface CredentialRepository {
  /**
   * Opens the account that `decide` returns. If several callers ask at once, only one of them opens it.
   *
   * @param decide on the account that has the address.
   * @throws DomainError `email_taken` if another caller has opened one meanwhile.
   */
  open(email: string, decide: (holder: Account | undefined) => NewCredentials): Promise<Account>;
  findSignUp(tokenHash: string): Promise<SignUpLink | undefined>;
  /**
   * Opens the account that `decide` returns, and deletes the links for its address. Of several callers with links for one
   * address the first one opens the account, and the others find no link. Undefined if nothing was opened.
   *
   * @throws DomainError `email_taken` if another caller has opened one meanwhile.
   */
  completeSignUp(
    tokenHash: string,
    decide: (link: SignUpLink | undefined) => NewCredentials | undefined,
  ): Promise<Account | undefined>;
  findByEmail(email: string): Promise<Credentials | undefined>;
  findById(id: AccountId): Promise<Credentials | undefined>;
  findLink(kind: LinkKind, tokenHash: string): Promise<MailedLink | undefined>;
  /**
   * Changes the account, which is locked: no key is added, no link is mailed and no session begins meanwhile. Resolves
   * to the account afterwards, or to undefined if nothing was changed.
   */
  change(
    id: AccountId,
    decide: (credentials: Credentials | undefined) => CredentialsChange | undefined,
  ): Promise<Account | undefined>;
  /**
   * Like `change`, on the account of a link. The link is revoked only if the change revokes its kind.
   *
   * @throws DomainError `email_taken` if an account with the new address was opened meanwhile.
   */
  useLink(
    kind: LinkKind,
    tokenHash: string,
    decide: (link: MailedLink | undefined) => CredentialsChange | undefined,
  ): Promise<Account | undefined>;
  /** Deletes the links that expired at or before that instant. Returns their number. */
  purgeLinks(until: Instant): Promise<number>;
}
