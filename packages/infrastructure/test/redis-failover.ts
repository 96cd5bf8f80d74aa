import { DEFAULT_BAN_POLICY, type KeyRequester, reasonOf } from '@adoption-store/domain';
import { expect } from '@jest/globals';
import { type RedisServer, until } from '@adoption-store/test-support';
import { Redis } from 'ioredis';
import { type CreatedRequestCounter, createRequestCounter } from '../src/quotas/create-request-counter.js';
import type { RedisAddress } from '../src/quotas/redis-connection.js';
import type { Database } from './databases.js';
import { ANY_CLOCK, newRequester, noon } from './request-counters.js';

const ACCOUNTS = 40;
/** Requests a day of each account. */
const LIMIT = 150;
const INSTANCES = 4;
/** Requests of an instance at the same time, and milliseconds between them. */
const AT_ONCE = 15;
const PAUSE = 8;

export const keyOf = ({ accountId }: KeyRequester) => `quota:account:${accountId}`;

/** A change of the state that an instance reports. */
interface Change {
  readonly isShared: boolean;
  /** The requests that it had decided alone by then. */
  readonly alone: number;
}

/** An instance's request counter, and what it says of itself. */
export interface Instance extends CreatedRequestCounter {
  readonly history: readonly Change[];
  readonly isShared: () => boolean;
  /** The reason of its latest loss. */
  readonly reason: () => string | undefined;
}

export async function openInstance({ dataSource }: Database, redis: RedisAddress): Promise<Instance> {
  const history: Change[] = [];
  let reason: string | undefined;
  const isShared = () => history.at(-1)?.isShared === true;
  let opened: CreatedRequestCounter | undefined = undefined as CreatedRequestCounter | undefined;
  opened = await createRequestCounter({
    redis,
    // Long enough for a loaded machine.
    redisTimeout: 500,
    redisTolerance: ANY_CLOCK,
    dataSource,
    // No ban: each refusal is one of the limit.
    policy: { ...DEFAULT_BAN_POLICY, refusals: 1_000_000 },
    onEvent: () => undefined,
    onRedisState: (failure) => {
      const isUp = failure === undefined;
      if (!isUp) reason = reasonOf(failure);
      if (history.at(-1)?.isShared !== isUp) history.push({ isShared: isUp, alone: opened?.fallbacks() ?? 0 });
    },
  });
  return { ...opened, history, isShared, reason: () => reason };
}

/** Several instances that many accounts send requests to, until each account has used up its day. */
export class FailoverLoad {
  private readonly requesters = Array.from({ length: ACCOUNTS }, newRequester);
  private readonly expected = ACCOUNTS * LIMIT;
  private readonly admitted = new Map<KeyRequester, number>();
  private readonly refused = new Set<KeyRequester>();
  /** The highest count that an instance was told by Redis. */
  private readonly told = new Map<KeyRequester, number>();
  private isRunning = true;
  private readonly senders: readonly Promise<void>[];

  private constructor(private readonly instances: readonly Instance[]) {
    this.senders = instances.map((instance) => this.send(instance));
  }

  static async start(database: Database, redis: RedisAddress): Promise<FailoverLoad> {
    return new FailoverLoad(await Promise.all(Array.from({ length: INSTANCES }, () => openInstance(database, redis))));
  }

  /** The requests that the instances decided alone. */
  private get alone(): number {
    return this.instances.reduce((sum, { fallbacks }) => sum + fallbacks(), 0);
  }

  private get admittedTotal(): number {
    return [...this.admitted.values()].reduce((sum, count) => sum + count, 0);
  }

  /** The admitted requests above the limits. */
  private get above(): number {
    return [...this.admitted.values()].reduce((sum, count) => sum + Math.max(0, count - LIMIT), 0);
  }

  /** Whether Redis has refused a request of each account since then. */
  private get isUsedUp(): boolean {
    return this.refused.size === ACCOUNTS;
  }

  /** The admitted requests of which a replica knows nothing, counted before it is promoted. */
  private async notIn(replica: RedisServer, isIts: (key: string) => boolean): Promise<number> {
    const client = new Redis(replica.url, { readOnly: true });
    let missing = 0;
    for (const requester of this.requesters.filter((each) => isIts(keyOf(each)))) {
      const [, used = 0] = ((await client.get(keyOf(requester))) ?? '').split(' ').map(Number);
      missing += Math.max(0, (this.told.get(requester) ?? 0) - used);
    }
    client.disconnect();
    return missing;
  }

  /**
   * Kills the primary, and waits until its replica has taken over and every instance counts there. Then sends on until
   * Redis refuses each account, and expects that only what the contract allows was admitted above the limits.
   */
  async expectFailover(primary: RedisServer, replica: RedisServer, isIts: (key: string) => boolean): Promise<void> {
    const { instances } = this;
    await until(() => this.admittedTotal > this.expected / 3);
    expect(this.alone).toBe(0);
    await primary.kill();
    const killedAt = performance.now();
    const since = () => Math.round(performance.now() - killedAt);
    await until(() => instances.every(({ isShared }) => !isShared()));
    const noticed = since();
    const lost = await this.notIn(replica, isIts);
    await until(() => instances.every(({ isShared }) => isShared()));
    const recovered = since();
    await this.finish();
    console.info(
      `A primary was killed: ${this.admittedTotal} requests admitted of ${this.expected}, ${this.above} above a limit; ` +
        `${this.alone} decided alone, ${lost} not replicated; noticed after ${noticed} ms, shared again after ${recovered} ms`,
    );
    expect(this.above).toBeLessThanOrEqual(this.alone + lost);
    expect(this.admittedTotal).toBeGreaterThanOrEqual(this.expected);
    for (const { history, fallbacks } of instances) {
      expect(history.map(({ isShared }) => isShared)).toEqual([true, false, true]);
      // While an instance says that limits are shared, it decides nothing alone.
      expect(history.map(({ alone }) => alone)).toEqual([0, 0, fallbacks()]);
    }
  }

  /** Sends on until Redis refuses each account, then ends the instances. */
  private async finish(): Promise<void> {
    this.refused.clear();
    while (!this.isUsedUp) await new Promise((resolve) => setTimeout(resolve, PAUSE));
    this.isRunning = false;
    await Promise.all(this.senders);
    await this.close();
  }

  async close(): Promise<void> {
    this.isRunning = false;
    await Promise.all(this.senders);
    await Promise.all(this.instances.map((instance) => instance.close()));
  }

  private async send({ counter, fallbacks }: Instance): Promise<void> {
    const limits = { perMinute: LIMIT, perDay: LIMIT };
    const sendOne = async () => {
      const requester = this.requesters[Math.floor(Math.random() * ACCOUNTS)];
      if (requester === undefined) return;
      const { outcome, day } = await counter.count({ requester, limits, now: noon });
      if (fallbacks() === 0) this.told.set(requester, Math.max(this.told.get(requester) ?? 0, day.used));
      if (outcome === 'admitted') this.admitted.set(requester, (this.admitted.get(requester) ?? 0) + 1);
      else this.refused.add(requester);
    };
    while (this.isRunning) {
      await Promise.all(Array.from({ length: AT_ONCE }, sendOne));
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
    }
  }
}
