import type { AccountId } from '../accounts/account.js';
import type { Instant } from '../kernel/clock.js';
import type { Message, MessageId, NewMessage } from './message.js';

/** One claim of a message. The next claim of the same message is another one. */
export interface Claim {
  readonly id: MessageId;
  /** 1 for the first claim of the message, then 2 … */
  readonly number: number;
}

export interface ClaimedMessage extends NewMessage, Claim {
  /** Attempts to send it that have failed so far. */
  readonly failures: number;
  /** The account's e-mail address. */
  readonly from: string;
}

export interface Backlog {
  /** Messages that are neither sent nor failed. */
  readonly queued: number;
  /** When the oldest of them was written. */
  readonly oldest: Instant | undefined;
}

/**
 * Port: the messages, each a job until it is sent or has failed. A message is due from its creation on, and not while
 * somebody holds a claim of it; a claim that isn't settled runs out, so that nothing is lost with whoever held it. Each
 * method is atomic; what it has acknowledged is durable.
 */
export interface MessageQueue {
  /** Stores the message and queues it, both or neither; whoever watches is told. */
  add(message: NewMessage): Promise<Message>;
  findById(accountId: AccountId, id: MessageId): Promise<Message | undefined>;
  /**
   * Claims at most `limit` messages that are due at `now`, those due longest first, until `until`: nobody else gets
   * them before. However many claim at once, no message goes to two of them.
   */
  claim(claim: {
    readonly limit: number;
    readonly now: Instant;
    readonly until: Instant;
  }): Promise<readonly ClaimedMessage[]>;
  /** The message is sent, whatever has become of the claim meanwhile. */
  markSent(id: MessageId): Promise<void>;
  /**
   * Ends the claim after a failed attempt; the message is due again at `dueAt`. Nothing happens where the claim has been
   * followed by another.
   */
  postpone(claim: Claim, dueAt: Instant): Promise<void>;
  /** Ends the claim before any attempt; the message is due. Nothing happens where it has been followed by another. */
  release(claim: Claim, now: Instant): Promise<void>;
  /** The message is given up. Nothing happens where the claim has been followed by another. */
  markFailed(claim: Claim): Promise<void>;
  backlog(): Promise<Backlog>;
  /** Deletes the messages that were written until that instant and are sent or have failed; how many. */
  forget(writtenUntil: Instant): Promise<number>;
  /** Calls back soon after a message was queued, by whomever; it may be late or miss some. Gives what ends it. */
  watch(onQueued: () => void): () => Promise<void>;
}
