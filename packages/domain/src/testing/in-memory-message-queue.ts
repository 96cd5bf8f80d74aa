import type { AccountId } from '../accounts/account.js';
import type { Instant } from '../kernel/clock.js';
import type { Message, MessageId, MessageStatus, NewMessage } from '../messages/message.js';
import type {
  AccountMessage,
  Backlog,
  Claim,
  ClaimedMessage,
  MessagePlace,
  MessageQuery,
  MessageQueue,
} from '../messages/message-queue.js';
import type { InMemoryAccountRepository } from './in-memory-account-repository.js';
import { remember } from './in-memory-idempotency-records.js';

interface Job extends Message {
  /** Claims so far. */
  readonly number: number;
  readonly failures: number;
  readonly dueAt: Instant;
}

export class InMemoryMessageQueue implements MessageQueue {
  private readonly jobs = new Map<MessageId, Job>();
  private readonly watchers = new Set<() => void>();

  constructor(private readonly accounts: InMemoryAccountRepository) {}

  async add(message: NewMessage): Promise<Message> {
    if (this.jobs.has(message.id)) throw new Error('two messages have one id');
    this.jobs.set(message.id, { ...message, status: 'queued', number: 0, failures: 0, dueAt: message.createdAt });
    for (const onQueued of this.watchers) onQueued();
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

  async retry(id: MessageId, now: Instant): Promise<MessageStatus | undefined> {
    const job = this.jobs.get(id);
    if (job?.status === 'failed') {
      this.jobs.set(id, { ...job, status: 'queued', number: job.number + 1, failures: 0, dueAt: now });
    }
    return job?.status;
  }

  async claim({ limit, now, until }: Parameters<MessageQueue['claim']>[0]): Promise<readonly ClaimedMessage[]> {
    return this.queued()
      .filter(({ dueAt }) => dueAt <= now)
      .sort((one, other) => one.dueAt - other.dueAt)
      .slice(0, limit)
      .map((job) => {
        const number = job.number + 1;
        this.jobs.set(job.id, { ...job, number, dueAt: until });
        const { id, accountId, text, createdAt, traceparent, failures } = job;
        const from = this.accounts.accountOf(accountId)?.email ?? '';
        return { id, accountId, text, createdAt, traceparent, number, failures, from };
      });
  }

  async markSent(id: MessageId): Promise<void> {
    const job = this.jobs.get(id);
    if (job !== undefined) this.jobs.set(id, { ...job, status: 'sent' });
  }

  async postpone(claim: Claim, dueAt: Instant): Promise<void> {
    const job = this.claimed(claim);
    if (job !== undefined) this.jobs.set(job.id, { ...job, failures: job.failures + 1, dueAt });
  }

  async release(claim: Claim, now: Instant): Promise<void> {
    const job = this.claimed(claim);
    if (job !== undefined) this.jobs.set(job.id, { ...job, dueAt: now });
  }

  async markFailed(claim: Claim): Promise<void> {
    const job = this.claimed(claim);
    if (job !== undefined) this.jobs.set(job.id, { ...job, status: 'failed' });
  }

  async forget(writtenUntil: Instant): Promise<number> {
    const over = [...this.jobs.values()].filter(
      ({ status, createdAt }) => status !== 'queued' && createdAt <= writtenUntil,
    );
    for (const { id } of over) this.jobs.delete(id);
    return over.length;
  }

  async backlog(): Promise<Backlog> {
    const queued = this.queued();
    const [oldest] = queued.map(({ createdAt }) => createdAt).sort((one, other) => one - other);
    return { queued: queued.length, oldest };
  }

  watch(onQueued: () => void): () => Promise<void> {
    // A new function for each watcher, so that one function can watch twice.
    const watcher = () => {
      onQueued();
    };
    this.watchers.add(watcher);
    return async () => {
      this.watchers.delete(watcher);
    };
  }

  /** Returns a function that restores the current state. */
  remember(): () => void {
    return remember(this.jobs);
  }

  private queued(): readonly Job[] {
    return [...this.jobs.values()].filter(({ status }) => status === 'queued');
  }

  private claimed({ id, number }: Claim): Job | undefined {
    const job = this.jobs.get(id);
    return job?.status === 'queued' && job.number === number ? job : undefined;
  }
}

function inOrder(one: MessagePlace, other: MessagePlace): number {
  return one.createdAt - other.createdAt || (one.id < other.id ? -1 : Number(one.id > other.id));
}
