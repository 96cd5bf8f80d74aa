import {
  type ApiKeyId,
  type BanPolicy,
  type CountedRequest,
  currentUsage,
  decide,
  type Decision,
  DAY,
  instant,
  NO_REFUSALS,
  NO_USAGE,
  type PlanLimits,
  type Refusals,
  type RequestCounter,
  type Requester,
  type Usage,
  type Verdict,
  verdictOn,
} from '@adoption-store/domain';
import { Redis } from 'ioredis';
import { COUNT_REQUESTS } from './request-counter-scripts.js';
import { areSame, type OnReserved, ReservedRequests } from './reserved-requests.js';

/** The client with the script as a command of it; it sends its hash, and its text where Redis lacks it. */
interface ScriptedRedis extends Redis {
  countRequestsBuffer(keys: number, ...keysAndAsked: (string | Buffer)[]): Promise<Buffer>;
}

/** Requests of one requester in a turn of the event loop, which are decided in the order they came. */
interface Asked {
  readonly request: CountedRequest;
  readonly answers: ((decision: Decision) => void)[];
  /** How many that were reserved are given back, before. */
  readonly back: number;
  /** How many more to count, which are reserved. */
  ahead: number;
}

/** What is asked in one turn of the event loop, which goes as one call. */
class Turn {
  readonly all: Asked[] = [];
  /** Each tells one of them that none is decided. */
  readonly failures: ((error: unknown) => void)[] = [];
  /** Resolves when all is answered or failed. */
  over = Promise.resolve();
  private readonly latest = new Map<string | bigint, Asked>();

  add(request: CountedRequest, answer: (decision: Decision) => void, fail: (error: unknown) => void): void {
    const { requester, limits } = request;
    const id = 'address' in requester ? requester.address : requester.keyId;
    const asked = this.latest.get(id);
    if (asked !== undefined && areSame(asked.request.limits, limits)) {
      asked.answers.push(answer);
    } else {
      const first = { request, answers: [answer], back: 0, ahead: 0 };
      this.all.push(first);
      this.latest.set(id, first);
    }
    this.failures.push(fail);
  }
}

/** Requesters in one call, which takes Redis some 3 ms. */
const MOST_ASKED = 500;

const UNLIMITED: PlanLimits = { perMinute: Infinity, perDay: Infinity };

/** Milliseconds until a request is decided elsewhere, which leaves room to do so within 50. */
const DEFAULT_TIMEOUT = 40;

/** Counts in a Redis that every instance shares. Rejects whenever that Redis doesn't answer in time. */
export class RedisRequestCounter implements RequestCounter {
  private turn: Turn | undefined;
  private readonly reserved: ReservedRequests;

  private constructor(
    private readonly redis: ScriptedRedis,
    private readonly policy: BanPolicy,
    private readonly timeout: number,
    onReserved?: OnReserved,
  ) {
    const settle = (request: CountedRequest, back: number, ahead: number) =>
      // Where Redis can't be asked, that part of what the account had left is lost with it.
      this.inTurn((turn) => turn.all.push({ request, answers: [], back, ahead }));
    this.reserved = new ReservedRequests(policy, settle, onReserved);
  }

  /** Connects, and goes on trying in the background where that fails: what matters is `isReady`. */
  static async connect(
    url: string,
    policy: BanPolicy,
    timeout = DEFAULT_TIMEOUT,
    onReserved?: OnReserved,
  ): Promise<RedisRequestCounter> {
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
      scripts: { countRequests: { lua: COUNT_REQUESTS } },
    });
    // Whoever asks is told by a rejection; an 'error' that nobody listens for would end the process.
    redis.on('error', () => undefined);
    await redis.connect().catch(() => undefined);
    return new RedisRequestCounter(redis as ScriptedRedis, policy, timeout, onReserved);
  }

  /** Whether it is worth asking: without, a request is rejected at once. */
  get isReady(): boolean {
    return this.redis.status === 'ready';
  }

  async count(request: CountedRequest): Promise<Verdict> {
    const verdict = this.takeReserved(request);
    if (verdict !== undefined) return verdict;
    return new Promise((resolve, reject) => {
      this.decide(
        request,
        ({ verdict }) => {
          resolve(verdict);
        },
        reject,
      );
    });
  }

  /** What has been decided with a call before, if so. */
  takeReserved(request: CountedRequest): Verdict | undefined {
    return this.reserved.take(request)?.verdict;
  }

  /** Asks Redis, and tells the state behind the verdict too. What is sent at a time goes as one call. */
  decide(request: CountedRequest, answer: (decision: Decision) => void, fail: (error: unknown) => void): void {
    void this.inTurn((turn) => {
      turn.add(request, answer, fail);
    });
  }

  /** @returns what resolves when the turn is over, however it went. */
  private inTurn(add: (turn: Turn) => void): Promise<void> {
    const turn = (this.turn ??= this.beginTurn());
    add(turn);
    if (turn.all.length >= MOST_ASKED) this.turn = undefined;
    return turn.over;
  }

  private beginTurn(): Turn {
    const turn = new Turn();
    turn.over = this.askFor(turn);
    return turn;
  }

  private async askFor(turn: Turn): Promise<void> {
    // After all sockets that had something to say in this turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve));
    if (this.turn === turn) this.turn = undefined;
    for (const asked of turn.all) {
      if (asked.answers.length > 0) asked.ahead = this.reserved.wantedWith(asked.request);
    }
    try {
      await this.decideAll(turn.all);
    } catch (error) {
      for (const fail of turn.failures) fail(error);
    } finally {
      for (const { request, ahead } of turn.all) if (ahead > 0) this.reserved.endAsking(request.requester);
    }
  }

  private async decideAll(all: readonly Asked[]): Promise<void> {
    const keys = all.map(({ request }) => keyOf(request.requester));
    const held = await this.inTime(this.redis.countRequestsBuffer(keys.length, ...keys, this.packed(all)));
    let at = 0;
    for (const asked of all) at = this.decideEach(asked, held, at);
  }

  /** As request-counter-scripts.ts reads it. */
  private packed(all: readonly Asked[]): Buffer {
    const { refusals, firstBan, longestBan } = this.policy;
    const bytes = Buffer.allocUnsafe((3 + 7 * all.length) * 8);
    let at = 0;
    for (const number of [refusals, firstBan, longestBan]) at = bytes.writeDoubleLE(number, at);
    for (const { request, answers, back, ahead } of all) {
      const { requester, limits, now } = request;
      at = bytes.writeBigInt64LE('keyId' in requester ? requester.keyId : NO_KEY, at);
      at = bytes.writeDoubleLE(back, at);
      at = bytes.writeDoubleLE(answers.length, at);
      at = bytes.writeDoubleLE(now, at);
      at = bytes.writeDoubleLE(limits.perMinute, at);
      at = bytes.writeDoubleLE(limits.perDay, at);
      at = bytes.writeDoubleLE(ahead, at);
    }
    return bytes;
  }

  /**
   * What became of each request, as Redis has decided it: by the domain's rules, from what was held before.
   *
   * @param at where theirs begins in what was held.
   * @returns where it ends.
   */
  private decideEach({ request, answers, ahead }: Asked, held: Buffer, at: number): number {
    const { requester, limits, now } = request;
    const isKey = 'keyId' in requester;
    let usage = usageFrom(held, at);
    let refusals = isKey ? refusalsFrom(held, at + FOUR) : undefined;
    for (const answer of answers) {
      const decision = decide(usage, refusals, limits, now, this.policy);
      usage = decision.usage;
      if (isKey) refusals = decision.refusals;
      answer(decision);
    }
    if (ahead > 0 && refusals !== undefined) {
      this.reserved.keep(request, currentUsage(usage, now), refusals, ahead);
    }
    return at + (isKey ? 2 : 1) * FOUR;
  }

  async look({ requester, limits, now }: CountedRequest): Promise<Verdict> {
    const held = await this.inTime(this.redis.getBuffer(keyOf(requester)));
    if (held === null) return verdictOn(NO_USAGE, limits, NO_REFUSALS, now);
    const refusals = 'keyId' in requester ? refusalsOf(requester.keyId, held) : undefined;
    return verdictOn(this.withoutReserved(requester, usageFrom(held)), limits, refusals, now);
  }

  private withoutReserved(requester: Requester, usage: Usage): Usage {
    const left = this.reserved.leftOf(requester, usage);
    return { ...usage, minuteUsed: usage.minuteUsed - left, dayUsed: usage.dayUsed - left };
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
      const nobodys = { requester: { address: 'probe' }, limits: UNLIMITED, now: instant(DAY) };
      await this.decideAll([{ request: nobodys, answers: [() => undefined], back: 0, ahead: 0 }]);
    } catch (error) {
      if (this.isReady) this.redis.disconnect(true);
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.reserved.close();
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

/** Where an account stands, all of its API keys with it, or an address. */
function keyOf(requester: Requester): string {
  return 'address' in requester ? `limits:address:${requester.address}` : `limits:account:${requester.accountId}`;
}

// How request-counter-scripts.ts packs what it holds.

/** Bytes of an id, and of four numbers. */
const ID = 8;
const FOUR = 32;
/** In place of an API key's id. */
const NO_KEY = -1n;

function usageFrom(held: Buffer, at = 0): Usage {
  return {
    minuteStart: instant(held.readDoubleLE(at)),
    minuteUsed: held.readDoubleLE(at + 8),
    dayStart: instant(held.readDoubleLE(at + 16)),
    dayUsed: held.readDoubleLE(at + 24),
  };
}

function refusalsOf(keyId: ApiKeyId, held: Buffer): Refusals {
  for (let at = FOUR; at < held.length; at += ID + FOUR) {
    if (held.readBigInt64LE(at) === keyId) return refusalsFrom(held, at + ID);
  }
  return NO_REFUSALS;
}

function refusalsFrom(held: Buffer, at: number): Refusals {
  const minuteStart = held.readDoubleLE(at);
  if (minuteStart === 0) return NO_REFUSALS;
  return {
    minuteStart: instant(minuteStart),
    count: held.readDoubleLE(at + 8),
    bannedAt: instant(held.readDoubleLE(at + 16)),
    bannedUntil: instant(held.readDoubleLE(at + 24)),
  };
}
