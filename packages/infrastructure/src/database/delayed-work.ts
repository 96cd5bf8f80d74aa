/** Many calls of `soon` cause the work once, after a delay. No caller waits for it. */
export class DelayedWork {
  private timer: NodeJS.Timeout | undefined;
  private working: Promise<void> = Promise.resolve();
  isClosed = false;

  /**
   * @param work must not reject.
   * @param delay milliseconds from the first call to the work.
   */
  constructor(
    private readonly work: () => Promise<void>,
    private readonly delay: number,
  ) {}

  /** Schedules the work, unless it is scheduled or this is closed. */
  soon(): void {
    if (this.timer === undefined && !this.isClosed) this.timer = setTimeout(() => void this.now(), this.delay).unref();
  }

  /** Does the work now, after earlier work has ended. */
  async now(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.working = this.working.then(() => this.work());
    return this.working;
  }

  /** Does the work a last time. */
  async close(): Promise<void> {
    this.isClosed = true;
    await this.now();
  }
}
