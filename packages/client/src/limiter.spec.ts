import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ApiError } from './api-error.js';
import { type Clock, TimedOut } from './clock.js';
import { JITTER, Limiter } from './limiter.js';

const MINUTE = 60_000;

/** A clock that leaps from one wait's end to the next. */
class LeapingClock implements Clock {
  readonly #waits = new Set<{ readonly until: number; readonly end: () => void }>();
  #time = 0;

  now(): number {
    return this.#time;
  }

  wait(milliseconds: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const wait = { until: this.#time + milliseconds, end: resolve };
      this.#waits.add(wait);
      signal?.addEventListener('abort', () => {
        if (this.#waits.delete(wait)) reject(signal.reason as Error);
      });
    });
  }

  /** Leaps until nobody waits. */
  async run(): Promise<void> {
    for (;;) {
      await new Promise(setImmediate);
      const [next] = [...this.#waits].sort((one, other) => one.until - other.until);
      if (next === undefined) return;
      this.#waits.delete(next);
      this.#time = Math.max(this.#time, next.until);
      next.end();
    }
  }
}

/** An API that admits so many requests in each minute, and says so as the real one does. */
class Minutes {
  readonly #admitted = new Map<number, number>();
  refused = 0;
  mostInFlight = 0;
  #inFlight = 0;

  constructor(
    readonly limit: number,
    readonly clock: LeapingClock,
  ) {}

  async request(there: number, back: number): Promise<{ headers: Headers; error: ApiError | undefined }> {
    this.#inFlight += 1;
    this.mostInFlight = Math.max(this.mostInFlight, this.#inFlight);
    await this.clock.wait(there);
    const minute = Math.floor(this.clock.now() / MINUTE);
    const before = this.#admitted.get(minute) ?? 0;
    const seconds = Math.ceil(((minute + 1) * MINUTE - this.clock.now()) / 1000);
    const isAdmitted = before < this.limit;
    if (isAdmitted) this.#admitted.set(minute, before + 1);
    else this.refused += 1;
    const headers = new Headers({ RateLimit: `"minute";r=${Math.max(0, this.limit - before - 1)};t=${seconds}` });
    await this.clock.wait(back);
    this.#inFlight -= 1;
    const refusal = { code: 'rate_limited', message: 'too many requests', status: 429, retryAfter: seconds };
    return { headers, error: isAdmitted ? undefined : new ApiError(refusal) };
  }
}

describe('the limiter', () => {
  it('admits or gives up each call in time, in order, and is never refused unless the first burst is', async () => {
    const latency = fc.oneof({ weight: 4, arbitrary: fc.nat(40) }, fc.nat(12_000));
    const calls = fc.array(fc.tuple(latency, latency), { minLength: 1, maxLength: 100, size: 'max' });
    await fc.assert(
      fc.asyncProperty(
        calls,
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 1, max: 20 }),
        fc.nat(200_000),
        fc.nat(MINUTE),
        async (journeys, limit, maxInFlight, maxWait, start) => {
          const clock = new LeapingClock();
          void clock.wait(start);
          await clock.run();
          const api = new Minutes(limit, clock);
          const limiter = new Limiter(maxInFlight, clock);
          const began: number[] = [];
          const outcomes = journeys.map(async ([there, back], index) => {
            try {
              await limiter.enter(maxWait, new AbortController().signal);
            } catch (reason) {
              expect(reason instanceof TimedOut).toBe(true);
              expect(clock.now()).toBeLessThanOrEqual(start + maxWait);
              return;
            }
            began.push(index);
            expect(clock.now()).toBeLessThanOrEqual(start + maxWait);
            const { headers, error } = await api.request(there, back);
            limiter.leave(headers, error);
          });
          await clock.run();
          await Promise.all(outcomes);
          expect(api.mostInFlight).toBeLessThanOrEqual(maxInFlight);
          expect(began).toEqual([...began].sort((one, other) => one - other));
          if (limit >= maxInFlight) expect(api.refused).toBe(0);
        },
      ),
      { numRuns: 100 },
    );
  });

  it('sends nothing from a refusal until its end, whoever was refused', async () => {
    const clock = new LeapingClock();
    const limiter = new Limiter(2, clock);
    const { signal } = new AbortController();
    await limiter.enter(0, signal);
    await limiter.enter(0, signal);
    const third = limiter.enter(400_000, signal).then(() => clock.now());
    limiter.leave(undefined, new ApiError({ code: 'key_banned', message: 'banned', status: 429, retryAfter: 300 }));
    limiter.leave(undefined, undefined);
    await clock.run();
    const at = await third;
    expect(at).toBeGreaterThanOrEqual(300_000);
    expect(at).toBeLessThanOrEqual(300_000 + JITTER);
  });

  it('says how long a call would have to wait, and asks again after a minute: the plan may have become larger', async () => {
    const clock = new LeapingClock();
    const limiter = new Limiter(1, clock);
    const { signal } = new AbortController();
    await limiter.enter(0, signal);
    limiter.leave(new Headers({ RateLimit: '"minute";r=299;t=42, "day";r=0;t=43242' }), undefined);
    const reason = await limiter.enter(65_000, signal).catch((error: unknown) => error as TimedOut);
    expect((reason as TimedOut).needed).toBeGreaterThanOrEqual(43_242);
    void clock.wait(MINUTE - 1);
    await clock.run();
    await expect(limiter.enter(0, signal)).rejects.toBeInstanceOf(TimedOut);
    void clock.wait(1 + JITTER);
    await clock.run();
    await expect(limiter.enter(0, signal)).resolves.toBeUndefined();
  });

  it.each(['', '"minute";r=few;t=soon', '"year";r=0;t=100'])(
    'goes on if a response names no limits: %j',
    async (RateLimit) => {
      const limiter = new Limiter(1, new LeapingClock());
      const { signal } = new AbortController();
      await limiter.enter(0, signal);
      limiter.leave(new Headers({ RateLimit }), undefined);
      await expect(limiter.enter(0, signal)).resolves.toBeUndefined();
    },
  );

  it('leaves no timer behind when the calls that wait are aborted', async () => {
    const clock = new LeapingClock();
    const limiter = new Limiter(1, clock);
    const controller = new AbortController();
    await limiter.enter(0, controller.signal);
    limiter.leave(new Headers({ RateLimit: '"minute";r=0;t=60' }), undefined);
    const waiting = limiter.enter(65_000, controller.signal);
    controller.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    await clock.run();
    expect(clock.now()).toBe(0);
  });
});
