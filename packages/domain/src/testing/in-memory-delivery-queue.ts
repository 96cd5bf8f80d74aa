import type { AccountId } from '../accounts/account.js';
import type { Backlog, Claim, Claimed, ClaimRequest, DeliveryQueue } from '../deliveries/delivery-queue.js';
import { type Clock, type Instant, later } from '../kernel/clock.js';
import { remember } from './in-memory-idempotency-records.js';

export interface Job<Id extends string, Status extends string> {
  readonly id: Id;
  /** Undefined: the job waits until no account's is due. */
  readonly accountId: AccountId | undefined;
  readonly status: Status | 'queued' | 'sent' | 'failed';
  readonly createdAt: Instant;
  /** Claims so far. */
  readonly number: number;
  readonly failures: number;
  readonly dueAt: Instant;
}

/** When an account had its last turn. The number tells turns of the same instant apart. */
interface Turn {
  readonly at: Instant;
  readonly number: number;
}

/** A queue whose entries are jobs. What a claimer gets of a job is up to the queue. */
export abstract class InMemoryDeliveryQueue<
  Id extends string,
  Entry extends Job<Id, string>,
  Item extends Claimed<Id>,
> implements DeliveryQueue<Id, Item> {
  protected readonly jobs = new Map<Id, Entry>();
  /** Returns a function that restores the current state. */
  readonly remember = () => remember(this.jobs);
  private readonly lastTurns = new Map<AccountId | undefined, Turn>();
  private turns = 0;

  constructor(protected readonly clock: Clock) {}

  protected abstract itemOf(job: Entry): Item;

  async claim({ limit, lease }: ClaimRequest): Promise<readonly Item[]> {
    const now = this.clock.now();
    const claimed: Entry[] = [];
    while (claimed.length < limit) {
      const job = this.next(now);
      if (job === undefined) break;
      const entry = { ...job, number: job.number + 1, dueAt: later(now, lease) };
      this.jobs.set(job.id, entry);
      this.turns += 1;
      this.lastTurns.set(job.accountId, { at: now, number: this.turns });
      claimed.push(entry);
    }
    return claimed.map((job) => this.itemOf(job));
  }

  /** The longest due job of the account that has waited longest. */
  private next(now: Instant): Entry | undefined {
    const heads = new Map<AccountId | undefined, Entry>();
    for (const job of this.queued().sort((one, other) => one.dueAt - other.dueAt))
      if (job.dueAt <= now && !heads.has(job.accountId)) heads.set(job.accountId, job);
    if (heads.size > 1) heads.delete(undefined);
    const waits = [...heads.values()].map((job) => {
      const last = this.lastTurns.get(job.accountId);
      return { job, since: Math.max(job.dueAt, last?.at ?? job.dueAt), number: last?.number ?? 0 };
    });
    return waits.sort((one, other) => one.since - other.since || one.number - other.number)[0]?.job;
  }

  async markSent(id: Id): Promise<void> {
    this.set(this.jobs.get(id), { status: 'sent' });
  }

  async markFailed(claim: Claim<Id>): Promise<void> {
    this.end(claim, 'failed');
  }

  async postpone(claim: Claim<Id>, pause: number): Promise<void> {
    const job = this.claimed(claim);
    this.set(job, { failures: (job?.failures ?? 0) + 1, dueAt: later(this.clock.now(), pause) });
  }

  async release(claim: Claim<Id>): Promise<void> {
    this.set(this.claimed(claim), { dueAt: this.clock.now() });
  }

  protected end(claim: Claim<Id>, status: Entry['status']): void {
    this.set(this.claimed(claim), { status });
  }

  private set(job: Entry | undefined, changes: Partial<Job<Id, string>>): void {
    if (job !== undefined) this.jobs.set(job.id, { ...job, ...changes });
  }

  async backlog(): Promise<Backlog> {
    const queued = this.queued();
    const [oldest] = queued.map(({ createdAt }) => createdAt).sort((one, other) => one - other);
    return { queued: queued.length, oldest };
  }

  /** Deletes the jobs that are over. Returns their number. */
  protected delete(isOver: (job: Entry) => boolean): number {
    const over = [...this.jobs.values()].filter(isOver);
    for (const { id } of over) this.jobs.delete(id);
    return over.length;
  }

  protected queued(): Entry[] {
    return [...this.jobs.values()].filter(({ status }) => status === 'queued');
  }

  /** The claimed job, unless a later claim exists. */
  protected claimed({ id, number }: Claim<Id>): Entry | undefined {
    const job = this.jobs.get(id);
    return job?.status === 'queued' && job.number === number ? job : undefined;
  }
}
