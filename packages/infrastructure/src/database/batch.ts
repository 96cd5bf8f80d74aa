import { DomainError } from '@adoption-store/domain';
import { onDatabase } from './database-errors.js';
import { callersTrace } from './query-tracing.js';

/** Items of one batch. */
const MOST = 256;

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly since: number;
  /** Whose work it is, where that is traced. */
  readonly trace: ReturnType<typeof callersTrace>;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Lets those who come at the same time share one piece of work on the database. One batch runs at a time; who comes
 * meanwhile is in the next one, which begins after all of its items came: nobody who reads is told anything older than
 * the question. Alone, an item runs at once.
 */
export class Batch<Item, Result> {
  private waiting: Waiting<Item, Result>[] = [];
  private isRunning = false;

  /**
   * @param run gives one result for each item, in their order. Must not be part of a transaction.
   * @param onIdle called whenever nobody is left.
   */
  constructor(
    private readonly run: (items: readonly Item[]) => Promise<readonly Result[]>,
    private readonly onIdle: () => void = () => undefined,
  ) {}

  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ item, since: performance.now(), trace: callersTrace(), resolve, reject });
      if (!this.isRunning) void this.runAll();
    });
  }

  private async runAll(): Promise<void> {
    this.isRunning = true;
    while (this.waiting.length > 0) await this.runBatch(this.waiting.splice(0, MOST));
    this.isRunning = false;
    this.onIdle();
  }

  private async runBatch(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      // The time that the first one has waited is part of its patience.
      const { since, trace } = batch[0] ?? {};
      const work = () => this.run(batch.map(({ item }) => item));
      const results = await onDatabase(trace === undefined ? work : () => trace(work), since);
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result);
    } catch (error) {
      // Where it isn't the database's fault it may be that of one of them, who is to fail alone.
      if (batch.length > 1 && !isUnavailable(error)) for (const each of batch) await this.runBatch([each]);
      else for (const { reject } of batch) reject(error);
    }
  }
}

function isUnavailable(error: unknown): boolean {
  return error instanceof DomainError && error.kind === 'unavailable';
}
