import { randomInt } from 'node:crypto';
import {
  type AccountId,
  type ApiKeyId,
  HOUR,
  type Instant,
  MINUTE,
  MOST_REFUSALS,
  type RecordedRequest,
  type ShownRefusal,
  startOf,
} from '@adoption-store/domain';
import type { Writable } from '../kernel/writable.js';

/** The most keys whose uses are held. The use of a further key is recorded in a later minute. */
export const MOST_KEYS = 10_000;
/** The most operations, and the most hours, of keys that are held: about 10 MB each. */
export const MOST_HELD = 50_000;
/** The most refusals of all accounts together that are held: about 5 MB. */
export const MOST_HELD_REFUSALS = 20_000;

/** The latest use of a key. */
export interface KeyUse {
  readonly keyId: ApiKeyId;
  readonly at: Instant;
}

export interface OperationOfKey extends KeyUse {
  readonly operation: string;
}

/** The outcomes of one key in one hour. */
export interface HourOfKey {
  readonly keyId: ApiKeyId;
  readonly start: Instant;
  readonly admitted: number;
  readonly refused: number;
  readonly lastAt: Instant;
}

export interface UnwrittenRefusal extends Omit<ShownRefusal, 'key'> {
  readonly accountId: AccountId;
  /** A repeated write has the same ids, so it adds no refusal twice. */
  readonly id: number;
}

/**
 * Records of requests that are not yet written. Each kind has its own limit, so that one can't displace another: a
 * flood of refusals never costs the record of usage.
 */
export class UnwrittenRequests {
  private minute: Instant | undefined;
  /** The keys that were used in this minute, with their operations. Each is recorded once a minute. */
  private known = new Map<ApiKeyId, Set<string>>();
  private uses = new Map<ApiKeyId, KeyUse>();
  private operations = new Map<string, OperationOfKey>();
  private hours = new Map<Instant, Map<ApiKeyId, Writable<HourOfKey>>>();
  private heldHours = 0;
  /** The last refusals of each account, the oldest first. */
  private refusals = new Map<AccountId, UnwrittenRefusal[]>();
  private heldRefusals = 0;
  /** Refusals that were not recorded because too many waited to be written. */
  droppedRefusals = 0;
  /** The upper bits are random, so that two processes don't have the same ids. */
  private nextId = randomInt(2 ** 20) * 2 ** 32;

  add({ accountId, keyId, at, isUse, isAdmitted, operation, refusal }: RecordedRequest): void {
    if (isUse) this.use(keyId, startOf(MINUTE, at), operation);
    if (isAdmitted !== undefined) {
      const [admitted, refused] = isAdmitted ? [1, 0] : [0, 1];
      this.keepHour({ keyId, start: startOf(HOUR, at), admitted, refused, lastAt: at });
    }
    if (refusal !== undefined) {
      this.keepRefusal({ ...refusal, id: this.nextId, accountId, keyId, at });
      this.nextId += 1;
    }
  }

  /** Returns everything, and forgets it. */
  take() {
    const { uses, operations, hours, refusals } = this;
    this.uses = new Map();
    this.operations = new Map();
    this.hours = new Map();
    this.heldHours = 0;
    this.refusals = new Map();
    this.heldRefusals = 0;
    return {
      uses: [...uses.values()],
      operations: [...operations.values()],
      hours: [...hours.values()].flatMap((keys): HourOfKey[] => [...keys.values()]),
      refusals: [...refusals.values()].flat(),
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

  readonly keepRefusal = (refusal: UnwrittenRefusal): void => {
    const theirs = this.refusals.get(refusal.accountId) ?? [];
    // An account never shows more than its last MOST_REFUSALS, so one more than those isn't missed.
    const isMissed = theirs.length < MOST_REFUSALS && this.heldRefusals >= MOST_HELD_REFUSALS;
    if (isMissed) this.droppedRefusals += 1;
    if (isMissed && theirs.length === 0) return;
    // The account's oldest refusal makes room for this one.
    if (isMissed || theirs.length >= MOST_REFUSALS) theirs.shift();
    else this.heldRefusals += 1;
    theirs.push(refusal);
    this.refusals.set(refusal.accountId, theirs);
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
