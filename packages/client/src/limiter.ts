import type { ApiError } from './api-error.js';
import { type Clock, TimedOut, within } from './clock.js';

/** Most extra wait, in milliseconds, so that clients that wait for the same moment don't start together. */
export const JITTER = 1000;

/** The shortest window, in milliseconds. Ends that are nearer to each other than half of it are the same. */
const MINUTE = 60_000;

/** A window of the API's limits, or a refusal. */
interface Window {
  readonly limit: number;
  readonly left: number;
  readonly end: number;
  /** When a response said so. */
  readonly read: number;
}

/**
 * Decides when the next request may be sent. All calls of a client share it: at most `maxInFlight` at a time, no more
 * than the API says are left in a window, and none after a 429 until its end. Calls start in the order of their arrival.
 */
export class Limiter {
  readonly #windows = new Map<string, Window>();
  readonly #jitter = Math.random() * JITTER;
  /** Ends when every call that has arrived has had its turn, or has given up. */
  #line = Promise.resolve();
  /** Lets the first of the line look again whether it may go. */
  #wake: () => void = () => undefined;
  #inFlight = 0;

  constructor(
    private readonly maxInFlight: number,
    private readonly clock: Clock,
  ) {}

  /**
   * Waits for the call's turn, which `leave` ends.
   *
   * @throws TimedOut if the turn doesn't come within `maxWait` milliseconds, or the signal's reason.
   */
  async enter(maxWait: number, signal: AbortSignal): Promise<void> {
    const deadline = this.clock.now() + maxWait;
    // What was known may be forgotten by now.
    this.#wake();
    await within(
      this.clock,
      maxWait,
      signal,
      (ended) =>
        new Promise<void>((go, giveUp) => {
          this.#line = this.#line.then(() => this.#turn(deadline, ended, go)).catch(giveUp);
        }),
    );
  }

  /** Lets the first of the line go as soon as the limits allow it. @throws TimedOut as soon as that is after its deadline. */
  async #turn(deadline: number, ended: AbortSignal, go: () => void): Promise<void> {
    while (!ended.aborted && !this.#mayGo()) {
      const opensAt = this.#opensAt();
      const now = this.clock.now();
      if (opensAt > deadline) throw new TimedOut(deadline - now, (opensAt - now) / 1000);
      await this.#change(opensAt || deadline, ended);
    }
    if (ended.aborted) return;
    this.#inFlight += 1;
    go();
  }

  /** Waits until that time, but not longer than until a response comes or the call is aborted. */
  async #change(until: number, signal: AbortSignal): Promise<void> {
    const response = new Promise<void>((wake) => {
      this.#wake = wake;
    });
    await within(this.clock, Math.ceil(until - this.clock.now()), signal, () => response).catch(() => undefined);
  }

  /** The request has ended, with a response that has these headers, or with this error. */
  leave(headers: Headers | undefined, error: ApiError | undefined): void {
    this.#inFlight -= 1;
    const windows = headers?.get('RateLimit')?.matchAll(/"(minute|day)";r=(\d+);t=(\d+)/g) ?? [];
    const policy = headers?.get('RateLimit-Policy');
    for (const [, name = '', left, seconds] of windows) {
      const [, limit] = new RegExp(`"${name}";q=(\\d+)`).exec(policy ?? '') ?? [];
      this.#read(name, Number(limit ?? 0), Number(left), Number(seconds));
    }
    if (error?.status === 429) this.#read('refusal', 0, 0, error.retryAfter ?? 1);
    this.#wake();
  }

  /**
   * Responses can arrive in another order than they were sent. So the smallest number left in a window counts, and an
   * earlier window is ignored. A slow response makes the end of its window too late, so the earliest end counts.
   */
  #read(name: string, limit: number, left: number, seconds: number): void {
    const read = this.clock.now();
    const end = read + seconds * 1000;
    const known = this.#windows.get(name) ?? { left, end: -Infinity };
    if (end > known.end + MINUTE / 2) this.#windows.set(name, { limit, left, end, read });
    else if (end > known.end - MINUTE / 2)
      this.#windows.set(name, { limit, left: Math.min(left, known.left), end: Math.min(end, known.end), read });
  }

  /** Milliseconds between requests that aren't urgent: with less than half of a window left, it lasts until its end. */
  pace(): number {
    const now = this.clock.now();
    const scarce = [...this.#windows.values()].filter(({ limit, left }) => left <= limit / 2);
    return Math.max(0, ...scarce.map(({ left, end }) => (end - now) / Math.max(1, left)));
  }

  #mayGo(): boolean {
    const now = this.clock.now();
    for (const [name, { end, read }] of this.#windows)
      // What is known is forgotten after a minute at most, because the account may have a larger plan by then.
      if (now >= Math.min(end, read + MINUTE) + this.#jitter) this.#windows.delete(name);
    return [...this.#windows.values()].every(({ left }) => left > this.#inFlight) && this.#inFlight < this.maxInFlight;
  }

  /** The time at which the last of the spent windows ends; 0 if none is spent. */
  #opensAt(): number {
    const spent = [...this.#windows.values()].filter(({ left }) => left <= 0);
    return Math.max(0, ...spent.map(({ end }) => end + this.#jitter));
  }
}
