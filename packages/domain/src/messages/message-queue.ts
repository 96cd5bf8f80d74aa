import type { Account, AccountId } from '../accounts/account.js';
import type { Claimed, DeliveryQueue } from '../deliveries/delivery-queue.js';
import type { Instant } from '../kernel/clock.js';
import type { Transaction } from '../kernel/transaction.js';
import type { PagePart } from '../kernel/page.js';
import type { Message, MessageId, MessageState, NewMessage, Queueing, QueueingState } from './message.js';

export interface ClaimedMessage extends NewMessage, Claimed<MessageId> {
  /** The account's e-mail address. */
  readonly from: string;
  /** Whether that address is known to belong to the account's holder. */
  readonly isProven: boolean;
}

/** The position of a message in a list, which is sorted by creation, then by id. */
export type MessagePosition = Pick<Message, 'createdAt' | 'id'>;

/** By account, by status, or by both. One is required, because without a filter every message would be read. */
type MessageFilter =
  | { readonly accountId: AccountId; readonly status?: 'failed' | undefined }
  | { readonly accountId?: AccountId | undefined; readonly status: 'failed' };

export type MessageQuery = MessageFilter & {
  /** The list begins after that position. */
  readonly after?: MessagePosition | undefined;
  readonly limit?: number | undefined;
};

export interface OwnMessageQuery extends PagePart<MessagePosition> {
  readonly accountId: AccountId;
}

/** A message and the account that wrote it. Without the text, which only its recipient may read. */
export interface AccountMessage {
  readonly account: Account;
  readonly message: Omit<Message, 'text'>;
}

/**
 * Port: the messages of accounts to the store, also of closed ones. `markSent` also stores the event `message.sent`, and
 * `markFailed` `message.failed`. A message that is already sent gets no further event. `decide` is called once.
 */
export interface MessageQueue extends DeliveryQueue<MessageId, ClaimedMessage> {
  /**
   * Stores the message that `decide` returns, and queues it, both undone with the `transaction`. The account is locked, so
   * its messages are decided on one after the other.
   */
  add(queueing: Queueing, decide: (state: QueueingState) => Message, transaction?: Transaction): Promise<Message>;
  findById(accountId: AccountId, id: MessageId): Promise<Message | undefined>;
  /** The messages, or at most `limit` of them, the oldest first. */
  list(query: MessageQuery): Promise<readonly AccountMessage[]>;
  /** At most `limit` of the account's messages with their texts, newest first: those next to the given position. */
  listOwn(query: OwnMessageQuery): Promise<readonly Message[]>;
  /**
   * Queues a message again: `decide` gets its state, undefined if there is no such message, and what it returns is
   * stored. The message is locked meanwhile. It is due at once, and every earlier claim is void. If `decide` throws,
   * nothing has changed.
   */
  retry(id: MessageId, decide: (state: MessageState | undefined) => MessageState): Promise<void>;
  /** Deletes the sent and failed messages created at or before that instant. Returns their number. */
  purge(writtenUntil: Instant): Promise<number>;
}
