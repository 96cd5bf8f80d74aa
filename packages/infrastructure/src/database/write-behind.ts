/** Gathers changes and writes them together, a while after the first of them. No caller waits for the write. */
export class WriteBehind {
  private timer: NodeJS.Timeout | undefined;
  private isClosed = false;
  private flushing: Promise<void> = Promise.resolve();

  /**
   * @param write never rejects: what can't be written now it keeps, and asks for a further write by `soon`.
   * @param every milliseconds from the first of what gathers to the write.
   */
  constructor(
    private readonly write: () => Promise<void>,
    private readonly every: number,
  ) {}

  /** There is something to write. */
  soon(): void {
    if (this.timer === undefined && !this.isClosed)
      this.timer = setTimeout(() => void this.flush(), this.every).unref();
  }

  /** Writes what there is a last time. */
  async close(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.timer);
    await this.flush();
  }

  private async flush(): Promise<void> {
    this.timer = undefined;
    this.flushing = this.flushing.then(() => this.write());
    return this.flushing;
  }
}
