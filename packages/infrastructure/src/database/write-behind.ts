/** Collects changes and writes them together after a delay. No caller waits for the write. */
export class WriteBehind {
  private timer: NodeJS.Timeout | undefined;
  private isClosed = false;
  private flushing: Promise<void> = Promise.resolve();

  /**
   * @param write must not reject: it keeps what it can't write, and calls `soon` again.
   * @param every milliseconds from the first collected change to the write.
   */
  constructor(
    private readonly write: () => Promise<void>,
    private readonly every: number,
  ) {}

  /** Schedules a write. */
  soon(): void {
    if (this.timer === undefined && !this.isClosed)
      this.timer = setTimeout(() => void this.flush(), this.every).unref();
  }

  /** Writes the rest. */
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
