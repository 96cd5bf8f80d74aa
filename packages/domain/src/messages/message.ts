import type { AccountId } from '../accounts/account.js';
import { randomBase62 } from '../kernel/base62.js';
import type { Branded } from '../kernel/branded.js';
import type { Instant } from '../kernel/clock.js';
import type { Cryptography } from '../kernel/cryptography.js';
import { DomainError, errorCodes, invalid, kernelErrors, ours, ourText } from '../kernel/errors.js';
import { hasAtMostCodePoints, isStorable } from '../kernel/text.js';

export const messageManagementErrors = errorCodes({
  message_not_failed: 'conflict',
});

export const messageErrors = errorCodes({
  too_many_messages: 'conflict',
});

/** `msg_` and 24 base62 characters: 142 unpredictable bits. */
export type MessageId = Branded<string, 'MessageId'>;

export const MESSAGE_STATUSES = ['queued', 'sent', 'failed'] as const;
/** `sent` is final; a `failed` one can be queued again (`decideMessageRetry`). */
export type MessageStatus = (typeof MESSAGE_STATUSES)[number];

export interface NewMessage {
  readonly id: MessageId;
  readonly accountId: AccountId;
  /** 1–4096 code points. Stored exactly as given. */
  readonly text: string;
  readonly createdAt: Instant;
  /** The trace context of the request that queued it (W3C Trace Context). The delivery continues that trace. */
  readonly traceparent?: string | undefined;
  /** The id of that request, as the API's response showed it. */
  readonly requestId?: string | undefined;
}

export interface Message extends NewMessage {
  readonly status: MessageStatus;
}

export interface MessageEvent {
  readonly type: 'message.sent' | 'message.failed';
  readonly data: Message;
}

/** The event at the end of a message's delivery. A failed message may be sent later, and then has a second event. */
export function deliveryEnded(message: Message, status: 'sent' | 'failed'): MessageEvent {
  return { type: `message.${status}`, data: { ...message, status } };
}

export interface MessageState {
  readonly status: MessageStatus;
  /** Failed attempts so far. */
  readonly failures: number;
}

export const MAX_MESSAGE_LENGTH = 4_096;

/** Messages of an account that may be queued at the same time, so that no account fills the store's mailbox. */
export const DEFAULT_MESSAGE_LIMIT = 1_000;

/** The stored state that `decideQueueing` needs. */
export interface QueueingState {
  /** The account's queued messages, counted up to the limit. */
  readonly queued: number;
}

export interface Queueing {
  readonly message: NewMessage;
  /** Messages of the account that may be queued at the same time. */
  readonly limit: number;
}

export function newMessageId(cryptography: Cryptography): MessageId {
  return `msg_${randomBase62(24, cryptography)}` as MessageId;
}

/**
 * The message as it is queued.
 *
 * @throws DomainError `too_many_messages`
 */
export function decideQueueing({ queued }: QueueingState, { message, limit }: Queueing): Message {
  if (queued >= limit) throw tooManyMessages(limit);
  return { ...message, status: 'queued' };
}

/**
 * The state of a message that an operator queues again, whatever the account's limit is. It has all its attempts again, as if it had never been tried.
 *
 * @throws DomainError `not_found`, or `message_not_failed` if it is queued or sent.
 */
export function decideMessageRetry(state: MessageState | undefined, { id }: { readonly id: MessageId }): MessageState {
  if (state === undefined) throw new DomainError(kernelErrors.not_found, ours`no message has the id ${id}`);
  if (state.status !== 'failed') {
    throw new DomainError(
      messageManagementErrors.message_not_failed,
      ours`message ${ourText(id)} has not failed: it is ${ourText(state.status)}`,
    );
  }
  return { status: 'queued', failures: 0 };
}

export function tooManyMessages(most: number): DomainError {
  return new DomainError(
    messageErrors.too_many_messages,
    ours`the account has ${most} messages that are queued, which is the most; wait until some are sent`,
  );
}

/** @throws DomainError `invalid_parameter`, naming the field and the rule. */
export function messageText(text: string): string {
  if (text === '') throw invalid('message', ours`must not be empty`);
  if (!hasAtMostCodePoints(text, MAX_MESSAGE_LENGTH))
    throw invalid('message', ours`must be at most ${MAX_MESSAGE_LENGTH} characters`);
  if (!isStorable(text)) throw invalid('message', ours`must not contain U+0000 or a lone surrogate`);
  return text;
}
