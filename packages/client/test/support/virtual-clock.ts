import type { Clock } from '../../src/index.js';

/** The client's default: a timer of this length is that of a try, which is under way as long as the timer runs. */
const TRY_TIMEOUT = 30_000;

interface Timer {
  readonly at: number;
  readonly isOfTry: boolean;
  readonly ring: () => void;
}

/**
 * A clock for clients that call a real server: it leaps to the next timer as soon as every call waits for one. While a
 * try is under way it stands still, unless the server has said that it won't go on by itself.
 */
export class VirtualClock implements Clock {
  readonly #timers = new Set<Timer>();
  #time = 0;
  #stalled = 0;
  #isTicking = false;

  /** @param onLeap called when the clock has leapt, before any timer rings. */
  constructor(private readonly onLeap: () => void = () => undefined) {}

  now(): number {
    return this.#time;
  }

  /** The try that the server serves now won't end by itself. */
  stall(): void {
    this.#stalled += 1;
  }

  wait(milliseconds: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const timer = { at: this.#time + milliseconds, isOfTry: milliseconds === TRY_TIMEOUT, ring: resolve };
      this.#timers.add(timer);
      signal?.addEventListener('abort', () => {
        this.#end(timer);
        reject(signal.reason as Error);
      });
      this.#tickLater();
    });
  }

  #end(timer: Timer): void {
    if (this.#timers.delete(timer) && timer.isOfTry) this.#stalled = Math.max(0, this.#stalled - 1);
  }

  #tickLater(): void {
    if (this.#isTicking || this.#timers.size === 0) return;
    this.#isTicking = true;
    setImmediate(() => {
      this.#isTicking = false;
      const underWay = [...this.#timers].filter(({ isOfTry }) => isOfTry).length;
      if (this.#timers.size > 0 && underWay <= this.#stalled) this.#leap();
      this.#tickLater();
    });
  }

  #leap(): void {
    const next = Math.min(...[...this.#timers].map(({ at }) => at));
    if (next > this.#time) {
      this.#time = next;
      this.onLeap();
    }
    for (const timer of [...this.#timers].filter(({ at }) => at <= this.#time)) {
      this.#end(timer);
      timer.ring();
    }
  }
}
