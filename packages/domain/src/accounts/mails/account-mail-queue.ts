import type { Claim, Claimed, DeliveryQueue } from '../../deliveries/delivery-queue.js';
import type { Instant } from '../../kernel/clock.js';
import type { AccountId } from '../account.js';
import {
  type AccountMailId,
  type decideSignUpMail,
  LINK_KINDS,
  type LinkKind,
  type LinkMailState,
  type NewAccountMail,
  type NewLinkMail,
  type NewSignUpMail,
  type SignUpMailState,
  type TokenState,
} from './account-mail.js';

export interface ClaimedAccountMail extends Omit<NewAccountMail, 'address' | 'wait'>, Claimed<AccountMailId> {
  /** The address to which it is sent. */
  readonly email: string;
}

export type ClaimedLinkMail = ClaimedAccountMail & { readonly accountId: AccountId; readonly kind: LinkKind };

export function isLinkMail(mail: ClaimedAccountMail): mail is ClaimedLinkMail {
  return LINK_KINDS.some((kind) => kind === mail.kind);
}

export type SignUpMailDecision = ReturnType<typeof decideSignUpMail>;

/**
 * Port: the mails to account holders, and to those who want an account. The credential repository revokes an account's
 * links when one was used, the password was changed or the account was closed. The queued mail of a revoked link
 * becomes due immediately and gets no token, so a worker drops it.
 *
 * Accounts take turns. The mails of those who sign up are claimed only if no other one is due, the longest due first.
 * `decide` is called once.
 */
export interface AccountMailQueue extends DeliveryQueue<AccountMailId, ClaimedAccountMail> {
  /**
   * Queues the mail if `decide` returns true. The account is locked, so its mails are decided on one after the other. The
   * state counts the mails that are usable at the mail's `createdAt`. Resolves to the decision.
   */
  add(mail: NewLinkMail, decide: (state: LinkMailState) => boolean): Promise<boolean>;
  /**
   * If `decide` returns true, adds a token that works until the mail's link expires. The tokens of earlier attempts
   * stay valid. The account is locked, so no link is revoked meanwhile. Resolves to the decision.
   *
   * @param tokenHash SHA-256 of the token.
   */
  addToken(claimed: ClaimedLinkMail, tokenHash: string, decide: (state: TokenState) => boolean): Promise<boolean>;
  /** Queues the mail. Looks up no account, so it takes the same time whether the address has one. */
  addSignUp(mail: NewSignUpMail): Promise<void>;
  /**
   * If `decide` returns `link`, adds a token with which an account begins until the mail's link expires. The tokens of
   * earlier attempts stay valid. Resolves to the decision.
   */
  addSignUpToken(
    claimed: ClaimedAccountMail,
    tokenHash: string,
    decide: (state: SignUpMailState) => SignUpMailDecision,
  ): Promise<SignUpMailDecision>;
  /** Drops the mail. Does nothing if a later claim exists. */
  markDropped(claim: Claim<AccountMailId>): Promise<void>;
  /** Deletes the mails that aren't queued and expired at or before that instant. Returns their number. */
  purge(expiredUntil: Instant): Promise<number>;
}
