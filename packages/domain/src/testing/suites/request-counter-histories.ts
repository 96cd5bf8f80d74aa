import { HOUR, instant, later, MINUTE, SECOND } from '../../kernel/clock.js';
import type { BanPolicy } from '../../quotas/quota.js';
import { InMemoryRequestCounter } from '../in-memory-request-counter.js';
import { checkDrawn, Draws } from './draws.js';
import type { Opened, TestFramework } from './framework.js';
import { type OpenRequestCounter, Requesters } from './requesters.js';

const NOON = instant(Date.UTC(2026, 0, 1, 12));
const POLICY: BanPolicy = { refusals: 3, firstBan: 5 * MINUTE, longestBan: 15 * MINUTE };

/** Sometimes the clock is behind, or was ahead and is corrected. */
function drawPause(draws: Draws): number {
  const weight = draws.integer(1, 16);
  if (weight === 16) return draws.integer(-2 * HOUR, 0);
  if (weight >= 14) return draws.integer(-10 * MINUTE, 0);
  if (weight <= 8) return draws.integer(0, 20 * SECOND);
  if (weight <= 10) return draws.integer(-30 * SECOND, 0);
  return weight <= 12 ? draws.integer(0, 20 * MINUTE) : draws.integer(0, 26 * HOUR);
}

function drawStep(draws: Draws) {
  return {
    pause: drawPause(draws),
    source: draws.pick(['address', 'one key', 'same account', 'other account'] as const),
    limits: { perMinute: draws.integer(1, 3), perDay: draws.integer(1, 12) },
    isLook: draws.isOneOf(10),
    isPurgedBefore: draws.isOneOf(10),
  };
}

/** Every `RequestCounter` decides any history of requests as `decide` does, by which the one in memory counts. */
export function requestCounterHistoriesSuite(framework: TestFramework, name: string, open: OpenRequestCounter): void {
  const { describe, it, beforeAll, afterAll, expect, random } = framework;
  describe(`any history of requests (${name})`, () => {
    const draws = new Draws(random);
    const requesters = new Requesters(random);
    let opened: Opened<'requests'>;
    beforeAll(async () => {
      opened = await open(POLICY);
    });
    afterAll(() => opened.close());

    it('is decided as the domain decides it', async () => {
      const draw = () => draws.many(20, 150, () => drawStep(draws));
      await checkDrawn(25, draw, async (history) => {
        const { requests: counter } = opened.ports;
        const model = new InMemoryRequestCounter(POLICY);
        const one = requesters.key();
        const sources = {
          address: requesters.address(),
          'one key': one,
          'same account': requesters.keyOf(one),
          'other account': requesters.key(),
        };
        let now = NOON;
        for (const { pause, source, limits, isLook, isPurgedBefore } of history) {
          now = later(now, pause);
          if (isPurgedBefore) await counter.purge(now);
          const perDay = source === 'address' ? Infinity : limits.perDay;
          const request = { requester: sources[source], limits: { ...limits, perDay }, now };
          const method = isLook ? 'look' : 'count';
          const [actual, expected] = [await counter[method](request), await model[method](request)];
          // Addresses have no daily limit.
          if (source === 'address') {
            expect(actual).toMatchObject({ outcome: expected.outcome, minute: expected.minute });
          } else expect(actual).toEqual(expected);
        }
      });
    });
  });
}
