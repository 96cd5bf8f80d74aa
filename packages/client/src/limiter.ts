import type { ApiError } from './api-error.js';
import { type Clock, TimedOut, within } from './clock.js';

/** Most extra wait, in milliseconds, so that clients that wait for the same moment don't start together. */
export const JITTER = 1000;

/** The shortest window, in milliseconds. Ends that are nearer to each other than half of it are the same. */
const MINUTE = 60_000;

interface Waiting {
  readonly deadline: number;
  readonly go: () => void;
  readonly giveUp: (reason: TimedOut) => void;
}

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
  readonly #maxInFlight: number;
  readonly #clock: Clock;
  readonly #queue = new Set<Waiting>();
  readonly #windows = new Map<string, Window>();
  readonly #jitter = Math.random() * JITTER;
  #inFlight = 0;
  #alarm: { readonly at: number; readonly off: AbortController } | undefined;

  constructor(maxInFlight: number, clock: Clock) {
    this.#maxInFlight = maxInFlight;
    this.#clock = clock;
  }

  /**
   * Waits for the call's turn, which `leave` ends.
   *
   * @throws TimedOut if the turn doesn't come within `maxWait` milliseconds, or the signal's reason.
   */
  async enter(maxWait: number, signal: AbortSignal): Promise<void> {
    if (this.#queue.size === 0 && this.#mayGo()) {
      this.#inFlight += 1;
      return;
    }
    const deadline = this.#clock.now() + maxWait;
    await within(
      this.#clock,
      maxWait,
      signal,
      (ended) =>
        new Promise<void>((go, giveUp) => {
          const waiting = { deadline, go, giveUp };
          ended.addEventListener('abort', () => {
            this.#remove(waiting);
          });
          this.#queue.add(waiting);
          this.#letGo([waiting]);
        }),
    );
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
    this.#letGo(this.#queue);
  }

  /**
   * Responses can arrive in another order than they were sent. So the smallest number left in a window counts, and an
   * earlier window is ignored. A slow response makes the end of its window too late, so the earliest end counts.
   */
  #read(name: string, limit: number, left: number, seconds: number): void {
    const read = this.#clock.now();
    const end = read + seconds * 1000;
    const known = this.#windows.get(name) ?? { left, end: -Infinity };
    if (end > known.end + MINUTE / 2) this.#windows.set(name, { limit, left, end, read });
    else if (end > known.end - MINUTE / 2)
      this.#windows.set(name, { limit, left: Math.min(left, known.left), end: Math.min(end, known.end), read });
  }

  /** Milliseconds between requests that aren't urgent: with less than half of a window left, it lasts until its end. */
  pace(): number {
    const now = this.#clock.now();
    const scarce = [...this.#windows.values()].filter(({ limit, left }) => left <= limit / 2);
    return Math.max(0, ...scarce.map(({ left, end }) => (end - now) / Math.max(1, left)));
  }

  /** The time from which the limits allow a request. */
  #opensAt(): number {
    let opensAt = 0;
    for (const [name, { left, end, read }] of this.#windows)
      // What is known is forgotten after a minute at most, because the account may have a larger plan by then.
      if (this.#clock.now() >= Math.min(end, read + MINUTE) + this.#jitter) this.#windows.delete(name);
      else if (left <= 0) opensAt = Math.max(opensAt, end + this.#jitter);
    return opensAt;
  }

  #mayGo(): boolean {
    if (this.#inFlight >= this.#maxInFlight || this.#opensAt() > this.#clock.now()) return false;
    return [...this.#windows.values()].every(({ left }) => left > this.#inFlight);
  }

  /** Starts the calls whose turn it is, and ends those whose turn comes after their deadline. */
  #letGo(waiting: Iterable<Waiting>): void {
    const now = this.#clock.now();
    const opensAt = this.#opensAt();
    if (opensAt > now) {
      for (const each of waiting)
        if (each.deadline < opensAt) {
          this.#remove(each);
          each.giveUp(new TimedOut(each.deadline - now, (opensAt - now) / 1000));
        }
      this.#setAlarm(this.#queue.size > 0 ? opensAt : undefined);
      return;
    }
    for (const each of this.#queue) {
      if (!this.#mayGo()) return;
      this.#inFlight += 1;
      this.#remove(each);
      each.go();
    }
  }

  #remove(waiting: Waiting): void {
    this.#queue.delete(waiting);
    // A timer would keep the process running.
    if (this.#queue.size === 0) this.#setAlarm(undefined);
  }

  #setAlarm(at: number | undefined): void {
    if (this.#alarm?.at === at) return;
    this.#alarm?.off.abort(null);
    this.#alarm = undefined;
    if (at === undefined) return;
    const off = new AbortController();
    this.#alarm = { at, off };
    this.#clock.wait(Math.ceil(at - this.#clock.now()), off.signal).then(
      () => {
        this.#alarm = undefined;
        this.#letGo(this.#queue);
      },
      () => undefined,
    );
  }
}
