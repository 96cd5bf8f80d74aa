export interface BatchOptions<Item, Result> {
  /** Gives one result for each item, in their order. */
  readonly run: (items: readonly Item[]) => Promise<readonly Result[]>;
  /** Items of one batch at the most. */
  readonly most: number;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Runs one batch at a time. What comes while it runs waits for the next one, which begins after all of its items came:
 * whoever reads in it never gets anything older than the question. Alone, an item runs at once.
 */
export class Batch<Item, Result> {
  private waiting: Waiting<Item, Result>[] = [];
  private isRunning = false;

  constructor(private readonly options: BatchOptions<Item, Result>) {}

  /** Whether nothing runs or waits. */
  get isIdle(): boolean {
    return !this.isRunning;
  }

  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ item, resolve, reject });
      if (!this.isRunning) void this.runAll();
    });
  }

  private async runAll(): Promise<void> {
    this.isRunning = true;
    while (this.waiting.length > 0) {
      const batch = this.take();
      try {
        const results = await this.options.run(batch.map(({ item }) => item));
        for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.isRunning = false;
  }

  private take(): readonly Waiting<Item, Result>[] {
    const { most } = this.options;
    if (this.waiting.length > most) return this.waiting.splice(0, most);
    const all = this.waiting;
    this.waiting = [];
    return all;
  }
}
