import {
  type CountedRequest,
  decideAdmission,
  type Decision,
  DEFAULT_BAN_POLICY,
  later,
  MINUTE,
  NO_REFUSALS,
  NO_USAGE,
  type Verdict,
} from '@adoption-store/domain';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import slotOf from 'cluster-key-slot';
import { keysInSlots } from '../src/limits/cluster-slots.js';
import { FallbackRequestCounter } from '../src/limits/fallback-request-counter.js';
import { InProcessRequestCounter } from '../src/limits/in-process-request-counter.js';
import type { PostgresCountsStore } from '../src/limits/postgres-counts-store.js';
import type { RedisRequestCounter } from '../src/limits/redis-request-counter.js';
import { free, newRequester, noon } from './limits.counters.js';

describe('the fallback', () => {
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

  const answerIn = <Answer>(asked: Asked<Answer>[]) =>
    new Promise<Answer>((resolve, reject) => asked.push({ resolve, reject }));

  /** A Redis whose answers the test sets. */
  class AnsweredByHand {
    isReady = true;
    connectionError: Error | undefined;
    endedConnections = 0;
    isClosed = false;
    readonly asked: Asked<Decision>[] = [];
    readonly looked: Asked<Verdict>[] = [];
    readonly probed: Asked<void>[] = [];

    readonly decide = () => answerIn(this.asked);
    readonly peek = () => answerIn(this.looked);
    readonly probe = () => answerIn(this.probed);

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
      // Nothing is stored: addresses never are, and a key is only looked at.
      new InProcessRequestCounter(DEFAULT_BAN_POLICY, {
        read: () => Promise.resolve({ usage: NO_USAGE, refusals: NO_REFUSALS }),
      } as unknown as PostgresCountsStore),
      (failure) => states.push(failure),
    );
  }
  /** A call that fails. The probe of it isn't answered yet. */
  async function failCall(): Promise<Verdict> {
    const failed = counter.count(requestAt());
    redis.asked.shift()?.reject(LOST);
    await pass(0);
    return failed;
  }
  /** Loses Redis. */
  async function lose(): Promise<void> {
    await failCall();
    redis.probed.shift()?.reject(LOST);
    await pass(0);
  }
  const decisionAt = (now = noon, used = 0) =>
    decideAdmission(
      { usage: { ...NO_USAGE, minuteStart: noon, minuteUsed: used }, refusals: undefined },
      requestAt().limits,
      now,
      DEFAULT_BAN_POLICY,
    );
  const pass = (milliseconds: number) => jest.advanceTimersByTimeAsync(milliseconds);

  beforeEach(() => {
    jest.useFakeTimers();
    open();
  });
  afterEach(() => {
    counter.close();
    jest.useRealTimers();
  });

  it('a look shows the counts of Redis, or those of this process if it doesn’t answer', async () => {
    const { verdict } = decisionAt(noon, 1);
    const ofKey = { requester: newRequester(), limits: free, now: noon };
    const answered = counter.peek(ofKey);
    redis.looked.shift()?.resolve(verdict);
    expect(await answered).toBe(verdict);
    const unanswered = counter.peek(ofKey);
    redis.looked.shift()?.reject(LOST);
    expect((await unanswered).minute.used).toBe(0);
    await pass(0);
    redis.probed.shift()?.reject(LOST);
    await pass(0);
    expect(states).toEqual([undefined, LOST]);
    // It doesn't ask a Redis that is lost.
    expect((await counter.peek(ofKey)).minute.used).toBe(0);
  });

  it('a look at an address costs no call of Redis: it shows what this process has heard last', async () => {
    const counted = counter.count(requestAt());
    redis.asked.shift()?.resolve(decisionAt(noon, 1));
    await counted;
    const look = counter.peek(requestAt());
    expect(redis.looked).toEqual([]);
    expect((await look).minute.used).toBe(2);
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
    expect((await counter.peek(requestAt())).minute.used).toBe(2);
  });

  it('a call that fails is decided in this process, and a probe decides at once whether Redis is lost', async () => {
    expect((await failCall()).minute.used).toBe(1);
    expect((await failCall()).minute.used).toBe(2);
    expect([redis.probed.length, states, counter.isShared]).toEqual([1, [undefined], true]);
    redis.probed.shift()?.resolve();
    await pass(0);
    expect([states, counter.isShared, counter.fallbacks]).toEqual([[undefined, undefined], true, 2]);
    const next = counter.count(requestAt());
    redis.asked.shift()?.resolve(decisionAt());
    expect(await next).toMatchObject({ minute: { used: 1 } });
  });

  it('this process admits no more than a limit, though an operator has reset the counts, and the next minute’s', async () => {
    const limits = { perMinute: 3, perDay: 5 };
    const request = { requester: newRequester(), limits, now: noon };
    /** An answer of a Redis that has counted nothing. */
    const forgotten = async (now = noon) => {
      const answered = counter.count({ ...request, now });
      const nothing = { usage: NO_USAGE, refusals: NO_REFUSALS };
      redis.asked.shift()?.resolve(decideAdmission(nothing, limits, now, DEFAULT_BAN_POLICY));
      return (await answered).outcome;
    };
    for (let sent = 0; sent < 4; sent += 1) expect(await forgotten()).toBe('admitted');
    redis.endedConnections += 1;
    expect(await forgotten()).toBe('rate_limited');
    expect(await forgotten(later(noon, MINUTE))).toBe('admitted');
    expect(await forgotten(later(noon, MINUTE))).toBe('admitted');
    expect(await forgotten(later(noon, MINUTE))).toBe('daily_quota_exceeded');
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
});

const [one, other] = [
  ['10.0.0.1', 6379, 'id'],
  ['10.0.0.2', 6379, 'id'],
];

describe('the keys that probe a cluster', () => {
  it('are one for each primary, however its slots are spread', () => {
    const keys = keysInSlots('probe', [
      [0, 99, one],
      [100, 100, other, ['a replica']],
      [101, 16_383, one],
    ]);
    expect(keys).toHaveLength(2);
    expect(keys.map(slotOf)).toContain(100);
    expect(keysInSlots('probe', [[0, 16_383, one]])).toEqual(['probe:1']);
  });

  it('are none as long as a slot has no primary', () => {
    const keys = () =>
      keysInSlots('probe', [
        [0, 99, one],
        [102, 16_383, other],
      ]);
    expect(keys).toThrow("2 of the cluster's slots have no primary");
    expect(() => keysInSlots('probe', [])).toThrow('16384');
  });
});
