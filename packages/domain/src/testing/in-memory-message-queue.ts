import { type AccountId, isProven } from '../accounts/account.js';
import type { Backlog, Claim, ClaimRequest } from '../deliveries/delivery-queue.js';
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
import type { InMemoryEventFeed } from './in-memory-event-feed.js';
import { InMemoryJobs, type Job } from './in-memory-jobs.js';
import { remember } from './in-memory-idempotency-records.js';

type MessageJob = Message & Job<MessageId, MessageStatus>;

export class InMemoryMessageQueue implements MessageQueue {
  private readonly jobs: InMemoryJobs<MessageId, MessageJob>;

  constructor(
    private readonly accounts: InMemoryAccountRepository,
    private readonly events: InMemoryEventFeed,
    private readonly clock: Clock,
  ) {
    this.jobs = new InMemoryJobs(clock);
  }

  async add({ message, limit }: Queueing, decide: (state: QueueingState) => Message): Promise<Message> {
    const queued = this.jobs.queued().filter(({ accountId }) => accountId === message.accountId);
    const decided = decide({ queued: Math.min(queued.length, limit) });
    this.jobs.put({ ...decided, number: 0, failures: 0, dueAt: this.clock.now() });
    return shown(decided);
  }

  async findById(accountId: AccountId, id: MessageId): Promise<Message | undefined> {
    const job = this.jobs.all.get(id);
    return job?.accountId === accountId ? shown(job) : undefined;
  }

  async list({ accountId, status, after, limit }: MessageQuery): Promise<readonly AccountMessage[]> {
    return [...this.jobs.all.values()]
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
    const own = [...this.jobs.all.values()]
      .filter((job) => job.accountId === accountId)
      .sort((one, other) => inOrder(other, one))
      .map(shown);
    if (before !== undefined) return own.filter((message) => inOrder(message, before) > 0).slice(-limit);
    return own.filter((message) => after === undefined || inOrder(message, after) < 0).slice(0, limit);
  }

  async retry(id: MessageId, decide: (state: MessageState | undefined) => MessageState): Promise<void> {
    const job = this.jobs.all.get(id);
    const decided = decide(job);
    const dueAt = this.clock.now();
    if (job !== undefined) this.jobs.put({ ...job, ...decided, number: job.number + 1, dueAt });
  }

  async claim(request: ClaimRequest): Promise<readonly ClaimedMessage[]> {
    return this.jobs.claim(request).map((job) => this.itemOf(job));
  }

  async markSent(id: MessageId): Promise<void> {
    const job = this.jobs.all.get(id);
    if (job !== undefined && job.status !== 'sent') this.events.add([deliveryEnded(job, 'sent')]);
    this.jobs.markSent(id);
  }

  async markFailed(claim: Claim<MessageId>): Promise<void> {
    const job = this.jobs.claimed(claim);
    if (job !== undefined) this.events.add([deliveryEnded(job, 'failed')]);
    this.jobs.end(claim, 'failed');
  }

  async postpone(claim: Claim<MessageId>, pause: number): Promise<void> {
    this.jobs.postpone(claim, pause);
  }

  async release(claim: Claim<MessageId>): Promise<void> {
    this.jobs.release(claim);
  }

  async backlog(): Promise<Backlog> {
    return this.jobs.backlog();
  }

  async purge(writtenUntil: Instant): Promise<number> {
    return this.jobs.purge(({ status, createdAt }) => status !== 'queued' && createdAt <= writtenUntil);
  }

  /** Returns a function that restores the current state. */
  remember(): () => void {
    return remember(this.jobs.all);
  }

  private itemOf(job: MessageJob): ClaimedMessage {
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
