import {
  type AccountId,
  type ApiKeyId,
  type FailedRequests,
  failureOf,
  HOUR,
  type Instant,
  joined,
  keptFailedRequests,
  MINUTE,
  MOST_FAILED_REQUESTS,
  type RecordedRequest,
  startOf,
} from '@adoption-store/domain';
import type { Writable } from '../kernel/writable.js';

/** The most keys whose uses are held. The use of a further key is recorded in a later minute. */
export const MOST_KEYS = 10_000;
/** The most operations, and the most hours, of keys that are held: about 10 MB each. */
export const MOST_HELD = 50_000;
/**
 * The most failed requests of all accounts together that are held, equal ones once. Each has a reason of at most 300
 * characters and 10 request ids of at most 64: about 8 MB, and at most 25.
 */
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

/** A key that was used in this minute. */
interface UsedKey {
  readonly operations: string[];
  /** Its unwritten hour of the last request, so that a request looks up its key once. */
  hour: Writable<HourOfKey> | undefined;
}

export interface UnwrittenFailedRequests extends FailedRequests {
  readonly accountId: AccountId;
}

/**
 * Records of requests that are not yet written. Each kind has its own limit, so that one can't displace another: a
 * flood of failed requests never costs the record of usage.
 */
export class UnwrittenRequests {
  private minute: Instant | undefined;
  /** The keys that were used in this minute. Each is recorded once a minute, as is each of its operations. */
  private known = new Map<ApiKeyId, UsedKey>();
  private uses = new Map<ApiKeyId, KeyUse>();
  private operations = new Map<string, OperationOfKey>();
  private hours = new Map<Instant, Map<ApiKeyId, Writable<HourOfKey>>>();
  private heldHours = 0;
  /** The failed requests of each account by their failure. */
  private failedRequests = new Map<AccountId, Map<string, UnwrittenFailedRequests>>();
  private heldFailedRequests = 0;
  /** Failed requests that were not recorded because too many waited to be written. */
  droppedFailedRequests = 0;

  add({ accountId, keyId, at, isUse, isAdmitted, operation, failedRequest }: RecordedRequest): void {
    const key = isUse ? this.use(keyId, startOf(MINUTE, at), operation) : undefined;
    if (isAdmitted !== undefined) this.count(keyId, at, isAdmitted, key);
    if (failedRequest !== undefined) {
      const { requestId, ...failure } = failedRequest;
      this.keepFailedRequests({ ...failure, accountId, keyId, at, count: 1, requestIds: [requestId] });
    }
  }

  /** Returns everything, and forgets it. */
  take() {
    const { uses, operations, hours, failedRequests } = this;
    this.uses = new Map();
    this.operations = new Map();
    this.hours = new Map();
    this.heldHours = 0;
    for (const key of this.known.values()) key.hour = undefined;
    this.failedRequests = new Map();
    this.heldFailedRequests = 0;
    return {
      uses: [...uses.values()],
      operations: [...operations.values()],
      hours: [...hours.values()].flatMap((keys): HourOfKey[] => [...keys.values()]),
      failedRequests: [...failedRequests.values()].flatMap((theirs) => keptFailedRequests([...theirs.values()])),
    };
  }

  readonly keepUse = (use: KeyUse): void => {
    keepLatest(this.uses, use.keyId, use, MOST_KEYS);
  };

  readonly keepOperation = (use: OperationOfKey): void => {
    keepLatest(this.operations, `${use.keyId} ${use.operation}`, use, MOST_HELD);
  };

  readonly keepHour = ({ keyId, start, admitted, refused, lastAt }: HourOfKey): void => {
    const hour = this.hourOf(keyId, start);
    if (hour === undefined) return;
    hour.admitted += admitted;
    hour.refused += refused;
    if (lastAt > hour.lastAt) hour.lastAt = lastAt;
  };

  readonly keepFailedRequests = (added: UnwrittenFailedRequests): void => {
    const { accountId } = added;
    const theirs = this.failedRequests.get(accountId) ?? new Map<string, UnwrittenFailedRequests>();
    const failure = failureOf(added);
    const known = theirs.get(failure);
    if (known !== undefined) {
      theirs.set(failure, { ...joined(known, added), accountId });
      return;
    }
    theirs.set(failure, added);
    this.heldFailedRequests += 1;
    const isFull = () => this.heldFailedRequests > MOST_HELD_FAILED_REQUESTS;
    // Twice as many, so that a flood is sorted once in a hundred requests.
    if (isFull() || theirs.size >= 2 * MOST_FAILED_REQUESTS) this.dropOld(theirs);
    if (isFull()) {
      theirs.delete(failure);
      this.heldFailedRequests -= 1;
      this.droppedFailedRequests += 1;
    } else this.failedRequests.set(accountId, theirs);
  };

  /** Of several of the same time, the earlier ones. */
  private dropOld(theirs: Map<string, UnwrittenFailedRequests>): void {
    const kept = new Set(keptFailedRequests([...theirs.values()].reverse()));
    this.heldFailedRequests -= theirs.size - kept.size;
    for (const [failure, each] of theirs) if (!kept.has(each)) theirs.delete(failure);
  }

  private use(keyId: ApiKeyId, minute: Instant, operation: string | undefined): UsedKey {
    if (minute !== this.minute) {
      this.minute = minute;
      this.known = new Map();
    }
    let key = this.known.get(keyId);
    if (key === undefined) {
      key = { operations: [], hour: undefined };
      if (this.known.size < MOST_KEYS) this.known.set(keyId, key);
      this.keepUse({ keyId, at: minute });
    }
    if (operation !== undefined && !key.operations.includes(operation)) {
      key.operations.push(operation);
      this.keepOperation({ keyId, operation, at: minute });
    }
    return key;
  }

  private count(keyId: ApiKeyId, at: Instant, isAdmitted: boolean, key: UsedKey | undefined): void {
    const start = startOf(HOUR, at);
    const hour = key?.hour?.start === start ? key.hour : this.hourOf(keyId, start);
    if (key !== undefined) key.hour = hour;
    if (hour === undefined) return;
    if (isAdmitted) hour.admitted += 1;
    else hour.refused += 1;
    if (at > hour.lastAt) hour.lastAt = at;
  }

  /** Undefined if there is no room for it. */
  private hourOf(keyId: ApiKeyId, start: Instant): Writable<HourOfKey> | undefined {
    const keys = this.hours.get(start) ?? new Map<ApiKeyId, Writable<HourOfKey>>();
    const known = keys.get(keyId);
    if (known !== undefined || this.heldHours >= MOST_HELD) return known;
    const hour = { keyId, start, admitted: 0, refused: 0, lastAt: start };
    this.heldHours += 1;
    this.hours.set(start, keys.set(keyId, hour));
    return hour;
  }
}

function keepLatest<Key, Use extends KeyUse>(uses: Map<Key, Use>, key: Key, use: Use, most: number): void {
  const known = uses.get(key);
  if (known === undefined ? uses.size < most : known.at < use.at) uses.set(key, use);
}
