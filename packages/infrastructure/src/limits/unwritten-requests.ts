import { randomInt } from 'node:crypto';
import {
  type AccountId,
  type ApiKeyId,
  HOUR,
  type Instant,
  MINUTE,
  MOST_FAILED_REQUESTS,
  type RecordedRequest,
  type ShownFailedRequest,
  startOf,
} from '@adoption-store/domain';
import type { Writable } from '../kernel/writable.js';

/** The most keys whose uses are held. The use of a further key is recorded in a later minute. */
export const MOST_KEYS = 10_000;
/** The most operations, and the most hours, of keys that are held: about 10 MB each. */
export const MOST_HELD = 50_000;
/** The most failed requests of all accounts together that are held: about 5 MB. */
export const MOST_HELD_FAILED_REQUESTS = 20_000;

export interface KeyUse {
  readonly keyId: ApiKeyId;
  readonly at: Instant;
}

export interface OperationOfKey extends KeyUse {
  readonly operation: string;
}

export interface HourOfKey {
  readonly keyId: ApiKeyId;
  readonly start: Instant;
  readonly admitted: number;
  readonly refused: number;
  readonly lastAt: Instant;
}

export interface UnwrittenFailedRequest extends Omit<ShownFailedRequest, 'key'> {
  readonly accountId: AccountId;
  /** A repeated write has the same ids, so it adds no failed request twice. */
  readonly id: number;
}

/**
 * Records of requests that are not yet written. Each kind has its own limit, so that one can't displace another: a
 * flood of failed requests never costs the record of usage.
 */
export class UnwrittenRequests {
  private minute: Instant | undefined;
  /** The keys that were used in this minute, with their operations. Each is recorded once a minute. */
  private known = new Map<ApiKeyId, Set<string>>();
  private uses = new Map<ApiKeyId, KeyUse>();
  private operations = new Map<string, OperationOfKey>();
  private hours = new Map<Instant, Map<ApiKeyId, Writable<HourOfKey>>>();
  private heldHours = 0;
  /** The last failed requests of each account, the oldest first. */
  private failedRequests = new Map<AccountId, UnwrittenFailedRequest[]>();
  private heldFailedRequests = 0;
  /** Refusals that were not recorded because too many waited to be written. */
  droppedFailedRequests = 0;
  /** The upper bits are random, so that two processes don't have the same ids. */
  private nextId = randomInt(2 ** 20) * 2 ** 32;

  add({ accountId, keyId, at, isUse, isAdmitted, operation, failedRequest }: RecordedRequest): void {
    if (isUse) this.use(keyId, startOf(MINUTE, at), operation);
    if (isAdmitted !== undefined) {
      const [admitted, refused] = isAdmitted ? [1, 0] : [0, 1];
      this.keepHour({ keyId, start: startOf(HOUR, at), admitted, refused, lastAt: at });
    }
    if (failedRequest !== undefined) {
      this.keepFailedRequest({ ...failedRequest, id: this.nextId, accountId, keyId, at });
      this.nextId += 1;
    }
  }

  /** Returns everything, and forgets it. */
  take() {
    const { uses, operations, hours, failedRequests } = this;
    this.uses = new Map();
    this.operations = new Map();
    this.hours = new Map();
    this.heldHours = 0;
    this.failedRequests = new Map();
    this.heldFailedRequests = 0;
    return {
      uses: [...uses.values()],
      operations: [...operations.values()],
      hours: [...hours.values()].flatMap((keys): HourOfKey[] => [...keys.values()]),
      failedRequests: [...failedRequests.values()].flat(),
    };
  }

  readonly keepUse = (use: KeyUse): void => {
    keepLatest(this.uses, use.keyId, use, MOST_KEYS);
  };

  readonly keepOperation = (use: OperationOfKey): void => {
    keepLatest(this.operations, `${use.keyId} ${use.operation}`, use, MOST_HELD);
  };

  readonly keepHour = (hour: HourOfKey): void => {
    const keys = this.hours.get(hour.start) ?? new Map<ApiKeyId, Writable<HourOfKey>>();
    const known = keys.get(hour.keyId);
    if (known !== undefined) {
      known.admitted += hour.admitted;
      known.refused += hour.refused;
      if (hour.lastAt > known.lastAt) known.lastAt = hour.lastAt;
    } else if (this.heldHours < MOST_HELD) {
      this.heldHours += 1;
      this.hours.set(hour.start, keys.set(hour.keyId, { ...hour }));
    }
  };

  readonly keepFailedRequest = (failedRequest: UnwrittenFailedRequest): void => {
    const theirs = this.failedRequests.get(failedRequest.accountId) ?? [];
    // An account never shows more than its last MOST_FAILED_REQUESTS, so one more than those isn't missed.
    const isMissed = theirs.length < MOST_FAILED_REQUESTS && this.heldFailedRequests >= MOST_HELD_FAILED_REQUESTS;
    if (isMissed) this.droppedFailedRequests += 1;
    if (isMissed && theirs.length === 0) return;
    // The account's oldest failed request makes room for this one.
    if (isMissed || theirs.length >= MOST_FAILED_REQUESTS) theirs.shift();
    else this.heldFailedRequests += 1;
    theirs.push(failedRequest);
    this.failedRequests.set(failedRequest.accountId, theirs);
  };

  private use(keyId: ApiKeyId, minute: Instant, operation: string | undefined): void {
    if (minute !== this.minute) {
      this.minute = minute;
      this.known = new Map();
    }
    const known = this.known.get(keyId) ?? new Set<string>();
    if (!this.known.has(keyId)) {
      if (this.known.size < MOST_KEYS) this.known.set(keyId, known);
      this.keepUse({ keyId, at: minute });
    }
    if (operation === undefined || known.has(operation)) return;
    known.add(operation);
    this.keepOperation({ keyId, operation, at: minute });
  }
}

function keepLatest<Key, Use extends KeyUse>(uses: Map<Key, Use>, key: Key, use: Use, most: number): void {
  const known = uses.get(key);
  if (known === undefined ? uses.size < most : known.at < use.at) uses.set(key, use);
}
