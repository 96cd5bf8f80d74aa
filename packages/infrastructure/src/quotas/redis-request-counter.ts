import {
  type BanPolicy,
  type CountedRequest,
  decide,
  type Decision,
  DAY,
  type Instant,
  instant,
  MOST_SKEW,
  NO_USAGE,
  type Refusals,
  type RequestCounter,
  type Requester,
  type Usage,
  type Verdict,
  verdictOn,
} from '@adoption-store/domain';
import { Redis } from 'ioredis';
import { requestCounterScript } from './request-counter-script.js';

/** A value in Redis, as request-counter-script.ts writes it. */
type Held = string | null | undefined;
/** The values that the script returns for each requester. */
type Answer = readonly [usage: Held, refusals: Held, at: number];

/** The client with the script as a command. */
interface ScriptedRedis extends Redis {
  countRequests(keyCount: number, ...keysAndArguments: (string | number)[]): Promise<(Held | number)[]>;
}

/** Requests of one requester with the same limits. They are decided one after another. */
interface Group extends CountedRequest {
  requests: number;
  /** The usage before the next request of this group, once Redis has answered. */
  usage: Usage;
  /** Only for keys. */
  refusals: Refusals | undefined;
  /** The time of the decision: `now`, or Redis' time if the two differ too much. */
  at: Instant;
}

/** Groups in one call, which takes Redis about 3 ms. */
const MOST_GROUPS = 500;

/** Milliseconds until a request is decided in process instead. This leaves time to do so within 50 ms. */
const DEFAULT_TIMEOUT = 40;

/** Two clocks that differ from Redis' by no more than this differ from each other by no more than MOST_SKEW. */
const TOLERANCE = MOST_SKEW / 2;

/** Milliseconds between attempts to connect. */
const RETRY_INTERVAL = 100;

/** Counts in a Redis that all instances share. Rejects if Redis doesn't answer in time. */
export class RedisRequestCounter implements RequestCounter {
  /** The requests of this turn of the event loop, which are sent as one call. */
  private groups = new Map<string, Group>();
  private answer = Promise.resolve();
  /** The reason why the connection failed; undefined once connected. */
  connectionError: Error | undefined;

  private constructor(
    private readonly redis: ScriptedRedis,
    private readonly policy: BanPolicy,
    private readonly timeout: number,
  ) {}

  /**
   * Connects. If that fails, it retries in the background; `isReady` says whether it is connected.
   *
   * @param tolerance milliseconds by which `now` may differ from Redis' clock; beyond that Redis' time is used. Tests
   *   that set the time pass more.
   */
  static async connect(
    url: string,
    policy: BanPolicy,
    timeout = DEFAULT_TIMEOUT,
    tolerance = TOLERANCE,
  ): Promise<RedisRequestCounter> {
    const redis = new Redis(url, {
      lazyConnect: true,
      // A request should be decided in process instead of waiting.
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      // For the client's own commands. A decision has a shorter limit, see `withTimeout`.
      commandTimeout: 1_000,
      connectTimeout: 500,
      // For a frozen server, which doesn't close the connection itself.
      disconnectTimeout: 200,
      retryStrategy: () => RETRY_INTERVAL,
      // After a failover the old primary may still answer, but refuse writes.
      reconnectOnError: (error) => error.message.startsWith('READONLY'),
      connectionName: 'adoption-store',
      scripts: { countRequests: { lua: requestCounterScript(policy, tolerance) } },
    });
    const counter = new RedisRequestCounter(redis as ScriptedRedis, policy, timeout);
    redis.on('error', (error: Error) => (counter.connectionError = error));
    redis.on('ready', () => (counter.connectionError = undefined));
    await redis.connect().catch(() => undefined);
    return counter;
  }

  /** Whether Redis is connected. If not, a request rejects immediately. */
  get isReady(): boolean {
    return this.redis.status === 'ready';
  }

  async count(request: CountedRequest): Promise<Verdict> {
    return (await this.decide(request)).verdict;
  }

  /** Counts a request. Returns the state behind the verdict too. */
  async decide({ requester, limits, now }: CountedRequest): Promise<Decision> {
    if (this.groups.size === MOST_GROUPS) this.groups = new Map();
    if (this.groups.size === 0) this.answer = this.ask(this.groups);
    const id = `${keysOf(requester).join(' ')} ${limits.perMinute} ${limits.perDay}`;
    const group = this.groups.get(id) ?? groupOf({ requester, limits, now });
    this.groups.set(id, group);
    group.requests += 1;
    await this.answer;
    const decision = decide(group.usage, group.refusals, limits, group.at, this.policy);
    group.usage = decision.usage;
    group.refusals &&= decision.refusals;
    return decision;
  }

  async look(request: CountedRequest): Promise<Verdict> {
    const group = groupOf(request);
    await this.askFor([group]);
    return verdictOn(group.usage, group.limits, group.refusals, group.at);
  }

  /** Does nothing, because the keys in Redis expire by themselves. */
  async purge(): Promise<number> {
    return 0;
  }

  /**
   * Resolves if a request could be counted now. It counts a request of no real requester, because a reachable Redis may
   * be full, or a replica. A connection without any answer is replaced.
   */
  async probe(): Promise<void> {
    try {
      const limits = { perMinute: Infinity, perDay: Infinity };
      await this.decide({ requester: { address: 'probe' }, limits, now: instant(DAY) });
    } catch (error) {
      if (this.isReady) this.redis.disconnect(true);
      throw error;
    }
  }

  close(): void {
    this.redis.disconnect();
  }

  private async ask(gathering: ReadonlyMap<string, Group>): Promise<void> {
    await new Promise(setImmediate);
    this.groups = new Map();
    await this.askFor([...gathering.values()]);
  }

  private async askFor(groups: readonly Group[]): Promise<void> {
    const keys = groups.flatMap(({ requester }) => keysOf(requester));
    const numbers = groups.flatMap(({ requests, now, limits }) => [requests, now, limits.perMinute, limits.perDay]);
    const answers = await this.withTimeout(this.redis.countRequests(keys.length, ...keys, ...numbers));
    groups.forEach((group, index) => {
      const [usage, refusals, at] = answers.slice(3 * index, 3 * index + 3) as unknown as Answer;
      group.usage = usageFrom(usage);
      if ('keyId' in group.requester) group.refusals = refusalsFrom(refusals);
      group.at = instant(at);
    });
  }

  /**
   * Used instead of the client's `commandTimeout`: after a long busy turn, timers run before sockets are read, so it
   * would give up answers that have already arrived. `setImmediate` runs after the sockets.
   */
  private withTimeout<Answer>(answer: Promise<Answer>): Promise<Answer> {
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

function groupOf(request: CountedRequest): Group {
  return { ...request, requests: 0, usage: NO_USAGE, refusals: undefined, at: request.now };
}

function keysOf(requester: Requester): [usage: string, refusals: string] {
  if ('address' in requester) return [`quota:address:${requester.address}`, ''];
  return [`quota:account:${requester.accountId}`, `quota:key:${requester.keyId}`];
}

function usageFrom(held: Held): Usage {
  const [minuteStart = 0, minuteUsed = 0, dayStart = 0, dayUsed = 0] = (held ?? '').split(' ').map(Number);
  return { minuteStart: instant(minuteStart), minuteUsed, dayStart: instant(dayStart), dayUsed };
}

function refusalsFrom(held: Held): Refusals {
  const [minuteStart = 0, count = 0, bannedAt = 0, bannedUntil = 0] = (held ?? '').split(' ').map(Number);
  return { minuteStart: instant(minuteStart), count, bannedAt: instant(bannedAt), bannedUntil: instant(bannedUntil) };
}
