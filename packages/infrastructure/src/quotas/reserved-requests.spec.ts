import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import {
  type AccountId,
  type ApiKeyId,
  decide,
  DEFAULT_BAN_POLICY,
  instant,
  later,
  MINUTE,
  NO_REFUSALS,
  NO_USAGE,
  type PlanLimits,
  type Requester,
} from '@adoption-store/domain';
import { ReservedRequests } from './reserved-requests.js';

const requester = { accountId: 1n as AccountId, keyId: 2n as ApiKeyId };
const noon = instant(Date.UTC(2026, 0, 1, 12));
const plenty = { perMinute: 1_000_000, perDay: 10_000_000 };

let given: { requester: Requester; count: number; now: number }[];
let reserved: ReservedRequests;

beforeEach(() => {
  jest.useFakeTimers();
  given = [];
  reserved = new ReservedRequests(DEFAULT_BAN_POLICY, async (from, count, now) => {
    given.push({ requester: from, count, now });
    await Promise.resolve();
  });
});
afterEach(() => {
  jest.useRealTimers();
});

const request = (limits: PlanLimits = plenty, now = noon) => ({ requester, limits, now });
const take = (limits?: PlanLimits, now?: typeof noon) => reserved.take(request(limits, now));
const takeTimes = (count: number) => Array.from({ length: count }, () => take()?.verdict.minute.used);

/** As a counter has decided of a request that it asked for, when `used` had been before. */
function admit(used = 0, limits: PlanLimits = plenty) {
  const usage = { ...NO_USAGE, minuteUsed: used, dayUsed: used, minuteStart: noon, dayStart: noon };
  return decide(usage, NO_REFUSALS, limits, noon, DEFAULT_BAN_POLICY);
}

/** So many have come in the period before, and as many are reserved behind one that was admitted. */
function reserve(count: number, used = 0): void {
  takeTimes(count);
  jest.advanceTimersByTime(10);
  reserved.keep(request(), admit(used), reserved.wantedWith(request()));
}

describe('requests that are reserved', () => {
  it('are as many as came in the 10 ms before, and none where none came', () => {
    expect(reserved.wantedWith(request())).toBe(0);
    takeTimes(7);
    expect(reserved.wantedWith(request())).toBe(0);
    jest.advanceTimersByTime(10);
    expect(reserved.wantedWith(request())).toBe(7);
    jest.advanceTimersByTime(10);
    expect(reserved.wantedWith(request())).toBe(0);
  });

  it('are wanted by one call at a time', () => {
    takeTimes(7);
    jest.advanceTimersByTime(10);
    expect([reserved.wantedWith(request()), reserved.wantedWith(request())]).toEqual([7, 0]);
    reserved.keep(request(), admit(), 7);
    expect(reserved.wantedWith(request())).toBe(7);
  });

  it('are decided one behind the other, and then no more', () => {
    reserve(3, 40);
    expect(takeTimes(4)).toEqual([42, 43, 44, undefined]);
    expect(given).toEqual([]);
  });

  it.each([
    ['the minute', { perMinute: 5_000, perDay: 10_000_000 }, 4],
    ['the day', { perMinute: 1_000_000, perDay: 5_000 }, 4],
    ['a plan with less than 1,024', { perMinute: 1_000_000, perDay: 1_000 }, 0],
    ['a plan that has become smaller than what is used', { perMinute: 1, perDay: 1 }, 0],
  ])('are a 1,024th of what is left at the most: of %s', (_what, limits, most) => {
    reserved.take(request(limits));
    reserved.keep(request(limits), admit(0, limits), 100);
    const taken = Array.from({ length: 100 }, () => reserved.take(request(limits))).filter(Boolean);
    expect(taken).toHaveLength(most);
  });

  it('are given back to the windows they were counted in, where they have not come for 20 ms', () => {
    reserve(3);
    take();
    jest.advanceTimersByTime(19);
    expect(given).toEqual([]);
    jest.advanceTimersByTime(1);
    expect(given).toEqual([{ requester, count: 2, now: noon }]);
    expect(take()).toBeUndefined();
  });

  it('are given back where more are reserved before they have come', () => {
    reserve(3);
    reserved.keep(request(), admit(10), 5);
    expect(given).toEqual([{ requester, count: 3, now: noon }]);
    expect(takeTimes(6)).toEqual([12, 13, 14, 15, 16, undefined]);
  });

  it('are given back when the counter is closed', async () => {
    reserve(3);
    await reserved.close();
    expect(given).toEqual([{ requester, count: 3, now: noon }]);
    expect([jest.getTimerCount(), take()]).toEqual([0, undefined]);
  });

  it('are nothing to a request of another plan, or of another window', () => {
    reserve(3);
    expect(take({ ...plenty, perMinute: 2_000_000 })).toBeUndefined();
    expect(take(plenty, later(noon, MINUTE))).toBeUndefined();
    expect(take()?.verdict.outcome).toBe('admitted');
  });

  it('are given back where the plan has changed, and reserved for the new one', () => {
    const more = { ...plenty, perMinute: 2_000_000 };
    reserve(3);
    reserved.keep(request(more), admit(10, more), 5);
    expect(given).toEqual([{ requester, count: 3, now: noon }]);
    expect([take(), take(more)?.verdict.minute]).toMatchObject([undefined, { used: 12, limit: 2_000_000 }]);
  });

  it('are those of one API key, and of no address', () => {
    reserve(3);
    expect(reserved.take({ ...request(), requester: { ...requester, keyId: 3n as ApiKeyId } })).toBeUndefined();
    const address = { ...request(), requester: { address: '::1' } };
    reserved.keep(address, admit(), 3);
    expect([reserved.take(address), reserved.wantedWith(address)]).toEqual([undefined, 0]);
  });

  it('leave nothing behind of a key that sends no more', () => {
    reserve(3);
    jest.advanceTimersByTime(40);
    expect(jest.getTimerCount()).toBe(0);
  });
});
