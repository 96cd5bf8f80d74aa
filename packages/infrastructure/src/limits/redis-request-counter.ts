import {
  type ApiKeyId,
  banEnd,
  type BanPolicy,
  type CountedRequest,
  decideAdmission,
  type Decision,
  DAY,
  type Instant,
  type KeyRequester,
  MOST_SKEW,
  NO_USAGE,
  type Refusals,
  type RequestCounter,
  type Requester,
  type Usage,
  type Verdict,
  verdictOn,
} from '@adoption-store/domain';
import { othersToArrive } from '../kernel/arrivals.js';
import { answerWithin } from '../kernel/answers.js';
import { RedisConnection } from './redis-connection.js';
import { requestCounterScript } from './request-counter-script.js';

/** Requests of one requester with the same limits. They are sent together, and decided one after another. */
interface Group extends CountedRequest {
  requests: number;
  /** Settles once Redis has answered. */
  answer: Promise<void> | undefined;
  /** The usage before the next request of this group, once Redis has answered. */
  usage: Usage;
  /** Only for keys. */
  refusals: Refusals | undefined;
  /** The time of the decision: `now`, or Redis' time if the two differ too much. */
  at: Instant;
}

/** What Redis answers for a group: the numbers of both fields before its requests, and Redis' time if that decided. */
type Answer = readonly [
  ...[minuteStart: Instant, minuteUsed: number, dayStart: Instant, dayUsed: number],
  ...[refusedMinute: Instant, refusals: number, bannedAt: Instant, bannedUntil: Instant],
  otherNow: Instant | 0,
];

/** The most groups in one call. So many take Redis about 3 ms. */
const MOST_GROUPS = 500;

/** With so many requests a call doesn't wait for more: its own cost is small beside theirs. */
const ENOUGH = 64;

/** Milliseconds until a request is decided in process instead. This leaves time to do so within 50 ms. */
const DEFAULT_TIMEOUT = 40;

/** The key of the probe's requester, which doesn't exist and is never refused. */
const PROBE_KEY = 'quota:address:probe';
const PROBE = `0 1 ${DAY} Infinity Infinity`;

/** Two clocks that each differ from Redis' clock by at most this differ from each other by at most MOST_SKEW. */
const TOLERANCE = MOST_SKEW / 2;

/** Counts in a Redis that all instances share. Rejects if Redis doesn't answer in time. */
export class RedisRequestCounter implements RequestCounter {
  /** The requests that arrive together, by API key or address. They are sent together. */
  private groups = new Map<ApiKeyId | string, Group>();
  /** Sends a group with the others. */
  private send: (group: Group) => Promise<void> = (group) => this.ask([group]);

  private constructor(
    private readonly connection: RedisConnection,
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
    urls: readonly string[],
    policy: BanPolicy,
    timeout = DEFAULT_TIMEOUT,
    tolerance = TOLERANCE,
  ): Promise<RedisRequestCounter> {
    const connection = await RedisConnection.open(urls, requestCounterScript(policy, tolerance));
    return new RedisRequestCounter(connection, policy, timeout);
  }

  /** Whether Redis is connected. If not, a request rejects immediately. */
  get isReady(): boolean {
    return this.connection.isReady;
  }

  /** The reason why the connection failed; undefined once connected. */
  get connectionError(): Error | undefined {
    return this.connection.error;
  }

  get endedConnections(): number {
    return this.connection.ended;
  }

  async count(request: CountedRequest): Promise<Verdict> {
    return (await this.decide(request)).verdict;
  }

  /** Counts a request. The decision has the verdict and the counts after it. */
  decide(request: CountedRequest): Promise<Decision> {
    const group = this.groupWith(request);
    group.requests += 1;
    group.answer ??= this.send(group);
    return group.answer.then(() => {
      const decision = decideAdmission(group, group.limits, group.at, this.policy);
      group.usage = decision.usage;
      group.refusals &&= decision.refusals;
      return decision;
    });
  }

  async peek(request: CountedRequest): Promise<Verdict> {
    const group = groupOf(request);
    await this.ask([group]);
    return verdictOn(group.usage, group.limits, group.refusals, group.at);
  }

  async bansOf(requesters: readonly KeyRequester[], now: Instant): Promise<ReadonlyMap<ApiKeyId, Instant>> {
    const limits = { perMinute: Infinity, perDay: Infinity };
    const groups = requesters.map((requester) => ({ keyId: requester.keyId, ...groupOf({ requester, limits, now }) }));
    await Promise.all(this.callsOf(groups).map((call) => this.ask(call)));
    return new Map(
      groups.flatMap(({ keyId, refusals, at }) => {
        const end = banEnd(refusals, at);
        return end === undefined ? [] : [[keyId, end] as const];
      }),
    );
  }

  /** Does nothing, because the keys in Redis expire by themselves. */
  async purge(): Promise<number> {
    return 0;
  }

  /**
   * Resolves if a request can be counted now on each primary. It counts a request instead of sending a PING, because a
   * Redis that answers may be full, or a replica. Connections that don't answer are replaced.
   */
  async probe(): Promise<void> {
    const { connection, timeout } = this;
    try {
      const keys = await answerWithin(timeout, connection.keysOfPrimaries(PROBE_KEY));
      await Promise.all(keys.map((key) => answerWithin(timeout, connection.countRequests([key], PROBE))));
      connection.error = undefined;
    } catch (error) {
      await connection.replaceSilent(timeout);
      throw error;
    }
  }

  close(): void {
    this.connection.close();
  }

  private groupWith(request: CountedRequest): Group {
    const { requester, limits } = request;
    const id = 'keyId' in requester ? requester.keyId : requester.address;
    const known = this.groups.get(id);
    if (known?.limits.perMinute === limits.perMinute && known.limits.perDay === limits.perDay) return known;
    if (this.groups.size === 0 || this.groups.size === MOST_GROUPS || known !== undefined) this.gather();
    const group = groupOf(request);
    this.groups.set(id, group);
    return group;
  }

  private gather(): void {
    const groups = new Map<ApiKeyId | string, Group>();
    this.groups = groups;
    // Zero now, so a turn of the event loop always follows the first request's.
    const count = () => [...groups.values()].reduce((sum, { requests }) => sum + requests, 0);
    const gathered = othersToArrive(count, ENOUGH).then(() => {
      if (this.groups === groups) this.groups = new Map();
    });
    if (this.connection.isCluster) this.send = (group) => gathered.then(() => this.ask([group]));
    else {
      const answer = gathered.then(() => this.ask([...groups.values()]));
      this.send = () => answer;
    }
  }

  private callsOf(groups: readonly Group[]): readonly (readonly Group[])[] {
    if (this.connection.isCluster) return groups.map((group) => [group]);
    return groups.length > 0 ? [groups] : [];
  }

  private async ask(groups: readonly Group[]): Promise<void> {
    const keys = groups.map(({ requester }) => keyOf(requester));
    let argument = '';
    for (const { requester, requests, now, limits } of groups) {
      argument += `${apiKeyOf(requester)} ${requests} ${now} ${limits.perMinute} ${limits.perDay} `;
    }
    // Not `commandTimeout`: after a long iteration of the event loop it would drop answers that have already arrived.
    const answer = await answerWithin(this.timeout, this.connection.countRequests(keys, argument));
    const all = JSON.parse(answer) as Answer[];
    all.forEach((each, index) => {
      const group = groups[index];
      if (group !== undefined) read(each, group);
    });
  }
}

function groupOf({ requester, limits, now }: CountedRequest): Group {
  return { requester, limits, now, requests: 0, answer: undefined, usage: NO_USAGE, refusals: undefined, at: now };
}

function keyOf(requester: Requester): string {
  return 'address' in requester ? `quota:address:${requester.address}` : `quota:account:${requester.accountId}`;
}

function apiKeyOf(requester: Requester): string {
  return 'keyId' in requester ? String(requester.keyId) : '0';
}

function read(answer: Answer, group: Group): void {
  const [minuteStart, minuteUsed, dayStart, dayUsed, refusedMinute, count, bannedAt, bannedUntil, otherNow] = answer;
  group.usage = { minuteStart, minuteUsed, dayStart, dayUsed };
  if ('keyId' in group.requester) group.refusals = { minuteStart: refusedMinute, count, bannedAt, bannedUntil };
  if (otherNow !== 0) group.at = otherNow;
}
