import { testPolicy } from '../testing/in-memory-application.js';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createApplication } from '../application.js';
import { HOUR, type Instant, instant, later, MINUTE, SECOND } from '../kernel/clock.js';
import { decisions, inMemoryPorts } from '../testing/index.js';
import { type AttemptState, decideAttempt } from './attempt-counter.js';

describe('an attempt', () => {
  const now = instant(Date.UTC(2026, 0, 1));
  const limit = { most: 2, within: 15 * MINUTE };
  /** Attempts so many minutes from now, by the shared clock. */
  const made = (...minutes: readonly number[]) => ({
    sharedNow: now,
    times: minutes.map((minute) => later(now, minute * MINUTE)),
  });
  const counted = (...minutes: readonly number[]) => ({
    until: undefined,
    times: made(...minutes, 0).times,
    expiresAt: later(now, limit.within),
  });
  const refused = (minutes: number) => ({ until: later(now, minutes * MINUTE) });
  const given = decisions({ it, expect }, (state: AttemptState) => decideAttempt(state, { ...limit, now }));
  const one = 'another is made';
  given('none', made()).when(one, undefined).then('it counts', counted());
  given('room', made(-14)).when(one, undefined).then('it counts', counted(-14));
  given('no room', made(-14, -3)).when(one, undefined).then('there is room once the first is over', refused(1));
  given('more than the limit, in disorder', made(-2, -14, -3))
    .when(one, undefined)
    .then('there is room once two are over', refused(12));
  given('one that is just over', made(-15, -3)).when(one, undefined).then('it counts, and that is gone', counted(-3));
  given('a clock that is two minutes ahead', made(1, 2)).when(one, undefined).then('its attempts count', refused(16));
  given('a clock that is further ahead', made(1, 3, 60))
    .when(one, undefined)
    .then('its attempts are gone', counted(1));
  given('others of an hour from here', { ...made(60, 61, 63), sharedNow: later(now, HOUR) })
    .when('a clock is an hour behind', undefined)
    .then('the others’ attempts count', refused(75));
  given('one of an hour ago', { ...made(-75, -74, -15, -3), sharedNow: later(now, -HOUR) })
    .when('a clock is an hour ahead', undefined)
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
          const { until } = attempt();
          if (until !== undefined) {
            clock = later(until, -1);
            expect(attempt().until).toBe(until);
            clock = until;
          }
          const counted = attempt();
          if (counted.until !== undefined) throw new Error('there is no room');
          times = counted.times;
          all.push(clock);
          expect(all.filter((time) => time > later(clock, -limit.within)).length).toBeLessThanOrEqual(most);
        }
      }),
    );
  });
});

it('attempts are as many as the limit says within its span, and then say how long to wait', async () => {
  const ports = inMemoryPorts();
  const { limitAttempts } = createApplication(ports, testPolicy());
  const attempt = () => limitAttempts.execute('dev@example.com', { most: 2, within: MINUTE });
  expect(await attempt()).toBeUndefined();
  ports.clock.advance(20 * SECOND);
  expect(await attempt()).toBeUndefined();
  expect(await attempt()).toBe(40 * SECOND);
  ports.clock.advance(40 * SECOND);
  expect(await attempt()).toBeUndefined();
});
