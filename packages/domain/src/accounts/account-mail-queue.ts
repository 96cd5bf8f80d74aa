import type { Claim, Claimed, DeliveryQueue } from '../deliveries/delivery-queue.js';
import type { Instant } from '../kernel/clock.js';
import type { AccountMailId, NewAccountMail, NewLinkMail } from './account-mail.js';

export interface ClaimedAccountMail extends Omit<NewAccountMail, 'address'>, Claimed<AccountMailId> {
  /** Where it is sent. */
  readonly email: string;
}

/**
 * Port: the mails that reset passwords, and prove and change addresses. The credential repository revokes an account's links when one
 * was used, the password was changed or the account was closed. A queued mail of a revoked link is due at once and gets no
 * token.
 */
export interface AccountMailQueue extends DeliveryQueue<AccountMailId, ClaimedAccountMail> {
  /**
   * Queues a mail with a link. Resolves to false, and queues nothing, if there is no such account, or if the account has
   * `most` mails of that kind that are queued or whose links work when the mail is created.
   */
  add(mail: NewLinkMail, most: number): Promise<boolean>;
  /**
   * Adds a token that works until the mail's link expires; the tokens of earlier attempts stay valid. Resolves to false, and
   * stores nothing, if the mail has no link, if its link has expired or was revoked, or if a later claim exists.
   *
   * @param tokenHash SHA-256 of the token.
   */
  addToken(claimed: ClaimedAccountMail, tokenHash: string, at: Instant): Promise<boolean>;
  /** Drops the mail. Does nothing if a later claim exists. */
  markDropped(claim: Claim<AccountMailId>): Promise<void>;
  /** Deletes the mails that aren't queued and expired at or before that instant. Returns their number. */
  purge(expiredUntil: Instant): Promise<number>;
}
