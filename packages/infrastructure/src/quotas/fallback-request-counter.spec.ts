import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import {
  type CountedRequest,
  DEFAULT_BAN_POLICY,
  decide,
  type Decision,
  instant,
  later,
  MINUTE,
  NO_USAGE,
  type Verdict,
} from '@adoption-store/domain';
import { FallbackRequestCounter } from './fallback-request-counter.js';
import { InProcessRequestCounter } from './in-process-request-counter.js';
import type { PostgresCountsStore } from './postgres-counts-store.js';
import type { RedisRequestCounter } from './redis-request-counter.js';

const noon = instant(Date.UTC(2026, 0, 1, 12));
const LOST = new Error('Redis is lost');
const requestAt = (now = noon): CountedRequest => ({
  requester: { address: '192.0.2.1' },
  limits: { perMinute: 3, perDay: Infinity },
  now,
});

interface Asked<Answer> {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
}

/** A Redis whose answers the test gives. */
class AnsweredByHand {
  isReady = true;
  connectionError: Error | undefined;
  isClosed = false;
  readonly asked: Asked<Decision>[] = [];
  readonly looked: Asked<Verdict>[] = [];
  readonly probed: Asked<void>[] = [];

  decide(): Promise<Decision> {
    return new Promise((resolve, reject) => this.asked.push({ resolve, reject }));
  }

  probe(): Promise<void> {
    return new Promise((resolve, reject) => this.probed.push({ resolve, reject }));
  }

  look(): Promise<Verdict> {
    return new Promise((resolve, reject) => this.looked.push({ resolve, reject }));
  }

  close(): void {
    this.isClosed = true;
  }
}

let redis: AnsweredByHand;
let states: unknown[];
let counter: FallbackRequestCounter;

function open(isReady = true, connectionError?: Error): void {
  redis = Object.assign(new AnsweredByHand(), { isReady, connectionError });
  states = [];
  counter = new FallbackRequestCounter(
    redis as unknown as RedisRequestCounter,
    // Addresses are not stored.
    new InProcessRequestCounter(DEFAULT_BAN_POLICY, {} as PostgresCountsStore),
    (failure) => states.push(failure),
  );
}
/** Loses Redis. */
async function lose(): Promise<void> {
  const lost = counter.count(requestAt());
  redis.asked.shift()?.reject(LOST);
  await lost;
}
const decisionAt = (now = noon, used = 0) =>
  decide({ ...NO_USAGE, minuteStart: noon, minuteUsed: used }, undefined, requestAt().limits, now, DEFAULT_BAN_POLICY);
const pass = (milliseconds: number) => jest.advanceTimersByTimeAsync(milliseconds);

beforeEach(() => {
  jest.useFakeTimers();
  open();
});
afterEach(() => {
  counter.close();
  jest.useRealTimers();
});

it('a start reports whether Redis is connected, and why not', () => {
  expect(states).toEqual([undefined]);
  open(false);
  expect(states).toEqual([new Error('the connection is closed')]);
  open(false, LOST);
  expect(states).toEqual([LOST]);
});

it('a loss is reported once, however many requests notice it', async () => {
  const pending = [counter.count(requestAt()), counter.count(requestAt())];
  for (const { reject } of redis.asked) reject(LOST);
  expect((await Promise.all(pending)).map(({ minute }) => minute.used)).toEqual([1, 2]);
  expect([states, counter.isShared, counter.fallbacks]).toEqual([[undefined, LOST], false, 2]);
});

it('a closed connection is a loss, and is sent nothing', async () => {
  redis.isReady = false;
  expect((await counter.count(requestAt())).minute.used).toBe(1);
  expect(redis.asked).toEqual([]);
  expect(states).toEqual([undefined, new Error('the connection is closed')]);
});

it('a look shows the counts of Redis, or those of this process if it doesn’t answer', async () => {
  const { verdict } = decisionAt(noon, 1);
  const answered = counter.look(requestAt());
  redis.looked.shift()?.resolve(verdict);
  expect(await answered).toBe(verdict);
  const unanswered = counter.look(requestAt());
  redis.looked.shift()?.reject(LOST);
  expect((await unanswered).minute.used).toBe(0);
  expect(states).toEqual([undefined, LOST]);
  // It doesn't ask a Redis that is lost.
  expect((await counter.look(requestAt())).minute.used).toBe(0);
});

it('an address without requests left is refused without Redis, until its minute ends', async () => {
  const last = counter.count(requestAt());
  redis.asked.shift()?.resolve(decisionAt(noon, 2));
  expect(await last).toMatchObject({ outcome: 'admitted', minute: { used: 3 } });
  expect(await counter.count(requestAt(later(noon, MINUTE - 1)))).toMatchObject({ outcome: 'rate_limited' });
  expect(redis.asked).toEqual([]);
  const next = counter.count(requestAt(later(noon, MINUTE)));
  redis.asked.shift()?.resolve(decisionAt(later(noon, MINUTE)));
  expect(await next).toMatchObject({ outcome: 'admitted', minute: { used: 1 } });
});

it('an answer that arrives after the loss changes no count of this process', async () => {
  const late = counter.count(requestAt());
  const [first] = redis.asked.splice(0);
  await lose();
  await counter.count(requestAt());
  first?.resolve(decisionAt());
  expect((await late).minute.used).toBe(1);
  expect((await counter.look(requestAt())).minute.used).toBe(2);
});

it('Redis is probed 400 ms after each answer, and used meanwhile', async () => {
  await pass(399);
  expect(redis.probed).toHaveLength(0);
  await pass(1);
  expect(redis.probed).toHaveLength(1);
  await pass(5_000);
  expect(redis.probed).toHaveLength(1);
  redis.probed.shift()?.resolve();
  await pass(399);
  expect(redis.probed).toHaveLength(0);
  await pass(1);
  expect([redis.probed.length, states, counter.isShared]).toEqual([1, [undefined, undefined], true]);
});

it('a failed probe is a loss', async () => {
  await pass(400);
  redis.probed.shift()?.reject(LOST);
  await pass(0);
  expect([states, counter.isShared]).toEqual([[undefined, LOST], false]);
});

it('a lost Redis is probed 100 ms after each failure, and used again once it answers', async () => {
  await lose();
  for (let failures = 0; failures < 3; failures++) {
    await pass(99);
    expect(redis.probed).toHaveLength(0);
    await pass(1);
    redis.probed.shift()?.reject(LOST);
    await pass(0);
  }
  await pass(100);
  redis.probed.shift()?.resolve();
  await pass(0);
  expect([states, counter.isShared]).toEqual([[undefined, LOST, undefined], true]);
});

it('a probe from before the loss says nothing about Redis after it', async () => {
  await pass(400);
  await lose();
  redis.probed.shift()?.resolve();
  await pass(99);
  expect([states, counter.isShared, redis.probed.length]).toEqual([[undefined, LOST], false, 0]);
  await pass(1);
  expect(redis.probed).toHaveLength(1);
});

it('a closed counter closes its connection, and probes no more', async () => {
  await pass(400);
  counter.close();
  redis.probed.shift()?.resolve();
  await pass(5_000);
  expect([redis.isClosed, redis.probed, states]).toEqual([true, [], [undefined]]);
});
