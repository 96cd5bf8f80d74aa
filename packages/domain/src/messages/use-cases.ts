import type { AccountId } from '../accounts/account.js';
import { canonicalAddress, typedAddress } from '../accounts/address.js';
import {
  type BatchCalls,
  deliverBatch,
  type DeliveryOptions,
  type DeliveryReport,
} from '../deliveries/deliver-batch.js';
import type { Backlog } from '../deliveries/delivery-queue.js';
import type { Instant } from '../kernel/clock.js';
import { DomainError, kernelErrors, ours } from '../kernel/errors.js';
import { type Page, type PagePosition, readPage } from '../kernel/page.js';
import type { Transaction } from '../kernel/transaction.js';
import type { AccountMessage, ClaimedMessage, MessagePosition } from './message-queue.js';
import {
  decideQueueing,
  decideMessageRetry,
  type Message,
  type MessageId,
  messageText,
  type NewMessage,
  newMessageId,
} from './message.js';
import type { MessageOptions, MessagePorts } from './ports.js';

export type QueueMessageInput = Pick<NewMessage, 'accountId' | 'text' | 'traceparent' | 'requestId'>;

export class QueueMessage {
  constructor(
    private readonly ports: Pick<MessagePorts, 'messages' | 'cryptography' | 'clock'>,
    private readonly options: MessageOptions,
  ) {}

  /** @throws DomainError `invalid_parameter`, or `too_many_messages` if the account is at its limit. */
  async execute({ text, ...input }: QueueMessageInput, transaction?: Transaction): Promise<Message> {
    const id = newMessageId(this.ports.cryptography);
    const message = { ...input, id, text: messageText(text), createdAt: this.ports.clock.now() };
    const queueing = { message, limit: this.options.messageLimit };
    return this.ports.messages.add(queueing, (state) => decideQueueing(state, queueing), transaction);
  }
}

export class GetMessage {
  constructor(private readonly ports: Pick<MessagePorts, 'messages'>) {}

  /** @throws DomainError `not_found`, also for another account's message. */
  async execute({ accountId, id }: { readonly accountId: AccountId; readonly id: string }): Promise<Message> {
    const message = await this.ports.messages.findById(accountId, id as MessageId);
    if (message === undefined)
      throw new DomainError(kernelErrors.not_found, ours`no message of this account has that id`);
    return message;
  }
}

export interface ListMessagesInput extends PagePosition<MessagePosition> {
  readonly accountId: AccountId;
}

/** A page of an account's own messages, newest first. */
export class ListMessages {
  constructor(private readonly ports: Pick<MessagePorts, 'messages'>) {}

  async execute({ accountId, ...position }: ListMessagesInput): Promise<Page<Message, MessagePosition>> {
    return readPage<Message, MessagePosition>(
      position,
      ({ createdAt, id }) => ({ createdAt, id }),
      (part) => this.ports.messages.listOwn({ accountId, ...part }),
    );
  }
}

export type ListAllMessagesInput = {
  readonly after?: MessagePosition | undefined;
  readonly limit?: number | undefined;
} & (
  | { readonly email: string; readonly status?: 'failed' | undefined }
  | { readonly email?: string | undefined; readonly status: 'failed' }
);

export class ListAllMessages {
  constructor(private readonly ports: Pick<MessagePorts, 'accounts' | 'messages'>) {}

  /**
   * The messages of an account, all failed ones, or those of an account, the oldest first. Empty without such an
   * account.
   *
   * @throws DomainError `invalid_parameter`
   */
  async execute({ email, ...query }: ListAllMessagesInput): Promise<readonly AccountMessage[]> {
    if (email === undefined) return this.ports.messages.list({ ...query, status: 'failed' });
    const account = await this.ports.accounts.findByEmail(typedAddress(email));
    return account === undefined ? [] : this.ports.messages.list({ ...query, accountId: account.id });
  }
}

export class RetryMessage {
  constructor(private readonly ports: Pick<MessagePorts, 'messages'>) {}

  /** @throws DomainError `not_found` or `message_not_failed` */
  async execute(input: { readonly id: string }): Promise<void> {
    const id = input.id as MessageId;
    await this.ports.messages.retry(id, (state) => decideMessageRetry(state, { id }));
  }
}

/** Messages read at a time. */
const PORTION = 100;

export class RetryFailedMessages {
  constructor(private readonly ports: Pick<MessagePorts, 'messages'>) {}

  /** Queues every failed message again that was written at that instant or later. Returns the number that it queued. */
  async execute({ since }: { readonly since: Instant }): Promise<number> {
    let retried = 0;
    // The list goes on after each message, so that one that fails again at once isn't retried for ever.
    let after: MessagePosition | undefined = { createdAt: since, id: '' as MessageId };
    while (after !== undefined) {
      const failed = await this.ports.messages.list({ status: 'failed', after, limit: PORTION });
      for (const { message } of failed) {
        if (await this.retry(message.id)) retried += 1;
      }
      after = failed.at(-1)?.message;
    }
    return retried;
  }

  /** False if another operator was faster, or the message has been purged. */
  private async retry(id: MessageId): Promise<boolean> {
    try {
      await new RetryMessage(this.ports).execute({ id });
      return true;
    } catch (error) {
      if (error instanceof DomainError && ['message_not_failed', 'not_found'].includes(error.code)) return false;
      throw error;
    }
  }
}

type ReportedMessage = Pick<ClaimedMessage, 'id' | 'traceparent' | 'requestId'>;

/** What is reported of an attempt to deliver a message. */
export type MessageReport = DeliveryReport<ReportedMessage>;

export class DeliverMessages {
  constructor(
    private readonly ports: Omit<MessagePorts, 'accounts'>,
    private readonly options: DeliveryOptions,
  ) {}

  /** As `deliverBatch`. */
  async execute(calls: BatchCalls<ReportedMessage> = {}): Promise<{ readonly mayHaveMore: boolean }> {
    const { messages, messageSender, domainToAscii } = this.ports;
    return deliverBatch(
      {
        queue: messages,
        send: async (message: ClaimedMessage, timeout) => {
          await messageSender.send({ ...message, from: canonicalAddress(message.from, domainToAscii) }, timeout);
          return true;
        },
        reportedOf: ({ id, traceparent, requestId }) => ({ id, traceparent, requestId }),
        policy: this.options.delivery,
        ports: this.ports,
      },
      calls,
    );
  }

  /** The number of queued messages, and when the oldest was created. */
  async backlog(): Promise<Backlog> {
    return this.ports.messages.backlog();
  }
}
