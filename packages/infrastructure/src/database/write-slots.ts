import { QueryTimeoutError } from './database-errors.js';

/** The connections on which writes may run. They are given in the order of the writes' arrival. */
export class WriteSlots {
  private taken = 0;
  private readonly waiting = new Set<() => void>();

  /**
   * @param longestWait milliseconds after which work is refused without running.
   * @param isHopeless whether no slot is expected to get free. Then work that would have to wait is refused at once.
   */
  constructor(
    private readonly most: number,
    private readonly longestWait: number,
    private readonly isHopeless: () => boolean,
  ) {}

  get waitingCount(): number {
    return this.waiting.size;
  }

  /** @throws QueryTimeoutError if no slot gets free in time. */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.taken < this.most) this.taken += 1;
    else if (this.isHopeless()) throw new QueryTimeoutError();
    else await this.wait();
    try {
      return await work();
    } finally {
      this.passOn();
    }
  }

  private wait(): Promise<void> {
    return new Promise((resolve, reject) => {
      const begin = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        this.waiting.delete(begin);
        reject(new QueryTimeoutError());
      }, this.longestWait);
      this.waiting.add(begin);
    });
  }

  /** Gives the slot to whoever has waited longest. */
  private passOn(): void {
    const [next] = this.waiting;
    if (next === undefined) {
      this.taken -= 1;
      return;
    }
    this.waiting.delete(next);
    next();
  }
}
