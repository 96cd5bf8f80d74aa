import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import {
  type AccountId,
  type ApiKeyId,
  DEFAULT_BAN_POLICY,
  instant,
  type KeyRequester,
  later,
  MINUTE,
  NO_REFUSALS,
  type PlanLimits,
} from '@adoption-store/domain';
import { ReservedRequests } from './reserved-requests.js';

const requesterOf = (keyId: bigint): KeyRequester => ({
  accountId: 1n as AccountId,
  keyId: keyId as ApiKeyId,
});
const requester = requesterOf(2n);
const noon = instant(Date.UTC(2026, 0, 1, 12));
const plenty = { perMinute: 16_384_000, perDay: 163_840_000 };
const PERIOD = 250;

let settled: { back: number; ahead: number; now: number; limits: PlanLimits }[];
let reserved: ReservedRequests;

beforeEach(() => {
  jest.useFakeTimers();
  settled = [];
  reserved = new ReservedRequests(DEFAULT_BAN_POLICY, async ({ limits, now }, back, ahead) => {
    settled.push({ back, ahead, now, limits });
    await Promise.resolve();
  });
});
afterEach(() => {
  jest.useRealTimers();
});

const request = (limits: PlanLimits = plenty, now = noon) => ({ requester, limits, now });
const take = (limits?: PlanLimits, now?: typeof noon) => reserved.take(request(limits, now));
const takeTimes = (count: number) => Array.from({ length: count }, () => take()?.verdict.minute.used);
const used = (count: number) => ({ minuteUsed: count, dayUsed: count, minuteStart: noon, dayStart: noon });
const endAsking = () => {
  reserved.endAsking(requester);
};
const endPeriod = () => {
  jest.advanceTimersByTime(PERIOD);
};
/** Periods in which each call that asks for more is answered. */
const endPeriods = (count: number) => {
  for (let period = 0; period < count; period += 1) {
    endPeriod();
    endAsking();
  }
};

/** So many are reserved behind requests after which `count` are used. */
function reserve(wanted: number, count = 0, limits: PlanLimits = plenty): void {
  reserved.keep(request(limits), used(count), NO_REFUSALS, wanted);
}

describe('requests that are reserved', () => {
  it('are twice as many as came in this period and the one before', () => {
    take();
    expect(reserved.wantedWith(request())).toBe(0);
    take();
    expect(reserved.wantedWith(request())).toBe(4);
    endAsking();
    endPeriod();
    take();
    endAsking();
    endPeriod();
    expect(settled.map(({ ahead }) => ahead)).toEqual([4, 6]);
  });

  it('are asked for once at a time, whoever asks, until there is an answer', () => {
    takeTimes(7);
    expect([reserved.wantedWith(request()), reserved.wantedWith(request())]).toEqual([14, 0]);
    endPeriod();
    expect(settled).toEqual([]);
    endAsking();
    takeTimes(3);
    endPeriod();
    expect(settled).toMatchObject([{ ahead: 20 }]);
    expect(reserved.wantedWith(request())).toBe(0);
    endAsking();
    expect(reserved.wantedWith(request())).toBe(6);
  });

  it('are decided one behind the other, and then no more', () => {
    reserve(3, 40);
    expect(takeTimes(4)).toEqual([41, 42, 43, undefined]);
    expect(settled).toEqual([]);
  });

  it.each([
    ['the minute', { perMinute: 80_000, perDay: 16_384_000 }, 4],
    ['the day', { perMinute: 16_384_000, perDay: 80_000 }, 4],
    ['a plan of fewer', { perMinute: 16_384_000, perDay: 16_383 }, 0],
  ])('are a 16,384th of what is left at the most: of %s', (_what, limits, most) => {
    reserve(100, 0, limits);
    const taken = Array.from({ length: 100 }, () => take(limits)).filter(Boolean);
    expect(taken).toHaveLength(most);
  });

  it.each([
    ['nothing is left', used(plenty.perMinute), NO_REFUSALS],
    ['more is used than a changed plan has', used(2 * plenty.perMinute), NO_REFUSALS],
    ['the key is banned', used(1), { ...NO_REFUSALS, bannedAt: noon, bannedUntil: later(noon, MINUTE) }],
  ])('are none where %s', (_where, usage, refusals) => {
    reserved.keep(request(), usage, refusals, 5);
    expect(take()).toBeUndefined();
  });

  it('cost an account that can have none nothing', () => {
    const few = { perMinute: 1_000, perDay: 100_000 };
    for (let count = 0; count < 50; count += 1) take(few);
    expect([reserved.wantedWith(request(few)), jest.getTimerCount()]).toEqual([0, 0]);
  });

  it('are given back at the end of the period, with others reserved for the next as long as requests come', () => {
    takeTimes(2);
    reserve(3);
    take();
    endPeriods(2);
    expect(settled).toEqual([
      { back: 2, ahead: 6, now: noon, limits: plenty },
      { back: 0, ahead: 6, now: noon, limits: plenty },
    ]);
    reserve(6);
    endPeriod();
    expect(settled.at(-1)).toMatchObject({ back: 6, ahead: 0 });
    expect(take()).toBeUndefined();
  });

  it('are given back where more are reserved before they have come', () => {
    reserve(3);
    reserve(5, 10);
    expect(settled).toMatchObject([{ back: 3, ahead: 0 }]);
    expect(takeTimes(6)).toEqual([11, 12, 13, 14, 15, undefined]);
  });

  it('are given back when the counter is closed, also those that come meanwhile', async () => {
    takeTimes(3);
    reserve(3);
    endPeriod();
    const closed = reserved.close();
    reserve(6);
    await closed;
    expect(settled).toMatchObject([
      { back: 3, ahead: 6 },
      { back: 6, ahead: 0 },
    ]);
    expect([jest.getTimerCount(), take()]).toEqual([0, undefined]);
  });

  it('are nothing to a request of another plan, or of another window', () => {
    reserve(3);
    expect(take({ ...plenty, perMinute: 20_000_000 })).toBeUndefined();
    expect(take(plenty, later(noon, MINUTE))).toBeUndefined();
    expect(take()?.verdict.outcome).toBe('admitted');
  });

  it('are given back to the windows they were counted in', () => {
    reserve(3);
    take(plenty, later(noon, MINUTE));
    endPeriod();
    expect(settled).toEqual([{ back: 3, ahead: 0, now: noon, limits: plenty }]);
  });

  it('are given back where the plan has changed, and reserved for the new one', () => {
    const more = { ...plenty, perMinute: 20_000_000 };
    reserve(3);
    reserve(5, 10, more);
    expect(settled).toMatchObject([{ back: 3, ahead: 0 }]);
    expect([take(), take(more)?.verdict.minute]).toMatchObject([undefined, { used: 11, limit: 20_000_000 }]);
  });

  it('are those of the changed plan alone from then on, while requests go on coming', () => {
    const more = { ...plenty, perMinute: 20_000_000 };
    takeTimes(2);
    reserve(4);
    take(more);
    expect(reserved.wantedWith(request(more))).toBe(6);
    reserve(6, 3, more);
    take(more);
    settled = [];
    endPeriods(2);
    expect(settled).toEqual([
      { back: 5, ahead: 8, now: noon, limits: more },
      { back: 0, ahead: 8, now: noon, limits: more },
    ]);
  });

  it('are those of one API key, and of no address', () => {
    reserve(3);
    expect(reserved.take({ ...request(), requester: requesterOf(3n) })).toBeUndefined();
    const address = { ...request(), requester: { address: '::1' } };
    reserved.keep(address, used(0), NO_REFUSALS, 3);
    expect([reserved.take(address), reserved.wantedWith(address)]).toEqual([undefined, 0]);
  });

  it('are told of as long as they are in the window that is asked about', () => {
    reserve(3);
    take();
    expect(reserved.leftOf(requester, used(4))).toBe(2);
    expect(reserved.leftOf(requester, { ...used(0), minuteStart: later(noon, MINUTE) })).toBe(0);
    expect(reserved.leftOf({ address: '::1' }, used(4))).toBe(0);
  });

  it('of many keys are settled a tenth of the period apart', () => {
    const startedAt = Date.now();
    const at: number[] = [];
    reserved = new ReservedRequests(DEFAULT_BAN_POLICY, async () => {
      at.push(Date.now() - startedAt);
      await Promise.resolve();
    });
    for (let key = 1n; key <= 10n; key += 1n) {
      reserved.take({ ...request(), requester: requesterOf(key) });
      reserved.take({ ...request(), requester: requesterOf(key) });
      jest.advanceTimersByTime(PERIOD / 10);
    }
    jest.advanceTimersByTime(PERIOD);
    expect(at.slice(0, 10)).toEqual([250, 275, 300, 325, 350, 375, 400, 425, 450, 475]);
  });

  it('leave nothing behind of a key that sends no more', () => {
    reserve(3);
    endPeriods(3);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('begin anew for a key that sends again after that', () => {
    takeTimes(3);
    endPeriods(4);
    settled = [];
    takeTimes(2);
    endPeriod();
    expect(settled).toMatchObject([{ back: 0, ahead: 4 }]);
  });
});
