import { onDatabase, isOverdue } from './on-database.js';
import { DomainError } from '@adoption-store/domain';
import { othersToArrive } from '../kernel/arrivals.js';
import { callersTrace, queries } from './query-tracing.js';

/** Default for the most items of one batch. */
const MOST = 256;
/** Fewer items aren't divided: a statement of their own would cost more than it saves. */
const LEAST = 8;

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly since: number;
  readonly trace: ReturnType<typeof callersTrace> | undefined;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Combines concurrent calls into one piece of database work. A call that arrives while a batch runs joins the next one,
 * which starts later than all of its calls. So no caller gets a result that is older than its call. A single call runs
 * immediately.
 */
export class Batch<Item, Result> {
  private waiting: Waiting<Item, Result>[] = [];
  /** The batches that run or gather their items, and the items that run. */
  private batches = 0;
  private running = 0;
  /** Whether the last run had several items. */
  private isShared = false;

  /**
   * Neither function may run in a transaction of the caller.
   *
   * @param alone returns the result of one item, within the time limit of `onDatabase`.
   * @param together returns for each item, in the same order, its result, or the error with which only this item fails.
   * @param most items in one batch.
   * @param atOnce how many batches run at a time. They share the items under way evenly: with two, this process answers
   *   one while the database works on the other. That pays where an item costs the database about as much as this process.
   */
  constructor(
    private readonly alone: (item: Item) => Promise<Result>,
    private readonly together: (items: readonly Item[]) => Promise<readonly (Result | Error)[]>,
    private readonly most = MOST,
    private readonly atOnce = 1,
  ) {}

  /** Whether no call is waiting for a result. */
  get isIdle(): boolean {
    return this.batches === 0;
  }

  add(item: Item): Promise<Result> {
    if (this.isIdle && !this.isShared) return this.runAlone(item);
    return new Promise((resolve, reject) => {
      this.waiting.push({
        item,
        since: performance.now(),
        trace: queries.start.hasSubscribers ? callersTrace() : undefined,
        resolve,
        reject,
      });
      // If the last batch was shared, its callers are likely to arrive together again. So the first waits for the others.
      if (this.batches < this.atOnce) void this.runWaiting();
    });
  }

  private async runAlone(item: Item): Promise<Result> {
    this.batches += 1;
    this.running += 1;
    try {
      return await this.alone(item);
    } finally {
      this.batches -= 1;
      this.running -= 1;
      void this.runWaiting();
    }
  }

  private async runWaiting(): Promise<void> {
    this.batches += 1;
    while (this.waiting.length > 0) {
      await othersToArrive(() => this.waiting.length, this.most);
      const batch = this.waiting.splice(0, this.share());
      this.running += batch.length;
      await this.runBatch(batch);
      this.running -= batch.length;
    }
    this.batches -= 1;
  }

  /** How many items the next batch takes. */
  private share(): number {
    const even = Math.ceil((this.waiting.length + this.running) / this.atOnce);
    return Math.min(this.most, Math.max(LEAST, even));
  }

  private async runBatch(taken: readonly Waiting<Item, Result>[]): Promise<void> {
    this.isShared = taken.length > 1;
    // Overdue items are refused without running. They come first, because the items are in the order of their arrival.
    const overdue = taken.filter(({ since }) => isOverdue(since)).length;
    const batch = taken.slice(overdue);
    void this.runEach(taken.slice(0, overdue));
    if (batch.length <= 1) return this.runEach(batch);
    try {
      const results = await onDatabaseFor(batch[0], () => this.together(batch.map(({ item }) => item)));
      batch.forEach(({ resolve, reject }, index) => {
        const result = results[index] as Result | Error;
        if (result instanceof Error) reject(result);
        else resolve(result);
      });
    } catch (error) {
      // If the database is available, one item may be the cause. The others must not fail, so each is tried by itself.
      if (!isUnavailable(error)) return this.runEach(batch);
      for (const { reject } of batch) reject(error);
    }
  }

  private async runEach(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    for (const each of batch) await onDatabaseFor(each, () => this.alone(each.item)).then(each.resolve, each.reject);
  }
}

/** Runs the work in the trace of one caller. The time that this caller has waited counts towards the time limit. */
function onDatabaseFor<Result>(
  asked: Pick<Waiting<unknown, unknown>, 'since' | 'trace'> | undefined,
  work: () => Promise<Result>,
): Promise<Result> {
  const { since, trace } = asked ?? {};
  return onDatabase(trace === undefined ? work : () => trace(work), { since });
}

function isUnavailable(error: unknown): boolean {
  return error instanceof DomainError && error.kind === 'unavailable';
}
