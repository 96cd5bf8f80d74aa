import {
  type BanPolicy,
  type CountedRequest,
  decide,
  type Decision,
  DAY,
  instant,
  NO_REFUSALS,
  type Refusals,
  type RequestCounter,
  type Requester,
  type Usage,
  type Verdict,
  verdictOn,
} from '@adoption-store/domain';
import { Redis } from 'ioredis';
import { COUNT_REQUESTS, LOOK_AT_REQUEST } from './request-counter-scripts.js';

type Numbers = readonly number[];

/** The client with the two scripts as commands of it; it sends their hashes, and their text where Redis lacks it. */
interface ScriptedRedis extends Redis {
  countRequests(keys: number, ...keysAndArguments: (string | number)[]): Promise<Numbers>;
  lookAtRequest(keys: number, ...names: string[]): Promise<Numbers>;
}

/** Requests of one requester that are decided in one call, in the order they came. */
interface Batch {
  size: number;
  readonly decisions: Promise<readonly Decision[]>;
}

/** Milliseconds until a request is decided elsewhere, which leaves room to do so within 50. */
const DEFAULT_TIMEOUT = 40;

/** Counts in a Redis that every instance shares. Rejects whenever that Redis doesn't answer in time. */
export class RedisRequestCounter implements RequestCounter {
  private readonly batches = new Map<string, Batch>();

  private constructor(
    private readonly redis: ScriptedRedis,
    private readonly policy: BanPolicy,
    private readonly timeout: number,
  ) {}

  /** Connects, and goes on trying in the background where that fails: what matters is `isReady`. */
  static async connect(url: string, policy: BanPolicy, timeout = DEFAULT_TIMEOUT): Promise<RedisRequestCounter> {
    const redis = new Redis(url, {
      lazyConnect: true,
      // A request would rather be decided elsewhere than wait.
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      // For what the client asks by itself; a decision waits less, see `inTime`.
      commandTimeout: 1_000,
      connectTimeout: 500,
      // For a frozen server, which doesn't hang up by itself.
      disconnectTimeout: 200,
      retryStrategy: (attempt) => Math.min(50 * attempt, 500),
      // After a failover the old primary may still be there, and refuse to write.
      reconnectOnError: (error) => error.message.startsWith('READONLY'),
      connectionName: 'adoption-store',
      scripts: { countRequests: { lua: COUNT_REQUESTS }, lookAtRequest: { lua: LOOK_AT_REQUEST, readOnly: true } },
    });
    // Whoever asks is told by a rejection; an 'error' that nobody listens for would end the process.
    redis.on('error', () => undefined);
    await redis.connect().catch(() => undefined);
    return new RedisRequestCounter(redis as ScriptedRedis, policy, timeout);
  }

  /** Whether it is worth asking: without, a request is rejected at once. */
  get isReady(): boolean {
    return this.redis.status === 'ready';
  }

  async count(request: CountedRequest): Promise<Verdict> {
    return (await this.decide(request)).verdict;
  }

  /** Counts, and gives the state behind the verdict too. What one requester sends at a time goes as one call. */
  async decide(request: CountedRequest): Promise<Decision> {
    const { requester, limits } = request;
    const keys = keysOf(requester);
    const id = `${keys.join()} ${limits.perMinute} ${limits.perDay}`;
    let batch = this.batches.get(id);
    if (batch === undefined) {
      batch = { size: 0, decisions: this.decideTogether(id, keys, request) };
      this.batches.set(id, batch);
    }
    const index = batch.size++;
    const decision = (await batch.decisions)[index];
    if (decision === undefined) throw new Error('a request was not in the batch it was added to');
    return decision;
  }

  private async decideTogether(id: string, keys: string[], { limits, now }: CountedRequest): Promise<Decision[]> {
    // After all sockets that had something to say in this turn of the event loop.
    await new Promise(setImmediate);
    const size = this.batches.get(id)?.size ?? 0;
    this.batches.delete(id);
    const { refusals: most, firstBan, longestBan } = this.policy;
    const perDay = limits.perDay === Infinity ? -1 : limits.perDay;
    const numbers = [size, now, limits.perMinute, perDay, most, firstBan, longestBan];
    const state = await this.inTime(this.redis.countRequests(keys.length, ...keys, ...numbers));
    const decisions: Decision[] = [];
    let usage = usageFrom(state);
    let refusals = keys.length > 1 ? refusalsFrom(state) : undefined;
    while (decisions.length < size) {
      const decision = decide(usage, refusals, limits, now, this.policy);
      decisions.push(decision);
      usage = decision.usage;
      if (refusals) refusals = decision.refusals;
    }
    return decisions;
  }

  async look({ requester, limits, now }: CountedRequest): Promise<Verdict> {
    const keys = keysOf(requester);
    const state = await this.inTime(this.redis.lookAtRequest(keys.length, ...keys));
    return verdictOn(usageFrom(state), limits, refusalsFrom(state), now);
  }

  /** Nothing: the keys expire by themselves. */
  async purge(): Promise<number> {
    return Promise.resolve(0);
  }

  /**
   * Resolves if a request could be counted now, by counting one of nobody's: a Redis that can be reached may be full, or
   * a replica. A connection on which nothing comes back is given up for a new one.
   */
  async probe(): Promise<void> {
    try {
      await this.inTime(this.redis.countRequests(1, 'quota:{probe}', 1, DAY, Number.MAX_SAFE_INTEGER, -1, 1, 1, 1));
    } catch (error) {
      if (this.isReady) this.redis.disconnect(true);
      throw error;
    }
  }

  close(): void {
    this.redis.disconnect();
  }

  /**
   * Not the client's own `commandTimeout`: after this process was busy for long its timers run before its sockets are
   * read, and would give up answers that have come long since. `setImmediate` runs after the sockets.
   */
  private inTime<Answer>(answer: Promise<Answer>): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        reject(new Error(`no answer within ${this.timeout} ms`));
      };
      const timer = setTimeout(() => setImmediate(giveUp), this.timeout);
      answer.then(resolve, reject).finally(() => {
        clearTimeout(timer);
      });
    });
  }
}

/** The braces keep the keys of one account on one node of a cluster. */
function keysOf(requester: Requester): string[] {
  if ('address' in requester) return [`quota:{address:${requester.address}}`];
  const account = `quota:{account:${requester.accountId}}`;
  return [account, `${account}:key:${requester.keyId}`];
}

function usageFrom([minuteStart = 0, minuteUsed = 0, dayStart = 0, dayUsed = 0]: Numbers): Usage {
  return { minuteStart: instant(minuteStart), minuteUsed, dayStart: instant(dayStart), dayUsed };
}

function refusalsFrom([, , , , minuteStart = 0, count = 0, bannedAt = 0, bannedUntil = 0]: Numbers): Refusals {
  if (minuteStart === 0) return NO_REFUSALS;
  return { minuteStart: instant(minuteStart), count, bannedAt: instant(bannedAt), bannedUntil: instant(bannedUntil) };
}
