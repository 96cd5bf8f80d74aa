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
  readonly #onLeap: () => void;
  #time = 0;
  #stalled = 0;
  #isTicking = false;

  /** @param onLeap called when the clock has leapt, before any timer rings. */
  constructor(onLeap: () => void = () => undefined) {
    this.#onLeap = onLeap;
  }

  now(): number {
    return this.#time;
  }

  /** The tries that are under way. */
  get underWay(): number {
    return [...this.#timers].filter(({ isOfTry }) => isOfTry).length;
  }

  wait(milliseconds: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = () => {
        this.#timers.delete(timer);
        signal?.removeEventListener('abort', abort);
        if (timer.isOfTry) this.#stalled = Math.max(0, this.#stalled - 1);
      };
      const abort = () => {
        end();
        reject(signal?.reason as Error);
      };
      const ring = () => {
        end();
        resolve();
      };
      const timer = { at: this.#time + milliseconds, isOfTry: milliseconds === TRY_TIMEOUT, ring };
      if (signal?.aborted === true) {
        reject(signal.reason as Error);
        return;
      }
      signal?.addEventListener('abort', abort, { once: true });
      this.#timers.add(timer);
      this.#start();
    });
  }

  /** The try that the server serves now won't end by itself. */
  stall(): void {
    this.#stalled += 1;
  }

  #start(): void {
    if (this.#isTicking) return;
    this.#isTicking = true;
    setImmediate(() => {
      this.#tick();
    });
  }

  #tick(): void {
    this.#isTicking = false;
    if (this.#timers.size === 0) return;
    if (this.underWay <= this.#stalled) this.#leap();
    this.#start();
  }

  #leap(): void {
    const next = Math.min(...[...this.#timers].map(({ at }) => at));
    if (next > this.#time) {
      this.#time = next;
      this.#onLeap();
    }
    for (const timer of [...this.#timers]) if (timer.at <= this.#time) timer.ring();
  }
}
