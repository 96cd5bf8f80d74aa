import type { Account, AccountId } from '../accounts/account.js';
import type { Instant } from '../kernel/clock.js';
import type { Message, MessageId, MessageStatus, NewMessage } from './message.js';

/** One claim of a message. Each later claim of the same message has a higher number. */
export interface Claim {
  readonly id: MessageId;
  /** 1 for the first claim of the message, then 2 … */
  readonly number: number;
}

export interface ClaimedMessage extends NewMessage, Claim {
  /** Failed attempts so far. */
  readonly failures: number;
  /** The account's e-mail address. */
  readonly from: string;
}

export interface Backlog {
  /** Messages that are neither sent nor failed. */
  readonly queued: number;
  /** When the oldest queued message was created. */
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
 * Port: the messages. Each is a job until it is sent or has failed. A message is due from its creation on, except while
 * it is claimed. A claim expires if it isn't settled, so a crashed worker loses no message. Each method is atomic, and
 * a write is durable once its promise resolves.
 */
export interface MessageQueue {
  /** Stores the message and queues it: both or neither. Watchers are called. */
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
   * Claims at most `limit` messages that are due at `now`, the longest due first, until `until`. No other caller gets
   * them before then, and concurrent callers never get the same message.
   */
  claim(claim: {
    readonly limit: number;
    readonly now: Instant;
    readonly until: Instant;
  }): Promise<readonly ClaimedMessage[]>;
  /** Marks the message sent, even if the claim has expired or was followed by another. */
  markSent(id: MessageId): Promise<void>;
  /**
   * Ends the claim after a failed attempt. The message is due again at `dueAt`. Does nothing if a later claim exists.
   */
  postpone(claim: Claim, dueAt: Instant): Promise<void>;
  /** Ends the claim without an attempt; the message is due again. Does nothing if a later claim exists. */
  release(claim: Claim, now: Instant): Promise<void>;
  /** Gives the message up. Does nothing if a later claim exists. */
  markFailed(claim: Claim): Promise<void>;
  backlog(): Promise<Backlog>;
  /** Deletes the sent and failed messages created at or before that instant. Returns their number. */
  forget(writtenUntil: Instant): Promise<number>;
  /**
   * Calls back soon after any process queues a message. A call may be late or missing. Returns a function that stops
   * watching.
   */
  watch(onQueued: () => void): () => Promise<void>;
}
