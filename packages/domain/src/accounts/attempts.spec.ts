import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createApplication } from '../application.js';
import { HOUR, type Instant, instant, later, MINUTE, SECOND } from '../kernel/clock.js';
import { decisions } from '../testing/decisions.js';
import { inMemoryPorts } from '../testing/index.js';
import { decideAttempt } from './attempt-counter.js';

const EMAIL = 'dev@example.com';

function open() {
  const ports = inMemoryPorts();
  const application = createApplication(ports);
  const attempt = (subject = EMAIL) => application.limitAttempts.execute(subject, { most: 2, within: MINUTE });
  return { ...application, clock: ports.clock, attempt };
}

describe('an attempt', () => {
  const now = instant(Date.UTC(2026, 0, 1));
  const limit = { most: 2, within: 15 * MINUTE };
  /** So many minutes from now. */
  const at = (...minutes: readonly number[]) => minutes.map((minute) => later(now, minute * MINUTE));
  const shared = { sharedNow: now };
  const given = decisions({ it, expect }, decideAttempt);
  const counted = (...minutes: readonly number[]) => ({
    until: undefined,
    times: at(...minutes, 0),
    expiresAt: later(now, limit.within),
  });
  const refused = (minutes: number) => ({ until: later(now, minutes * MINUTE) });
  const made = { ...limit, now };

  given('none', { ...shared, times: [] })
    .when('one is made', made)
    .then('it counts', counted());
  given('room', { ...shared, times: at(-14) })
    .when('one is made', made)
    .then('it counts', counted(-14));
  given('no room', { ...shared, times: at(-14, -3) })
    .when('one is made', made)
    .then('there is room once the first is over', refused(1));
  given('more than the limit, in disorder', { ...shared, times: at(-2, -14, -3) })
    .when('one is made', made)
    .then('there is room once two are over', refused(12));
  given('one that is just over', { ...shared, times: at(-15, -3) })
    .when('one is made', made)
    .then('it counts, and that is gone', counted(-3));
  given('a clock that is two minutes ahead', { ...shared, times: at(1, 2) })
    .when('one is made', made)
    .then('its attempts count', refused(16));
  given('a clock that is more than two minutes ahead', { ...shared, times: at(1, 3, 60) })
    .when('one is made', made)
    .then('its attempts are gone', counted(1));
  given('others of an hour from here', { sharedNow: later(now, HOUR), times: at(60, 61, 63) })
    .when('a clock is an hour behind', made)
    .then('the others’ attempts count', refused(75));
  given('one of an hour ago', { sharedNow: later(now, -HOUR), times: at(-75, -74, -15, -3) })
    .when('a clock is an hour ahead', made)
    .then('it keeps those that count for the others', counted(-74, -15, -3));

  it('is never one too many within any span, and is refused no longer than it must be', () => {
    const steps = fc.array(fc.integer({ min: 0, max: 3 * limit.within }), { maxLength: 60 });
    const limits = fc.integer({ min: 1, max: 5 });
    fc.assert(
      fc.property(steps, limits, (waits, most) => {
        let [clock, times] = [now, [] as readonly Instant[]];
        const all: Instant[] = [];
        const attempt = () => decideAttempt({ times, sharedNow: clock }, { ...limit, most, now: clock });
        for (const wait of waits) {
          clock = later(clock, wait % 7 === 0 ? 0 : wait);
          let decision = attempt();
          if (decision.until !== undefined) {
            const last = later(decision.until, -1);
            expect(decideAttempt({ times, sharedNow: last }, { ...limit, most, now: last })).toEqual(decision);
            clock = decision.until;
            decision = attempt();
          }
          if (decision.until !== undefined) throw new Error('there is no room');
          times = decision.times;
          all.push(clock);
        }
        all.forEach((end, index) => {
          const first = all[index - most];
          expect(first === undefined || first <= end - limit.within).toBe(true);
        });
      }),
    );
  });
});

describe('attempts', () => {
  it('are as many as the limit says within its span, and then say how long to wait', async () => {
    const { attempt, clock } = open();
    expect(await attempt()).toBeUndefined();
    clock.advance(20 * SECOND);
    expect(await attempt()).toBeUndefined();
    expect(await attempt()).toBe(40 * SECOND);
    clock.advance(40 * SECOND);
    expect(await attempt()).toBeUndefined();
  });

  it('that were right are refunded one by one, or all at once', async () => {
    const { limitAttempts, attempt } = open();
    const subjects = ['dev@example.com', '192.0.2.1'];
    for (const subject of [...subjects, ...subjects]) await attempt(subject);
    await limitAttempts.refund('dev@example.com');
    expect(await attempt()).toBeUndefined();
    expect(await attempt()).toBe(MINUTE);
    await limitAttempts.clear(subjects);
    for (const subject of [...subjects, ...subjects]) expect(await attempt(subject)).toBeUndefined();
  });

  it('that no longer count are cleared away', async () => {
    const { attempt, purgeExpired, clock } = open();
    await attempt();
    expect(await purgeExpired.execute('attempts')).toBe(0);
    clock.advance(MINUTE);
    expect(await purgeExpired.execute('attempts')).toBe(1);
  });
});
