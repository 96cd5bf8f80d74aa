import { testPolicy } from '../testing/in-memory-application.js';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { plan } from '../accounts/plan.js';
import { createApplication } from '../application.js';
import { DAY, HOUR, type Instant, instant, later, MINUTE, MOST_SKEW, SECOND } from '../kernel/clock.js';
import { inMemoryPorts } from '../testing/index.js';
import {
  type BanPolicy,
  decideAdmission,
  DEFAULT_BAN_POLICY,
  mergeRefusals,
  mergeUsage,
  NO_REFUSALS,
  NO_USAGE,
  type Refusals,
  remainingIn,
  retryAfter,
  shownWindow,
  type Usage,
  type Verdict,
  verdictOn,
} from './quota.js';

const NOON = instant(Date.UTC(2026, 0, 1, 12));
const LIMITS = { perMinute: 3, perDay: 5 };

/** One requester's history, stored as an adapter would store it. */
class History {
  usage: Usage = NO_USAGE;
  refusals: Refusals = NO_REFUSALS;

  constructor(
    public limits = LIMITS,
    private readonly policy: BanPolicy = DEFAULT_BAN_POLICY,
  ) {}

  at(now: Instant): Verdict {
    const decision = decideAdmission(this, this.limits, now, this.policy);
    this.usage = decision.usage;
    this.refusals = decision.refusals;
    return decision.verdict;
  }

  times(count: number, now: Instant): Verdict[] {
    return Array.from({ length: count }, () => this.at(now));
  }
}

const outcomes = (verdicts: readonly Verdict[]) => verdicts.map(({ outcome }) => outcome);

describe('the windows', () => {
  it('follow UTC, and report when they reset', () => {
    const { minute, day } = new History().at(instant(NOON + 34 * SECOND + 567));
    expect(minute).toEqual({ limit: 3, used: 1, resetsAt: NOON + MINUTE });
    expect(day).toEqual({ limit: 5, used: 1, resetsAt: Date.UTC(2026, 0, 2) });
  });

  it('do not go back for a clock that is behind', () => {
    const history = new History();
    history.times(3, later(NOON, MINUTE));
    expect(history.at(instant(NOON + MINUTE - 1)).outcome).toBe('rate_limited');
  });

  it('keep their counts when the plan changes', () => {
    const history = new History();
    history.times(3, NOON);
    history.limits = { perMinute: 4, perDay: 100 };
    expect(outcomes(history.times(2, NOON))).toEqual(['admitted', 'rate_limited']);
    history.limits = { perMinute: 2, perDay: 100 };
    const verdict = history.at(NOON);
    expect(remainingIn(verdict.minute)).toBe(0);
    expect(verdict.outcome).toBe('rate_limited');
  });

  it('admit min(N, L) of N requests in any window, whatever came before', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ wait: fc.nat(2 * MINUTE), count: fc.nat(8) }), { maxLength: 30 }),
        fc.record({ perMinute: fc.integer({ min: 1, max: 6 }), perDay: fc.integer({ min: 1, max: 20 }) }),
        (bursts, limits) => {
          const history = new History(limits, { ...DEFAULT_BAN_POLICY, refusals: Infinity });
          const admitted = { minute: new Map<number, number>(), day: new Map<number, number>() };
          let now = NOON;
          for (const { wait, count } of bursts) {
            now = later(now, wait);
            const [minute, day] = [Math.floor(now / MINUTE), Math.floor(now / DAY)];
            for (const { outcome } of history.times(count, now)) {
              const used = [admitted.minute.get(minute) ?? 0, admitted.day.get(day) ?? 0] as const;
              expect(outcome === 'admitted').toBe(used[0] < limits.perMinute && used[1] < limits.perDay);
              if (outcome !== 'admitted') continue;
              admitted.minute.set(minute, used[0] + 1);
              admitted.day.set(day, used[1] + 1);
            }
          }
        },
      ),
    );
  });
});

describe('the reported window', () => {
  const window = (limit: number, used: number, resetsAt = NOON) => ({ limit, used, resetsAt });
  const verdict = (changes: Partial<Verdict>): Verdict => ({
    outcome: 'admitted',
    minute: window(60, 1, later(NOON, MINUTE)),
    day: window(1_000, 1, later(NOON, DAY)),
    bannedUntil: undefined,
    ...changes,
  });

  it.each<[string, Partial<Verdict>, 'minute' | 'day']>([
    ['the window with the fewest left', {}, 'minute'],
    ['the day where it has fewer left', { day: window(1_000, 995) }, 'day'],
    ['the minute in a tie', { minute: window(60, 1), day: window(1_000, 941) }, 'minute'],
    ['the minute in a tie at the very last request', { minute: window(60, 60), day: window(1_000, 1_000) }, 'minute'],
    ['the exhausted minute for a refusal', { outcome: 'rate_limited', minute: window(60, 60) }, 'minute'],
    [
      'for a refusal with both exhausted, the one that resets last',
      { outcome: 'daily_quota_exceeded', minute: window(60, 60), day: window(1_000, 1_000) },
      'day',
    ],
  ])('is %s', (_what, changes, shown) => {
    const decided = verdict(changes);
    expect(shownWindow(decided)).toBe(decided[shown]);
  });

  it.each([
    [NOON, 60],
    [instant(NOON + 1), 60],
    [instant(NOON + 59 * SECOND), 1],
    [instant(NOON + MINUTE - 1), 1],
  ])('of a refusal at %d asks to wait %d s, after which there is room', (now, seconds) => {
    const refused = verdict({ outcome: 'rate_limited', minute: window(1, 1, later(NOON, MINUTE)) });
    expect(retryAfter(refused, now)).toBe(seconds);
    expect(now + seconds * SECOND).toBeGreaterThanOrEqual(NOON + MINUTE);
  });

  it('without a request is the one that a request would get, and nothing is counted', () => {
    const history = new History();
    const look = () => verdictOn(history.usage, LIMITS, history.refusals, NOON);
    history.times(2, NOON);
    expect(look()).toMatchObject({ outcome: 'admitted', minute: { used: 2 } });
    history.at(NOON);
    expect(look().outcome).toBe('rate_limited');
  });
});

describe('a ban', () => {
  const exhausted = (policy?: BanPolicy) => {
    const history = new History({ perMinute: 1, perDay: 1 }, policy);
    history.at(NOON);
    return history;
  };

  it('starts with the 50th refusal within a minute, for 5 minutes', () => {
    const verdicts = exhausted().times(50, NOON);
    expect(new Set(outcomes(verdicts.slice(0, 49)))).toEqual(new Set(['daily_quota_exceeded']));
    const [banning] = verdicts.slice(49) as [Verdict];
    expect(banning).toMatchObject({ outcome: 'key_banned', bannedUntil: later(NOON, 5 * MINUTE) });
    expect(retryAfter(banning, NOON)).toBe(300);
  });

  it('does not start after 49 refusals in each of two minutes', () => {
    const history = exhausted();
    history.times(49, NOON);
    expect(outcomes(history.times(49, later(NOON, MINUTE)))).not.toContain('key_banned');
  });

  it('ends at the reported time, however many requests are sent meanwhile, and the next one counts', () => {
    const history = new History({ perMinute: 1, perDay: 1_000 });
    history.times(51, NOON);
    expect(new Set(outcomes(history.times(500, later(NOON, 4 * MINUTE))))).toEqual(new Set(['key_banned']));
    expect(history.at(instant(NOON + 5 * MINUTE - 1)).outcome).toBe('key_banned');
    expect(history.at(later(NOON, 5 * MINUTE)).outcome).toBe('admitted');
    expect(history.usage).toMatchObject({ minuteUsed: 1, dayUsed: 2 });
  });

  it('doubles each time within a day, up to an hour', () => {
    const history = exhausted();
    const lengths: number[] = [];
    let now = NOON;
    for (let times = 0; times < 6; times += 1) {
      const until = history.times(51, now).at(-1)?.bannedUntil ?? now;
      lengths.push((until - now) / MINUTE);
      now = later(until, MINUTE);
    }
    expect(lengths).toEqual([5, 10, 20, 40, 60, 60]);
  });

  it.each([
    [DAY - 1, 10],
    [DAY, 5],
  ])('that comes %d ms after the one before is %d minutes long', (pause, minutes) => {
    const history = exhausted();
    history.times(50, NOON);
    const now = later(NOON, pause);
    expect(history.times(51, now).at(-1)?.bannedUntil).toBe(later(now, minutes * MINUTE));
  });

  it('hits nobody where there is nothing to ban', () => {
    const policy = { ...DEFAULT_BAN_POLICY, refusals: 1 };
    const nothing = { usage: NO_USAGE, refusals: undefined };
    const { verdict, refusals } = decideAdmission(nothing, { perMinute: 0, perDay: 1 }, NOON, policy);
    expect(verdict).toMatchObject({ outcome: 'rate_limited', bannedUntil: undefined });
    expect(refusals).toEqual(NO_REFUSALS);
  });
});

describe('what two processes know', () => {
  const usage: Usage = { minuteStart: NOON, minuteUsed: 5, dayStart: instant(NOON - DAY / 2), dayUsed: 50 };
  const nextMinute = { ...usage, minuteStart: later(NOON, MINUTE), minuteUsed: 1 };
  const nextDay = { ...usage, dayStart: later(NOON, DAY / 2), dayUsed: 1 };
  const banOf = (bannedAt: Instant, length: number): Refusals => ({
    ...NO_REFUSALS,
    bannedAt,
    bannedUntil: later(bannedAt, length),
  });
  const ban = banOf(NOON, HOUR);
  const now = later(NOON, DAY);

  /** What is merged in either order. */
  const mergedUsage = (one: Usage, other: Usage) => [mergeUsage(one, other, now), mergeUsage(other, one, now)];
  const mergedBans = (one: Refusals, other: Refusals) => [
    mergeRefusals(one, other, now),
    mergeRefusals(other, one, now),
  ];

  it('is the higher of two counts of a window', () => {
    const higher = { ...usage, minuteUsed: 6 };
    expect(mergedUsage(usage, { ...higher, dayUsed: 49 })).toEqual([higher, higher]);
    expect(mergedUsage(usage, usage)).toEqual([usage, usage]);
  });

  it('is the later of two minutes and of two days, however few were counted', () => {
    for (const next of [nextMinute, nextDay]) expect(mergedUsage(usage, next)).toEqual([next, next]);
  });

  it('is the later of two bans, and the longer of two that began together', () => {
    const [laterBan, longer] = [banOf(later(NOON, 1), MINUTE), banOf(NOON, 2 * HOUR)];
    expect(mergedBans(ban, laterBan)).toEqual([laterBan, laterBan]);
    expect(mergedBans(ban, longer)).toEqual([longer, longer]);
  });

  it('leaves out what lies more than two minutes ahead, in either', () => {
    const usageAt = (start: Instant) => ({ minuteStart: start, minuteUsed: 9, dayStart: start, dayUsed: 9 });
    const [ahead, near] = [usageAt(later(now, MOST_SKEW + 1)), usageAt(later(now, MOST_SKEW))];
    const banAhead = banOf(later(now, MOST_SKEW + 1), HOUR);
    expect(mergedUsage(usage, ahead)).toEqual([usage, usage]);
    expect(mergedUsage(usage, near)).toEqual([near, near]);
    expect(mergedUsage(ahead, ahead)).toEqual([NO_USAGE, NO_USAGE]);
    expect(mergedBans(ban, banAhead)).toEqual([ban, ban]);
    expect(mergedBans(banAhead, banAhead)).toEqual([NO_REFUSALS, NO_REFUSALS]);
  });
});

describe('metering', () => {
  async function setUp() {
    const ports = inMemoryPorts();
    const { openAccount, issueKey, authenticate, meterRequest } = createApplication(
      ports,
      testPolicy({ addressLimit: 2 }),
    );
    const account = await openAccount.execute({ email: 'dev@example.com', plan: plan('enterprise', LIMITS) });
    const issue = async () => authenticate.execute((await issueKey.execute({ accountId: account.id })).text);
    return { meterRequest, clock: ports.clock, keys: [await issue(), await issue()] as const };
  }

  it('counts an address by the minute only, and never bans it', async () => {
    const { meterRequest, clock } = await setUp();
    const address = { address: '192.0.2.1' };
    const verdicts = [];
    for (let count = 0; count < 100; count += 1) verdicts.push(await meterRequest.execute(address));
    expect(outcomes(verdicts.slice(0, 3))).toEqual(['admitted', 'admitted', 'rate_limited']);
    expect(verdicts.at(-1)?.outcome).toBe('rate_limited');
    expect((await meterRequest.execute({ address: '192.0.2.2' })).outcome).toBe('admitted');
    clock.advance(MINUTE);
    expect((await meterRequest.execute(address)).outcome).toBe('admitted');
  });

  it('lets each key ask how it stands 60 times a minute, banned or not, and counts that against no quota', async () => {
    const { meterRequest, keys, clock } = await setUp();
    for (let count = 0; count < 60; count += 1) await meterRequest.execute(keys[0]);
    clock.advance(MINUTE);
    const verdicts = [];
    for (let count = 0; count < 61; count += 1) verdicts.push(await meterRequest.countLimitsRequest(keys[0]));
    expect(outcomes(verdicts.slice(0, 60))).not.toContain('rate_limited');
    expect(verdicts[60]).toMatchObject({ outcome: 'rate_limited', minute: { limit: 60 } });
    expect((await meterRequest.countLimitsRequest(keys[1])).outcome).toBe('admitted');
    expect(await meterRequest.peek(keys[1])).toMatchObject({ outcome: 'admitted', minute: { used: 0 } });
  });
});

/** An account with a key, at noon. */
