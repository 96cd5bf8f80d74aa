import { instant } from '@adoption-store/domain';
import { describe, expect, it } from '@jest/globals';
import { useApi } from '@adoption-store/api/testing/api';
import { AdoptionStore, type ClientOptions, type TryInfo } from '../src/index.js';
import { VirtualClock } from './support/virtual-clock.js';

const CALLS = 1_000;
const PER_MINUTE = 60;
// Milliseconds, by default.
const DEFAULT_MAX_WAIT = 65_000;

const api = useApi();

/** Clients of one new account of the free plan, whose clock is the API's too. */
async function clientsOf(count: number, options: ClientOptions) {
  const { key: apiKey } = await api.openKey('free');
  const from = api.clock.now();
  const clock = new VirtualClock(() => {
    api.clock.set(instant(from + Math.floor(clock.now())));
  });
  const tries: TryInfo[] = [];
  const onResponse = (outcome: TryInfo) => {
    tries.push(outcome);
  };
  const all = { baseUrl: `${api.origin}/v1`, apiKey, clock, onResponse, ...options };
  return { stores: Array.from({ length: count }, () => new AdoptionStore(all)), clock, tries };
}

describe.each([
  [1, DEFAULT_MAX_WAIT],
  [1, 0],
  [1, 150_000],
  [3, DEFAULT_MAX_WAIT],
])('1,000 calls at once on the free plan, by %i clients with maxWait %i ms', (count, maxWait) => {
  it('are answered, or given up within maxWait with an error that says when, and nobody is banned', async () => {
    const { stores, clock, tries } = await clientsOf(count, { maxWait });
    const ends = await Promise.all(
      Array.from({ length: CALLS }, async (_, index) => {
        const page = stores[index % count]?.pets({ limit: 1 }).page();
        const error: unknown = await page?.then(
          () => undefined,
          (reason: unknown) => reason,
        );
        return { error, after: clock.now() };
      }),
    );
    const answered = ends.filter(({ error }) => error === undefined);
    const refused = tries.filter(({ status }) => status === 429);
    // Those of the first minute, and of each minute that begins before maxWait is over.
    expect(answered.length).toBeGreaterThanOrEqual(PER_MINUTE * (1 + Math.floor(maxWait / 61_000)));
    for (const { error } of ends)
      if (error !== undefined) expect(error).toMatchObject({ kind: 'rate_limit', retryAfter: expect.any(Number) });
    expect(Math.max(...ends.map(({ after }) => after))).toBeLessThanOrEqual(maxWait);
    // One client knows what is left. Several learn it by at most as many refusals as each has requests under way.
    if (count === 1) expect(refused).toEqual([]);
    expect(await stores[0]?.getRateLimit()).toMatchObject({ ban: null });
  });
});
