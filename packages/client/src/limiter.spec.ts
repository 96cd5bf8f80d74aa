import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { VirtualClock } from '../test/support/virtual-clock.js';
import { ApiError } from './api-error.js';
import { TimedOut } from './clock.js';
import { JITTER, Limiter } from './limiter.js';

const MINUTE = 60_000;
const { signal } = new AbortController();

/** An API that admits so many requests in each minute, and says so as the real one does. */
function minutesOf(limit: number, clock: VirtualClock, start: number) {
  const admitted = new Map<number, number>();
  const seen = { refused: 0, inFlight: 0, mostInFlight: 0 };
  const request = async (there: number, back: number) => {
    seen.inFlight += 1;
    seen.mostInFlight = Math.max(seen.mostInFlight, seen.inFlight);
    await clock.wait(there);
    const now = start + clock.now();
    const minute = Math.floor(now / MINUTE);
    const before = admitted.get(minute) ?? 0;
    const seconds = Math.ceil(((minute + 1) * MINUTE - now) / 1000);
    const isAdmitted = before < limit;
    if (isAdmitted) admitted.set(minute, before + 1);
    else seen.refused += 1;
    const headers = new Headers({ RateLimit: `"minute";r=${Math.max(0, limit - before - 1)};t=${seconds}` });
    await clock.wait(back);
    seen.inFlight -= 1;
    const refusal = { code: 'rate_limited', message: 'too many requests', status: 429, retryAfter: seconds };
    return { headers, error: isAdmitted ? undefined : new ApiError(refusal) };
  };
  return { seen, request };
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
        fc.constantFrom(0, 1_000, 20_000, 65_000, 200_000),
        fc.nat(MINUTE),
        async (journeys, limit, maxInFlight, maxWait, start) => {
          const clock = new VirtualClock();
          const { seen, request } = minutesOf(limit, clock, start);
          const limiter = new Limiter(maxInFlight, clock);
          const began: number[] = [];
          const call = async ([there, back]: [number, number], index: number) => {
            const reason = await limiter.enter(maxWait, signal).catch((error: unknown) => error);
            expect(clock.now()).toBeLessThanOrEqual(maxWait);
            if (reason !== undefined) {
              expect(reason).toBeInstanceOf(TimedOut);
              return;
            }
            began.push(index);
            const { headers, error } = await request(there, back);
            limiter.leave(headers, error);
          };
          await Promise.all(journeys.map(call));
          expect(seen.mostInFlight).toBeLessThanOrEqual(maxInFlight);
          expect(began).toEqual([...began].sort((one, other) => one - other));
          if (limit >= maxInFlight) expect(seen.refused).toBe(0);
        },
      ),
      { numRuns: 100 },
    );
  });

  it('sends nothing from a refusal until its end, whoever was refused', async () => {
    const clock = new VirtualClock();
    const limiter = new Limiter(2, clock);
    await limiter.enter(0, signal);
    await limiter.enter(0, signal);
    const third = limiter.enter(400_000, signal);
    limiter.leave(undefined, new ApiError({ code: 'key_banned', message: 'banned', status: 429, retryAfter: 300 }));
    limiter.leave(undefined, undefined);
    await third;
    expect(clock.now()).toBeGreaterThanOrEqual(300_000);
    expect(clock.now()).toBeLessThanOrEqual(300_000 + JITTER);
  });

  it('says how long a call would have to wait, and asks again after a minute: the plan may have become larger', async () => {
    const clock = new VirtualClock();
    const limiter = new Limiter(2, clock);
    await limiter.enter(0, signal);
    limiter.leave(new Headers({ RateLimit: '"minute";r=299;t=42, "day";r=0;t=43242' }), undefined);
    const reason = await limiter.enter(65_000, signal).catch((error: unknown) => error as TimedOut);
    expect((reason as TimedOut).needed).toBeGreaterThanOrEqual(43_242);
    const patient = limiter.enter(50_000_000, signal);
    await clock.wait(MINUTE - 1);
    await expect(limiter.enter(0, signal)).rejects.toBeInstanceOf(TimedOut);
    await clock.wait(1 + JITTER);
    await expect(limiter.enter(0, signal)).resolves.toBeUndefined();
    await patient;
    expect(clock.now()).toBe(MINUTE + JITTER);
  });

  it.each(['', '"minute";r=few;t=soon', '"year";r=0;t=100'])(
    'goes on if a response names no limits: %j',
    async (RateLimit) => {
      const limiter = new Limiter(1, new VirtualClock());
      await limiter.enter(0, signal);
      limiter.leave(new Headers({ RateLimit }), undefined);
      await expect(limiter.enter(0, signal)).resolves.toBeUndefined();
    },
  );

  it('lets the next call go, and leaves no timer behind, when those that wait are aborted', async () => {
    const clock = new VirtualClock();
    const limiter = new Limiter(1, clock);
    await limiter.enter(0, signal);
    const controller = new AbortController();
    const waiting = [1, 2].map(() => limiter.enter(65_000, controller.signal));
    const next = limiter.enter(65_000, signal);
    controller.abort(new Error('enough'));
    for (const each of waiting) await expect(each).rejects.toThrow('enough');
    limiter.leave(undefined, undefined);
    await next;
    limiter.leave(new Headers({ RateLimit: '"minute";r=0;t=60' }), undefined);
    const late = new AbortController();
    const last = limiter.enter(65_000, late.signal);
    late.abort(new Error('enough'));
    await expect(last).rejects.toThrow('enough');
    // If there were a timer, the clock would leap to it.
    await new Promise(setImmediate);
    expect(clock.now()).toBe(0);
  });
});
