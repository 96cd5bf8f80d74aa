import type { AccountId } from '../accounts/account.js';
import type { Backlog, Claim, ClaimRequest } from '../deliveries/delivery-queue.js';
import { type Clock, type Instant, later } from '../kernel/clock.js';

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

/** The jobs of a queue. */
export class InMemoryJobs<Id extends string, Entry extends Job<Id, string>> {
  readonly all = new Map<Id, Entry>();
  private readonly lastTurns = new Map<AccountId | undefined, Turn>();
  private turns = 0;

  constructor(private readonly clock: Clock) {}

  claim({ limit, lease }: ClaimRequest): readonly Entry[] {
    const now = this.clock.now();
    const claimed: Entry[] = [];
    while (claimed.length < limit) {
      const job = this.next(now);
      if (job === undefined) break;
      const entry = { ...job, number: job.number + 1, dueAt: later(now, lease) };
      this.put(entry);
      this.turns += 1;
      this.lastTurns.set(job.accountId, { at: now, number: this.turns });
      claimed.push(entry);
    }
    return claimed;
  }

  /** The longest due job of the account that has waited longest. */
  private next(now: Instant): Entry | undefined {
    const heads = new Map<AccountId | undefined, Entry>();
    for (const job of this.queued().toSorted((one, other) => one.dueAt - other.dueAt))
      if (job.dueAt <= now && !heads.has(job.accountId)) heads.set(job.accountId, job);
    if (heads.size > 1) heads.delete(undefined);
    const waits = [...heads.values()].map((job) => {
      const last = this.lastTurns.get(job.accountId);
      return { job, since: Math.max(job.dueAt, last?.at ?? job.dueAt), number: last?.number ?? 0 };
    });
    return waits.sort((one, other) => one.since - other.since || one.number - other.number)[0]?.job;
  }

  markSent(id: Id): void {
    this.set(this.all.get(id), { status: 'sent' });
  }

  postpone(claim: Claim<Id>, pause: number): void {
    const job = this.claimed(claim);
    this.set(job, { failures: (job?.failures ?? 0) + 1, dueAt: later(this.clock.now(), pause) });
  }

  release(claim: Claim<Id>): void {
    this.set(this.claimed(claim), { dueAt: this.clock.now() });
  }

  end(claim: Claim<Id>, status: Entry['status']): void {
    this.set(this.claimed(claim), { status });
  }

  private set(job: Entry | undefined, changes: Partial<Job<Id, string>>): void {
    if (job !== undefined) this.put({ ...job, ...changes });
  }

  backlog(): Backlog {
    const queued = this.queued();
    const [oldest] = queued.map(({ createdAt }) => createdAt).sort((one, other) => one - other);
    return { queued: queued.length, oldest };
  }

  /** Deletes the jobs that are over. Returns their number. */
  purge(isOver: (job: Entry) => boolean): number {
    const over = [...this.all.values()].filter(isOver);
    for (const { id } of over) this.all.delete(id);
    return over.length;
  }

  put(job: Entry): void {
    this.all.set(job.id, job);
  }

  queued(): readonly Entry[] {
    return [...this.all.values()].filter(({ status }) => status === 'queued');
  }

  /** The claimed job, unless a later claim exists. */
  claimed({ id, number }: Claim<Id>): Entry | undefined {
    const job = this.all.get(id);
    return job?.status === 'queued' && job.number === number ? job : undefined;
  }
}
