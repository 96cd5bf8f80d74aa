import type { AccountId } from '../../accounts/account.js';
import type { ApiKeyId, KeyRequester } from '../../accounts/keys/api-key.js';
import { type PlanLimits, PLANS } from '../../accounts/plan.js';
import { DAY, HOUR, type Instant, instant, later, MINUTE } from '../../kernel/clock.js';
import { type BanPolicy, DEFAULT_BAN_POLICY, type Verdict } from '../../limits/quota.js';
import type { CountedRequest, RequestCounter } from '../../limits/request-counter.js';
import { atOnce, openBefore } from './fixtures.js';
import type { Opened, TestFramework } from './framework.js';

/** Opens the counter that is tested. */
export type OpenRequestCounter = (policy: BanPolicy) => Promise<Opened<'requests'>>;

const noon = instant(Date.UTC(2026, 0, 1, 12));
const free: PlanLimits = PLANS.free;

/**
 * The guarantees of every `RequestCounter`: that it decides each request once, by the right account, key or address. How
 * is up to `decideAdmission`, by which each adapter decides.
 */
export function requestCounterSuite(framework: TestFramework, name: string, open: OpenRequestCounter): void {
  const { describe, it, beforeEach, expect, random } = framework;
  describe(`a request counter (${name})`, () => {
    // Nobody whom an earlier run has counted.
    const id = () => BigInt(1 + Math.floor(random() * 2 ** 47));
    const keyOf = (accountId = id() as AccountId): KeyRequester => ({ accountId, keyId: id() as ApiKeyId });
    const newAddress = () => ({ address: `address ${id()}` });
    let counter: RequestCounter;
    let requester: KeyRequester;
    openBefore(
      framework,
      () => open(DEFAULT_BAN_POLICY),
      ({ ports }) => {
        counter = ports.requests;
      },
    );
    beforeEach(() => {
      requester = keyOf();
    });

    const count = async (now: Instant, changes: Partial<CountedRequest> = {}): Promise<Verdict> =>
      counter.count({ requester, limits: free, now, ...changes });
    const look = (now: Instant, changes: Partial<CountedRequest> = {}): Promise<Verdict> =>
      counter.peek({ requester, limits: free, now, ...changes });
    const countTimes = (times: number, now: Instant, changes?: Partial<CountedRequest>): Promise<Verdict[]> =>
      atOnce(times, () => count(now, changes));
    const admitted = (verdicts: readonly Verdict[]) => verdicts.filter(({ outcome }) => outcome === 'admitted').length;
    const once: PlanLimits = { perMinute: 1, perDay: 1_000_000 };

    for (const [window, limits, outcome] of [
      ['minute', { perMinute: 60, perDay: 1_000 }, 'rate_limited'],
      ['day', { perMinute: 1_000, perDay: 60 }, 'daily_quota_exceeded'],
    ] as const)
      it(`admits all of the parallel requests that fit into the ${window}, and min(N, L) of N against L left`, async () => {
        for (const [sent, fit] of [
          [40, 40],
          [15, 15],
          [15, 5],
        ] as const)
          expect(admitted(await countTimes(sent, noon, { limits }))).toBe(fit);
        const verdict = await look(noon, { limits });
        expect(verdict).toMatchObject({ outcome, minute: { used: 60 }, day: { used: 60 } });
        expect(await look(noon, { limits })).toEqual(verdict);
      });

    it('reports each of the parallel requests by its own number', async () => {
      const verdicts = await countTimes(60, noon);
      const numbers = verdicts.map(({ minute }) => minute.used).sort((one, other) => one - other);
      expect(numbers).toEqual(Array.from({ length: 60 }, (_, index) => index + 1));
    });

    it('tells the bans of several keys in one look-up, until the instant at which each ends', async () => {
      const [banned, alsoBanned, other] = [requester, keyOf(requester.accountId), keyOf(requester.accountId)];
      const all = [other, banned, alsoBanned];
      expect(await counter.bansOf(all, noon)).toEqual(new Map());
      const atNoon = [...Array<KeyRequester>(51).fill(banned), other];
      await Promise.all(atNoon.map((each) => count(noon, { requester: each, limits: once })));
      await countTimes(51, later(noon, MINUTE), { requester: alsoBanned, limits: once });
      const [end, laterEnd] = [later(noon, 5 * MINUTE), later(noon, 6 * MINUTE)];
      const [one, another] = [[banned.keyId, end] as const, [alsoBanned.keyId, laterEnd] as const];
      for (const [asked, now, found] of [
        [all, later(noon, MINUTE), [one, another]],
        [all, later(end, -1), [one, another]],
        [all, end, [another]],
        [[other], noon, []],
        [[], noon, []],
      ] as const)
        expect({ asked, now, found: await counter.bansOf(asked, now) }).toEqual({ asked, now, found: new Map(found) });
    });

    it('bans by its policy, and no longer for what is sent meanwhile', async () => {
      const policy: BanPolicy = { refusals: 2, firstBan: MINUTE, longestBan: HOUR };
      const opened = await open(policy);
      const ends = [later(noon, MINUTE), later(noon, MINUTE), later(noon, MINUTE)];
      for (const [now, bannedUntil] of [
        ...[undefined, undefined, ...ends].map((end) => [noon, end] as const),
        [later(noon, MINUTE), undefined] as const,
      ])
        expect(await opened.ports.requests.count({ requester, limits: once, now })).toMatchObject({ bannedUntil });
      await opened.close();
    });

    it('decides each of several at once by the limits that it names', async () => {
      const asked = [
        { perMinute: 1, perDay: 100 },
        { perMinute: 100, perDay: 1 },
        { perMinute: 100, perDay: 100 },
      ];
      const verdicts = await Promise.all(asked.map((limits) => count(noon, { limits })));
      const named = verdicts.map(({ minute, day }) => ({ perMinute: minute.limit, perDay: day.limit }));
      expect(named).toEqual(asked);
      const used = admitted(verdicts);
      expect(await look(noon)).toMatchObject({ minute: { used }, day: { used } });
    });

    it('gives the keys of an account one quota, and other accounts their own', async () => {
      const limits = { perMinute: 10, perDay: 1_000 };
      const keys = Array.from({ length: 20 }, () => ({ requester: keyOf(requester.accountId), limits }));
      expect(admitted(await Promise.all(keys.map((key) => count(noon, key))))).toBe(10);
      expect((await count(noon, { requester: keyOf(), limits })).outcome).toBe('admitted');
    });

    it('decides very many concurrent requests as if each had come alone', async () => {
      const accounts = Array.from({ length: 60 }, () => ({ requester: keyOf(), limits: once }));
      const addresses = Array.from({ length: 20 }, () => ({
        requester: newAddress(),
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

    it('admits again once a clock that was ahead is corrected', async () => {
      for (const ahead of [HOUR, 400 * DAY]) {
        requester = keyOf();
        const address = { requester: newAddress(), limits: { perMinute: 1, perDay: Infinity } };
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
  });
}
