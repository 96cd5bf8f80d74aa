import type { Account, AccountId } from '../accounts/account.js';
import type { Instant } from '../kernel/clock.js';
import type { Message, MessageId, MessageStatus, NewMessage } from './message.js';

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

/** The place of a message among others: they are ascending by their creation, then by their id. */
export type MessagePlace = Pick<Message, 'createdAt' | 'id'>;

/** The messages of an account, the failed ones, or both. One is required: a list without either would read every message. */
export type MessageFilter =
  | { readonly accountId: AccountId; readonly status?: 'failed' | undefined }
  | { readonly accountId?: AccountId | undefined; readonly status: 'failed' };

export type MessageQuery = MessageFilter & {
  /** The list begins behind that place. */
  readonly after?: MessagePlace | undefined;
  readonly limit?: number | undefined;
};

/** A message without its text, which is for its recipient alone, and the account that wrote it. */
export interface AccountMessage {
  readonly account: Account;
  readonly message: Omit<Message, 'text'>;
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
  list(query: MessageQuery): Promise<readonly AccountMessage[]>;
  /**
   * Queues a failed message again: it is due at `now`, as if nobody had tried to send it. Every claim of before is void.
   * The status that the message had; only `failed` has changed anything, so of racing callers one gets that. Undefined
   * where there is no such message.
   */
  retry(id: MessageId, now: Instant): Promise<MessageStatus | undefined>;
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
