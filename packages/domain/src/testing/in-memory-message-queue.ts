import { type AccountId, isProven } from '../accounts/account.js';
import type { Claim } from '../deliveries/delivery-queue.js';
import type { Clock, Instant } from '../kernel/clock.js';
import {
  deliveryEnded,
  type Message,
  type MessageId,
  type MessageState,
  type MessageStatus,
  type Queueing,
  type QueueingState,
} from '../messages/message.js';
import type {
  AccountMessage,
  ClaimedMessage,
  MessagePosition,
  MessageQuery,
  MessageQueue,
  OwnMessageQuery,
} from '../messages/message-queue.js';
import type { InMemoryAccountRepository } from './in-memory-account-repository.js';
import { InMemoryDeliveryQueue, type Job } from './in-memory-delivery-queue.js';
import type { InMemoryEventFeed } from './in-memory-event-feed.js';

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

  async add({ message, limit }: Queueing, decide: (state: QueueingState) => Message): Promise<Message> {
    const queued = this.queued().filter(({ accountId }) => accountId === message.accountId);
    const decided = decide({ queued: Math.min(queued.length, limit) });
    this.jobs.set(decided.id, { ...decided, number: 0, failures: 0, dueAt: this.clock.now() });
    return shown(decided);
  }

  async findById(accountId: AccountId, id: MessageId): Promise<Message | undefined> {
    const job = this.jobs.get(id);
    return job?.accountId === accountId ? shown(job) : undefined;
  }

  async list({ accountId, status, after, limit }: MessageQuery): Promise<readonly AccountMessage[]> {
    return [...this.jobs.values()]
      .filter((job) => accountId === undefined || job.accountId === accountId)
      .filter((job) => status === undefined || job.status === status)
      .filter((job) => after === undefined || inOrder(after, job) < 0)
      .sort(inOrder)
      .slice(0, limit)
      .map(({ id, accountId: writer, status: current, createdAt }) => ({
        account: this.accounts.accountOf(writer),
        message: { id, accountId: writer, status: current, createdAt },
      }));
  }

  async listOwn({ accountId, after, before, limit }: OwnMessageQuery): Promise<readonly Message[]> {
    const own = [...this.jobs.values()]
      .filter((job) => job.accountId === accountId)
      .sort((one, other) => inOrder(other, one))
      .map(shown);
    if (before !== undefined) return own.filter((message) => inOrder(message, before) > 0).slice(-limit);
    return own.filter((message) => after === undefined || inOrder(message, after) < 0).slice(0, limit);
  }

  async retry(id: MessageId, decide: (state: MessageState | undefined) => MessageState): Promise<void> {
    const job = this.jobs.get(id);
    const decided = decide(job);
    const dueAt = this.clock.now();
    if (job !== undefined) this.jobs.set(id, { ...job, ...decided, number: job.number + 1, dueAt });
  }

  override async markSent(id: MessageId): Promise<void> {
    const job = this.jobs.get(id);
    if (job !== undefined && job.status !== 'sent') this.events.add([deliveryEnded(job, 'sent')]);
    await super.markSent(id);
  }

  override async markFailed(claim: Claim<MessageId>): Promise<void> {
    const job = this.claimed(claim);
    if (job !== undefined) this.events.add([deliveryEnded(job, 'failed')]);
    await super.markFailed(claim);
  }

  async purge(writtenUntil: Instant): Promise<number> {
    return this.delete(({ status, createdAt }) => status !== 'queued' && createdAt <= writtenUntil);
  }

  protected itemOf(job: MessageJob): ClaimedMessage {
    const { id, accountId, text, createdAt, traceparent, requestId, number, failures } = job;
    const account = this.accounts.accountOf(accountId);
    const sender = { from: account.email, isProven: isProven(account) };
    return { id, accountId, text, createdAt, traceparent, requestId, number, failures, ...sender };
  }
}

/** The message without what only its deliverer needs. */
function shown({ id, accountId, text, createdAt, status }: Message): Message {
  return { id, accountId, text, createdAt, status };
}

function inOrder(one: MessagePosition, other: MessagePosition): number {
  return one.createdAt - other.createdAt || (one.id < other.id ? -1 : Number(one.id > other.id));
}
