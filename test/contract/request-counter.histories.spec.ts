import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type BanPolicy, HOUR, later, MINUTE, SECOND } from '@adoption-store/domain';
import { InMemoryRequestCounter } from '@adoption-store/domain/testing';
import fc from 'fast-check';
import { everyAdapter, newKey, newRequester, noon, type Opened } from './request-counters.js';

describe.each(everyAdapter.slice(1))('any history of requests (%s)', (_name, open) => {
  const policy: BanPolicy = { refusals: 3, firstBan: 5 * MINUTE, longestBan: 15 * MINUTE };
  let opened: Opened;
  beforeAll(async () => {
    opened = await open(policy);
  });
  afterAll(() => opened.close());

  const steps = fc.array(
    fc.record({
      // Sometimes the clock is behind.
      passes: fc.oneof(
        { weight: 8, arbitrary: fc.integer({ min: 0, max: 20 * SECOND }) },
        { weight: 2, arbitrary: fc.integer({ min: -30 * SECOND, max: 0 }) },
        { weight: 2, arbitrary: fc.integer({ min: 0, max: 20 * MINUTE }) },
        { weight: 1, arbitrary: fc.integer({ min: 0, max: 26 * HOUR }) },
      ),
      source: fc.constantFrom('address', 'one key', 'same account', 'other account'),
      limits: fc.record({ perMinute: fc.integer({ min: 1, max: 3 }), perDay: fc.integer({ min: 1, max: 12 }) }),
      isLook: fc.integer({ min: 0, max: 9 }).map((number) => number === 0),
      isPurgedBefore: fc.integer({ min: 0, max: 9 }).map((number) => number === 0),
    }),
    { minLength: 20, maxLength: 150 },
  );

  it('is decided as the domain decides it', async () => {
    const property = fc.asyncProperty(steps, async (history) => {
      const model = new InMemoryRequestCounter(policy);
      const [one, other, address] = [newRequester(), newRequester(), { address: randomUUID() }];
      const sources = {
        address,
        'one key': one,
        'same account': { ...one, keyId: newKey() },
        'other account': other,
      };
      let now = noon;
      for (const { passes, source, limits, isLook, isPurgedBefore } of history) {
        now = later(now, passes);
        if (isPurgedBefore) await opened.counter.purge(now);
        const perDay = source === 'address' ? Infinity : limits.perDay;
        const request = { requester: sources[source], limits: { ...limits, perDay }, now };
        const method = isLook ? 'look' : 'count';
        const [actual, expected] = [await opened.counter[method](request), await model[method](request)];
        // Addresses have no daily limit.
        if (source === 'address') expect(actual).toMatchObject({ outcome: expected.outcome, minute: expected.minute });
        else expect(actual).toEqual(expected);
      }
    });
    await fc.assert(property, { numRuns: 60 });
  });
});
