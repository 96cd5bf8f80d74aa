import {
  type Backlog,
  type Claim,
  type Claimed,
  type DeliveryQueue,
  MOST_COUNTED,
} from '../deliveries/delivery-queue.js';
import { type Clock, type Instant, later } from '../kernel/clock.js';

export interface Job<Id extends string, Status extends string> {
  readonly id: Id;
  readonly status: Status | 'queued' | 'sent' | 'failed';
  readonly createdAt: Instant;
  /** Claims so far. */
  readonly number: number;
  readonly failures: number;
  readonly dueAt: Instant;
}

/** The jobs of a queue, as both queues keep them. */
export abstract class InMemoryDeliveryQueue<
  Id extends string,
  Entry extends Job<Id, string>,
  Item extends Claimed<Id>,
> implements DeliveryQueue<Id, Item> {
  protected readonly jobs = new Map<Id, Entry>();

  constructor(protected readonly clock: Clock) {}

  async claim({ limit, lease }: Parameters<DeliveryQueue<Id, Item>['claim']>[0]): Promise<readonly Item[]> {
    const now = this.clock.now();
    return this.longestDue()
      .filter(({ dueAt }) => dueAt <= now)
      .slice(0, limit)
      .map((job) => {
        const claimed = { ...job, number: job.number + 1, dueAt: later(now, lease) };
        this.jobs.set(job.id, claimed);
        return this.itemOf(claimed);
      });
  }

  async markSent(id: Id): Promise<void> {
    const job = this.jobs.get(id);
    if (job !== undefined) this.jobs.set(id, { ...job, status: 'sent' });
  }

  async postpone(claim: Claim<Id>, pause: number): Promise<void> {
    const job = this.claimed(claim);
    const dueAt = later(this.clock.now(), pause);
    if (job !== undefined) this.jobs.set(job.id, { ...job, failures: job.failures + 1, dueAt });
  }

  async release(claim: Claim<Id>): Promise<void> {
    const job = this.claimed(claim);
    if (job !== undefined) this.jobs.set(job.id, { ...job, dueAt: this.clock.now() });
  }

  async markFailed(claim: Claim<Id>): Promise<void> {
    const job = this.claimed(claim);
    if (job !== undefined) this.jobs.set(job.id, { ...job, status: 'failed' });
  }

  async backlog(): Promise<Backlog> {
    const queued = this.longestDue().slice(0, MOST_COUNTED);
    const [oldest] = queued.map(({ createdAt }) => createdAt).sort((one, other) => one - other);
    return { queued: queued.length, oldest };
  }

  protected put(job: Entry): void {
    if (this.jobs.has(job.id)) throw new Error('two jobs have one id');
    this.jobs.set(job.id, job);
  }

  protected abstract itemOf(job: Entry): Item;

  protected queued(): readonly Entry[] {
    return [...this.jobs.values()].filter(({ status }) => status === 'queued');
  }

  protected longestDue(): readonly Entry[] {
    return [...this.queued()].sort((one, other) => one.dueAt - other.dueAt);
  }

  protected claimed({ id, number }: Claim<Id>): Entry | undefined {
    const job = this.jobs.get(id);
    return job?.status === 'queued' && job.number === number ? job : undefined;
  }
}
