import type { Claim, Claimed, DeliveryQueue } from '../../deliveries/delivery-queue.js';
import type { Instant } from '../../kernel/clock.js';
import type {
  AccountMailId,
  LinkKind,
  LinkMailState,
  NewAccountMail,
  NewLinkMail,
  TokenState,
} from './account-mail.js';

export interface ClaimedAccountMail extends Omit<NewAccountMail, 'address' | 'wait'>, Claimed<AccountMailId> {
  /** The address to which it is sent. */
  readonly email: string;
}

export type ClaimedLinkMail = ClaimedAccountMail & { readonly kind: LinkKind };

/**
 * Port: the mails that reset passwords, and prove and change addresses. The credential repository revokes an account's
 * links when one was used, the password was changed or the account was closed. The queued mail of a revoked link
 * becomes due immediately and gets no token, so a worker drops it.
 */
export interface AccountMailQueue extends DeliveryQueue<AccountMailId, ClaimedAccountMail> {
  /**
   * Queues the mail if `decide` returns true. The account is locked. The state counts the mails that are usable at the
   * mail's `createdAt`. Resolves to the decision.
   */
  add(mail: NewLinkMail, decide: (state: LinkMailState) => boolean): Promise<boolean>;
  /**
   * If `decide` returns true, adds a token that works until the mail's link expires. The tokens of earlier attempts
   * stay valid. The account is locked, so no link is revoked meanwhile. Resolves to the decision.
   *
   * @param tokenHash SHA-256 of the token.
   */
  addToken(claimed: ClaimedLinkMail, tokenHash: string, decide: (state: TokenState) => boolean): Promise<boolean>;
  /** Drops the mail. Does nothing if a later claim exists. */
  markDropped(claim: Claim<AccountMailId>): Promise<void>;
  /** Deletes the mails that aren't queued and expired at or before that instant. Returns their number. */
  purge(expiredUntil: Instant): Promise<number>;
}
