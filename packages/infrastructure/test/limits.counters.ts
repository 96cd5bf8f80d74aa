import { randomBytes, randomUUID } from 'node:crypto';
import {
  type AccountId,
  type ApiKeyId,
  type BanPolicy,
  DAY,
  HOUR,
  type Instant,
  instant,
  type KeyRequester,
  later,
  MINUTE,
  MOST_SKEW,
  type Requester,
  SECOND,
  startOf,
  type Verdict,
  type PlanLimits,
  PLANS,
} from '@adoption-store/domain';
import {
  InMemoryRequestCounter,
  type Opened,
  type OpenRequestCounter,
  requestCounterSuite,
} from '@adoption-store/domain/testing';
import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { TypeOrmAccountRepository } from '../src/accounts/typeorm-account-repository.js';
import { TypeOrmApiKeyRepository } from '../src/accounts/typeorm-api-key-repository.js';
import { createRequestCounter } from '../src/limits/create-request-counter.js';
import { addKey, type Database, openDatabase } from './databases.js';
import { framework } from './framework.js';

export const midnight = instant(Date.UTC(2026, 0, 1));
export const noon = later(midnight, 12 * HOUR);
export const free: PlanLimits = PLANS.free;
/** Milliseconds. Long enough for a busy machine: only one suite tests how fast Redis must be. */
export const TIMEOUT = 20_000;
/** A tolerance for tests that set the time, from which Redis' clock differs. */
export const ANY_CLOCK = Number.MAX_SAFE_INTEGER;

const newId = () => randomBytes(7).readUIntBE(1, 6);
const newAccount = () => BigInt(newId()) as AccountId;
export const newKey = () => BigInt(newId()) as ApiKeyId;

export const newRequester = (): KeyRequester => ({ accountId: newAccount(), keyId: newKey() });

/** The request counter of a process, with a database of its own. */
export async function openOnDatabase(policy: BanPolicy, redis?: readonly string[]): Promise<Opened<'requests'>> {
  const { dataSource, close } = await openDatabase();
  const onEvent = (message: string) => {
    throw new Error(message);
  };
  const onRedisState = (failure: unknown) => {
    if (failure !== undefined) throw new Error('Redis is lost', { cause: failure });
  };
  const settings = {
    redis,
    redisTimeout: TIMEOUT,
    redisTolerance: ANY_CLOCK,
    dataSource,
    policy,
    onEvent,
    onRedisState,
  };
  const opened = await createRequestCounter(settings);
  return {
    ports: { requests: opened.counter },
    close: async () => {
      await opened.close();
      await close();
    },
  };
}

/** Counts are stored only for an existing account and key. */
export function storedRequester({ dataSource }: Database): Promise<KeyRequester> {
  const [accounts, apiKeys] = [new TypeOrmAccountRepository(dataSource), new TypeOrmApiKeyRepository(dataSource)];
  return addKey({ accounts, apiKeys });
}

/** Lets work in progress continue. */
export async function nextTurn(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 5));
}

/** The times at which a decision may change after this verdict, and the last times at which a clock counts as ahead. */
function edgesOf({ minute, day, bannedUntil }: Verdict, bannedAt: Instant): readonly Instant[] {
  const starts = [later(minute.resetsAt, -MINUTE), later(day.resetsAt, -DAY), bannedAt];
  const ends = [minute.resetsAt, day.resetsAt, later(bannedAt, DAY)];
  return bannedUntil === undefined ? [...ends, ...starts.map((start) => later(start, -MOST_SKEW))] : [bannedUntil];
}

/**
 * The port's suite, and the domain's function as the model of it.
 *
 * @param mostBack milliseconds by which the clock may go back without that the counter forgets anything.
 */
export function counterSuites(name: string, open: OpenRequestCounter, mostBack: number = DAY): void {
  requestCounterSuite(framework, name, open);

  const policy: BanPolicy = { refusals: 3, firstBan: 5 * MINUTE, longestBan: 15 * MINUTE };
  const pause = fc.oneof(
    { weight: 8, arbitrary: fc.integer({ min: 0, max: 20 * SECOND }) },
    { weight: 2, arbitrary: fc.integer({ min: -30 * SECOND, max: 0 }) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 26 * HOUR }) },
    { weight: 1, arbitrary: fc.integer({ min: -2 * HOUR, max: 0 }) },
  );
  const edge = fc.record({ edge: fc.nat(6), offset: fc.constantFrom(-1, 0, 1) });
  const step = fc.record({
    when: fc.oneof({ weight: 3, arbitrary: pause }, { weight: 1, arbitrary: edge }),
    who: fc.constantFrom('address' as const, 'key' as const, 'key' as const, 'sibling' as const, 'stranger' as const),
    perMinute: fc.integer({ min: 1, max: 3 }),
    perDay: fc.integer({ min: 1, max: 12 }),
    times: fc.constantFrom(1, 1, 1, 6),
    method: fc.constantFrom('count' as const, 'count' as const, 'count' as const, 'peek' as const),
    isPurgedBefore: fc.nat(9).map((drawn) => drawn === 0),
  });

  it(`any history of requests (${name}) is decided as the domain decides it`, async () => {
    const opened = await open(policy);
    const { requests } = opened.ports;
    const property = fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 100 }), async (steps) => {
      const model = new InMemoryRequestCounter(policy);
      const key = newRequester();
      const address = { address: randomUUID() };
      const requesters = { address, key, sibling: { ...key, keyId: newKey() }, stranger: newRequester() };
      let [now, latest, bannedAt] = [noon, noon, noon];
      let last: Verdict | undefined;
      let requester: Requester = key;
      for (const { when, who, perMinute, perDay, times, method, isPurgedBefore } of steps) {
        // A counter without stored rows forgets a day once the next one begins, and Redis an ended field.
        const earliest = Math.max(Math.min(startOf(DAY, latest), later(latest, -MOST_SKEW)), later(latest, -mostBack));
        if (typeof when === 'number') {
          now = instant(Math.max(later(now, when), earliest));
          requester = requesters[who];
        } else if (last !== undefined) {
          const edges = edgesOf(last, bannedAt).filter((each) => each > later(now, -HOUR));
          const edge = later(edges[when.edge % edges.length] ?? now, when.offset);
          now = instant(Math.max(edge, earliest));
        }
        if (now > latest) latest = now;
        if (isPurgedBefore) await requests.purge(now);
        const limits = { perMinute, perDay: 'address' in requester ? Infinity : perDay };
        const request = { requester, limits, now };
        // The peek at the end shows what was stored.
        for (const each of [...Array<typeof method>(times).fill(method), 'peek' as const]) {
          const [actual, expected] = [await requests[each](request), await model[each](request)];
          // Addresses have no daily limit.
          expect(actual).toEqual('address' in requester ? { ...expected, day: actual.day } : expected);
          if (expected.bannedUntil !== undefined && expected.bannedUntil !== last?.bannedUntil) bannedAt = now;
          last = expected;
        }
      }
    });
    try {
      await fc.assert(property, { numRuns: 20, endOnFailure: true });
    } finally {
      await opened.close();
    }
  });
}
