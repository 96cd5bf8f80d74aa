import { limitsOf, type PlanLimits } from '../../accounts/plan.js';
import { DAY, HOUR, type Instant, instant, later, MINUTE, SECOND } from '../../kernel/clock.js';
import { DEFAULT_BAN_POLICY, retryAfter, shownWindow, type Verdict } from '../../quotas/quota.js';
import type { CountedRequest, KeyRequester, RequestCounter } from '../../quotas/request-counter.js';
import { atOnce } from './fixtures.js';
import type { Opened, TestFramework } from './framework.js';
import { type OpenRequestCounter, Requesters } from './requesters.js';

const midnight = instant(Date.UTC(2026, 0, 1));
const noon = later(midnight, 12 * HOUR);
const free = limitsOf({ name: 'free' });

/** The guarantees of every `RequestCounter`. */
export function requestCounterSuite(framework: TestFramework, name: string, open: OpenRequestCounter): void {
  const { describe, it, beforeAll, beforeEach, afterAll, expect, random } = framework;
  describe(`a request counter (${name})`, () => {
    const requesters = new Requesters(random);
    let opened: Opened<'requests'>;
    let counter: RequestCounter;
    let requester: KeyRequester;
    beforeAll(async () => {
      opened = await open(DEFAULT_BAN_POLICY);
      counter = opened.ports.requests;
    });
    beforeEach(() => {
      requester = requesters.key();
    });
    afterAll(() => opened.close());

    const count = async (now: Instant, changes: Partial<CountedRequest> = {}): Promise<Verdict> =>
      counter.count({ requester, limits: free, now, ...changes });
    const look = (now: Instant, changes: Partial<CountedRequest> = {}): Promise<Verdict> =>
      counter.look({ requester, limits: free, now, ...changes });
    const countTimes = (times: number, now: Instant, changes?: Partial<CountedRequest>): Promise<Verdict[]> =>
      atOnce(times, () => count(now, changes));
    const admitted = (verdicts: readonly Verdict[]) => verdicts.filter(({ outcome }) => outcome === 'admitted').length;
    const once: PlanLimits = { perMinute: 1, perDay: 1_000_000 };
    /** Uses up the minute, and is refused 50 times in it. */
    const ban = async (now: Instant): Promise<Verdict> => {
      await countTimes(51, now, { limits: once });
      return look(now, { limits: once });
    };
    const minutesBanned = ({ bannedUntil }: Verdict, now: Instant) =>
      bannedUntil === undefined ? 0 : (bannedUntil - now) / MINUTE;

    it('admits exactly the limit of 5,000 parallel requests', async () => {
      const limits = { perMinute: 1_234, perDay: 100_000 };
      expect(admitted(await countTimes(5_000, noon, { limits }))).toBe(1_234);
    });

    it('admits all of the parallel requests that fit, and min(N, L) of N against L left', async () => {
      expect(admitted(await countTimes(40, noon))).toBe(40);
      expect(admitted(await countTimes(15, noon))).toBe(15);
      expect(admitted(await countTimes(15, noon))).toBe(5);
      expect((await look(noon)).minute.used).toBe(60);
    });

    it('counts an admitted request in both windows, and a refused one in neither', async () => {
      const limits = { perMinute: 2, perDay: 3 };
      await countTimes(5, noon, { limits });
      expect(await look(noon, { limits })).toMatchObject({ minute: { used: 2 }, day: { used: 2 } });
      const next = later(noon, MINUTE);
      await countTimes(5, next, { limits });
      expect(await look(next, { limits })).toMatchObject({ minute: { used: 1 }, day: { used: 3 } });
    });

    it('refuses for the rest of the day once the day is used up', async () => {
      const limits = { perMinute: 2, perDay: 3 };
      await countTimes(2, noon, { limits });
      await count(later(noon, MINUTE), { limits });
      for (const now of [later(noon, MINUTE), later(noon, 2 * MINUTE), later(midnight, DAY - 1)]) {
        expect(await count(now, { limits })).toMatchObject({ outcome: 'daily_quota_exceeded', day: { used: 3 } });
      }
    });

    it('starts a new minute with its first millisecond, not before', async () => {
      const last = later(noon, MINUTE - 1);
      expect(admitted(await countTimes(61, noon))).toBe(60);
      expect((await count(last)).outcome).toBe('rate_limited');
      expect(await count(later(last, 1))).toMatchObject({
        outcome: 'admitted',
        minute: { used: 1, resetsAt: later(noon, 2 * MINUTE) },
        day: { used: 61 },
      });
    });

    it('starts a new day with its first millisecond, not before', async () => {
      const limits = { perMinute: 60, perDay: 2 };
      const last = later(midnight, DAY - 1);
      await countTimes(2, noon, { limits });
      expect((await count(last, { limits })).outcome).toBe('daily_quota_exceeded');
      expect(await count(later(last, 1), { limits })).toMatchObject({
        outcome: 'admitted',
        minute: { used: 1 },
        day: { used: 1, resetsAt: later(midnight, 2 * DAY) },
      });
    });

    it('reports limit, used count, reset and retry time with every decision', async () => {
      const now = later(noon, 12_345);
      const first = await count(now);
      expect(first).toEqual({
        outcome: 'admitted',
        minute: { limit: 60, used: 1, resetsAt: later(noon, MINUTE) },
        day: { limit: 1_000, used: 1, resetsAt: later(midnight, DAY) },
        bannedUntil: undefined,
      });
      const verdicts = await countTimes(59, now);
      expect(verdicts.map(({ minute }) => minute.used).sort((a, b) => a - b)).toEqual(
        Array.from({ length: 59 }, (_, index) => index + 2),
      );
      const refused = await count(now);
      expect(refused).toMatchObject({ outcome: 'rate_limited', minute: { used: 60 }, bannedUntil: undefined });
      expect(shownWindow(refused)).toEqual(refused.minute);
      expect(retryAfter(refused, now)).toBe(48);
    });

    it('bans a key for 5 minutes with its 50th refusal in a minute', async () => {
      const verdicts = await countTimes(51, later(noon, SECOND), { limits: once });
      expect(verdicts.filter(({ outcome }) => outcome === 'rate_limited')).toHaveLength(49);
      const [banning] = verdicts.filter(({ outcome }) => outcome === 'key_banned');
      expect(banning?.bannedUntil).toBe(later(noon, SECOND + 5 * MINUTE));
    });

    it('does not ban for 49 refusals and more in the next minute', async () => {
      await countTimes(1 + 49, noon, { limits: once });
      const verdicts = await countTimes(1 + 49, later(noon, MINUTE), { limits: once });
      expect(verdicts.map(({ outcome }) => outcome)).not.toContain('key_banned');
    });

    it('bans for refusals of the day as for those of the minute', async () => {
      const limits = { perMinute: 60, perDay: 1 };
      const verdicts = await countTimes(51, noon, { limits });
      expect(verdicts.at(-1)).toMatchObject({ outcome: 'key_banned', day: { used: 1 } });
    });

    it('admits a key again in the millisecond in which its ban ends', async () => {
      await ban(noon);
      expect((await count(later(noon, 5 * MINUTE - 1), { limits: once })).outcome).toBe('key_banned');
      expect(await count(later(noon, 5 * MINUTE), { limits: once })).toMatchObject({
        outcome: 'admitted',
        bannedUntil: undefined,
      });
    });

    it('doubles each further ban within a day up to an hour, and begins at 5 minutes after a day', async () => {
      const lengths: number[] = [];
      let now = midnight;
      for (let bans = 0; bans < 6; bans++) {
        const banned = await ban(now);
        lengths.push(minutesBanned(banned, now));
        now = banned.bannedUntil ?? now;
      }
      expect(lengths).toEqual([5, 10, 20, 40, 60, 60]);
      const lastBan = later(now, -HOUR);
      const almost = later(lastBan, DAY - MINUTE);
      expect(minutesBanned(await ban(almost), almost)).toBe(60);
      const dayAfter = later(almost, DAY);
      expect(minutesBanned(await ban(dayAfter), dayAfter)).toBe(5);
    });

    it('does not lengthen a ban for requests during it', async () => {
      const { bannedUntil } = await ban(noon);
      const verdicts = await countTimes(200, later(noon, 3 * MINUTE), { limits: once });
      expect(new Set(verdicts.map((verdict) => verdict.bannedUntil))).toEqual(new Set([bannedUntil]));
      expect((await count(later(noon, 5 * MINUTE), { limits: once })).outcome).toBe('admitted');
    });

    it('bans one key of an account, not the others', async () => {
      await ban(noon);
      const other = { requester: requesters.keyOf(requester), limits: once };
      const next = later(noon, MINUTE);
      expect((await count(next, other)).outcome).toBe('admitted');
      expect((await count(next, { limits: once })).outcome).toBe('key_banned');
    });

    it('tells the bans of several keys in one look-up, and those only that have not ended', async () => {
      const [banned, alsoBanned, other] = [requester, requesters.keyOf(requester), requesters.keyOf(requester)];
      const all = [other, banned, alsoBanned];
      expect(await counter.bansOf(all, noon)).toEqual(new Map());
      for (const [each, at] of [
        [banned, noon],
        [alsoBanned, later(noon, MINUTE)],
      ] as const) {
        await countTimes(51, at, { requester: each, limits: once });
      }
      const ends = [later(noon, 5 * MINUTE), later(noon, 6 * MINUTE)] as const;
      expect(await counter.bansOf(all, later(noon, MINUTE))).toEqual(
        new Map([
          [banned.keyId, ends[0]],
          [alsoBanned.keyId, ends[1]],
        ]),
      );
      expect(await counter.bansOf(all, ends[0])).toEqual(new Map([[alsoBanned.keyId, ends[1]]]));
      expect(await counter.bansOf([other], noon)).toEqual(new Map());
      expect(await counter.bansOf([], noon)).toEqual(new Map());
    });

    it('gives the keys of an account one quota, and other accounts their own', async () => {
      const limits = { perMinute: 10, perDay: 1_000 };
      const keys = Array.from({ length: 20 }, () => ({ requester: requesters.keyOf(requester), limits }));
      expect(admitted(await Promise.all(keys.map((key) => count(noon, key))))).toBe(10);
      expect((await count(noon, { requester: requesters.key(), limits })).outcome).toBe('admitted');
    });

    it('decides very many concurrent requests as if each had come alone', async () => {
      const accounts = Array.from({ length: 300 }, () => ({ requester: requesters.key(), limits: once }));
      const addresses = Array.from({ length: 50 }, () => ({
        requester: requesters.address(),
        limits: { perMinute: 2, perDay: Infinity },
      }));
      const everybody = [...accounts, ...addresses];
      const sent = [...everybody, ...everybody, ...everybody].map(async (each) => (await count(noon, each)).outcome);
      const outcomes = await Promise.all(sent);
      const of = (index: number) => [0, 1, 2].map((time) => outcomes[time * everybody.length + index]);
      const accountsWere = new Set(accounts.map((_, index) => of(index).join()));
      const addressesWere = new Set(addresses.map((_, index) => of(accounts.length + index).join()));
      expect(accountsWere).toEqual(new Set(['admitted,rate_limited,rate_limited']));
      expect(addressesWere).toEqual(new Set(['admitted,admitted,rate_limited']));
    });

    it('applies a changed plan at once, and keeps the counts', async () => {
      const pro = limitsOf({ name: 'pro' });
      await countTimes(70, noon, { limits: pro });
      expect(await count(noon)).toMatchObject({ outcome: 'rate_limited', minute: { limit: 60, used: 70 } });
      expect(await count(noon, { limits: pro })).toMatchObject({
        outcome: 'admitted',
        minute: { limit: 300, used: 71 },
      });
    });

    it('counts an address by the minute alone and never bans it', async () => {
      const address = { requester: requesters.address(), limits: { perMinute: 5, perDay: Infinity } };
      const verdicts = await countTimes(300, noon, address);
      expect(admitted(verdicts)).toBe(5);
      expect(verdicts.filter(({ outcome }) => outcome === 'rate_limited')).toHaveLength(295);
      const refused = await count(later(noon, 1), address);
      expect(refused).toMatchObject({ outcome: 'rate_limited', bannedUntil: undefined });
      expect(shownWindow(refused)).toEqual({ limit: 5, used: 5, resetsAt: later(noon, MINUTE) });
      expect(admitted(await countTimes(10, later(noon, MINUTE), address))).toBe(5);
    });

    it('keeps its windows when a clock is behind', async () => {
      const limits = { perMinute: 2, perDay: 5 };
      const nextDay = later(midnight, DAY);
      await countTimes(2, nextDay, { limits });
      expect(await count(later(nextDay, -500), { limits })).toMatchObject({
        outcome: 'rate_limited',
        minute: { used: 2, resetsAt: later(nextDay, MINUTE) },
        day: { used: 2, resetsAt: later(nextDay, DAY) },
      });
    });

    it('admits again once a clock that was ahead is corrected', async () => {
      for (const ahead of [HOUR, DAY, 400 * DAY]) {
        requester = requesters.key();
        const address = { requester: requesters.address(), limits: { perMinute: 1, perDay: Infinity } };
        const limits = { perMinute: 1, perDay: 3 };
        await countTimes(51, later(noon, ahead), { limits });
        await count(later(noon, ahead), address);
        expect(await look(noon, { limits })).toMatchObject({ outcome: 'admitted', minute: { used: 0 } });
        for (const now of [noon, later(noon, MINUTE)]) {
          const minute = { used: 1, resetsAt: later(now, MINUTE) };
          expect(await count(now, { limits })).toMatchObject({ outcome: 'admitted', minute, bannedUntil: undefined });
          expect(await count(now, { limits })).toMatchObject({ minute });
          expect(await count(now, address)).toMatchObject({ outcome: 'admitted', minute });
          expect(await count(now, address)).toMatchObject({ outcome: 'rate_limited', minute });
        }
      }
    });

    it('keeps the windows and the ban of a clock that is two minutes ahead, which the clock of an instance may be', async () => {
      const ahead = later(noon, 2 * MINUTE);
      const { bannedUntil } = await ban(ahead);
      expect(await count(noon, { limits: once })).toMatchObject({
        outcome: 'key_banned',
        minute: { used: 1 },
        bannedUntil,
      });
      const other = { requester: requesters.keyOf(requester), limits: once };
      expect(await count(noon, other)).toMatchObject({ outcome: 'rate_limited', minute: { used: 1 } });
    });

    it('ignores the windows and the ban of a clock that is further ahead', async () => {
      const ahead = later(noon, 3 * MINUTE);
      await ban(ahead);
      expect(await count(later(noon, MINUTE - 1), { limits: once })).toMatchObject({
        outcome: 'admitted',
        minute: { used: 1, resetsAt: later(noon, MINUTE) },
        day: { used: 2 },
      });
      await ban(noon);
      expect(minutesBanned(await look(noon, { limits: once }), noon)).toBe(5);
    });

    it('ignores a day that a clock before midnight takes for tomorrow by more than two minutes', async () => {
      const nextDay = later(midnight, DAY);
      await countTimes(2, nextDay, { limits: { perMinute: 9, perDay: 2 } });
      const limits = { perMinute: 9, perDay: 2 };
      expect((await count(later(nextDay, -2 * MINUTE), { limits })).outcome).toBe('daily_quota_exceeded');
      expect(await count(later(nextDay, -2 * MINUTE - 1), { limits })).toMatchObject({
        outcome: 'admitted',
        day: { used: 1, resetsAt: nextDay },
      });
    });

    it('changes no decision by a purge', async () => {
      await countTimes(30, noon);
      const other = { requester: requesters.key() };
      await countTimes(51, noon, { ...other, limits: once });
      for (const passed of [0, MINUTE, 5 * MINUTE, HOUR, 11 * HOUR, 12 * HOUR, DAY - 1, DAY, 3 * DAY]) {
        const now = later(noon, passed);
        const before = [await look(now), await look(now, { ...other, limits: once })];
        await counter.purge(now);
        expect([await look(now), await look(now, { ...other, limits: once })]).toEqual(before);
      }
      expect(await counter.purge(later(noon, 3 * DAY))).toBe(0);
    });

    it('counts nothing for a look', async () => {
      const looks = await atOnce(200, () => look(noon, { limits: once }));
      expect(new Set(looks.map(({ outcome }) => outcome))).toEqual(new Set(['admitted']));
      expect(await count(noon, { limits: once })).toMatchObject({ outcome: 'admitted', minute: { used: 1 } });
      await atOnce(200, () => look(noon, { limits: once }));
      expect(await look(noon, { limits: once })).toMatchObject({ outcome: 'rate_limited', bannedUntil: undefined });
    });
  });
}
