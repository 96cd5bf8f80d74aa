import { type AccountId, isProven } from '../accounts/account.js';
import type { Claim } from '../deliveries/delivery-queue.js';
import type { Clock, Instant } from '../kernel/clock.js';
import {
  deliveryEnded,
  type Message,
  type MessageId,
  type MessageState,
  type MessageStatus,
  type NewMessage,
} from '../messages/message.js';
import type {
  AccountMessage,
  ClaimedMessage,
  MessagePlace,
  MessageQuery,
  MessageQueue,
  OwnMessageQuery,
} from '../messages/message-queue.js';
import type { InMemoryAccountRepository } from './in-memory-account-repository.js';
import type { InMemoryEventFeed } from './in-memory-event-feed.js';
import { InMemoryDeliveryQueue, type Job } from './in-memory-delivery-queue.js';
import { remember } from './in-memory-idempotency-records.js';

type MessageJob = Message & Job<MessageId, MessageStatus>;

export class InMemoryMessageQueue
  extends InMemoryDeliveryQueue<MessageId, MessageJob, ClaimedMessage>
  implements MessageQueue
{
  constructor(
    private readonly accounts: InMemoryAccountRepository,
    private readonly events: InMemoryEventFeed,
    clock: Clock,
  ) {
    super(clock);
  }

  async add(message: NewMessage): Promise<Message> {
    this.put({ ...message, status: 'queued', number: 0, failures: 0, dueAt: this.clock.now() });
    const { id, accountId, text, createdAt } = message;
    return { id, accountId, text, createdAt, status: 'queued' };
  }

  async findById(accountId: AccountId, id: MessageId): Promise<Message | undefined> {
    const job = this.jobs.get(id);
    if (job?.accountId !== accountId) return undefined;
    const { text, createdAt, status } = job;
    return { id, accountId, text, createdAt, status };
  }

  async list({ accountId, status, after, limit }: MessageQuery): Promise<readonly AccountMessage[]> {
    return [...this.jobs.values()]
      .filter((job) => accountId === undefined || job.accountId === accountId)
      .filter((job) => status === undefined || job.status === status)
      .filter((job) => after === undefined || inOrder(after, job) < 0)
      .sort(inOrder)
      .slice(0, limit)
      .flatMap(({ id, accountId: writer, status: current, createdAt }) => {
        const account = this.accounts.accountOf(writer);
        return account === undefined
          ? []
          : [{ account, message: { id, accountId: writer, status: current, createdAt } }];
      });
  }

  async listOwn({ accountId, after, before, limit }: OwnMessageQuery): Promise<readonly Message[]> {
    const own = [...this.jobs.values()]
      .filter((job) => job.accountId === accountId)
      .sort((one, other) => inOrder(other, one))
      .map(({ id, text, createdAt, status }) => ({ id, accountId, text, createdAt, status }));
    if (before !== undefined) return own.filter((message) => inOrder(message, before) > 0).slice(-limit);
    return own.filter((message) => after === undefined || inOrder(message, after) < 0).slice(0, limit);
  }

  async retry(id: MessageId, decide: (state: MessageState | undefined) => MessageState): Promise<void> {
    const job = this.jobs.get(id);
    const decided = decide(job);
    if (job !== undefined) this.jobs.set(id, { ...job, ...decided, number: job.number + 1, dueAt: this.clock.now() });
  }

  override async markSent(id: MessageId): Promise<void> {
    const job = this.jobs.get(id);
    if (job !== undefined && job.status !== 'sent') this.events.add([deliveryEnded(job, 'sent')]);
    return super.markSent(id);
  }

  override async markFailed(claim: Claim<MessageId>): Promise<void> {
    const job = this.claimed(claim);
    if (job !== undefined) this.events.add([deliveryEnded(job, 'failed')]);
    return super.markFailed(claim);
  }

  async purge(writtenUntil: Instant): Promise<number> {
    const over = [...this.jobs.values()].filter(
      ({ status, createdAt }) => status !== 'queued' && createdAt <= writtenUntil,
    );
    for (const { id } of over) this.jobs.delete(id);
    return over.length;
  }

  /** Returns a function that restores the current state. */
  remember(): () => void {
    return remember(this.jobs);
  }

  protected itemOf(job: MessageJob): ClaimedMessage {
    const { id, accountId, text, createdAt, traceparent, requestId, number, failures } = job;
    const account = this.accounts.accountOf(accountId);
    const sender = { from: account?.email ?? '', isProven: account !== undefined && isProven(account) };
    return { id, accountId, text, createdAt, traceparent, requestId, number, failures, ...sender };
  }
}

function inOrder(one: MessagePlace, other: MessagePlace): number {
  return one.createdAt - other.createdAt || (one.id < other.id ? -1 : Number(one.id > other.id));
}
