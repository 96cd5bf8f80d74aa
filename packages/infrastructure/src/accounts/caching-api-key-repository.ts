import {
  type AccountId,
  type AccountKey,
  type ApiKey,
  type ApiKeyId,
  type ApiKeyRepository,
  DomainError,
  type Instant,
  type ListPart,
  type NewApiKey,
  type PastKeysQuery,
} from '@adoption-store/domain';
import { KnownKey, type StoredKey, TRUSTED_FOR } from './known-key.js';

/** API keys that can be looked up many at a time. */
export interface BatchedApiKeyRepository extends ApiKeyRepository {
  /**
   * What is stored for these hashes, undefined where nothing is (any more). Left out is what is still of the version that
   * the asker knows of it.
   */
  findByHashes(known: ReadonlyMap<string, string | undefined>): Promise<ReadonlyMap<string, StoredKey | undefined>>;
}

/** What is known to have changed: a key, all keys of an account, or, where news may have been missed, anything. */
export type KeyChange = { readonly key: ApiKeyId } | { readonly account: AccountId } | { readonly anything: true };

/** Leaves one that fails three more tries, and one that is slow 600 ms, before its entries are no longer believed. */
const CONFIRM_EVERY = 400;
const CONFIRM_AGAIN_AFTER = 150;
/** A key that was used within this time goes on being confirmed. */
const IN_USE_FOR = 5_000;
/** Hashes in one query. */
const BATCH = 500;
const MOST_KNOWN = 10_000;
/** Those that are let go together, as it takes a look at all to find them. */
const LET_GO = 500;
const MOST_MISSES = 10_000;

/** A look-up that is waited for; all who ask for one hash share it. */
interface Waiting {
  readonly promise: Promise<AccountKey | undefined>;
  readonly resolve: (found: AccountKey | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * API keys by their hashes from memory, as the database has confirmed them within the last second. Keys in use are
 * confirmed again in the background before that second is over, so that their requests never wait. What has not been
 * confirmed is asked for, and while the database is away that fails: nobody is let in by an old answer.
 *
 * There is one look-up query at a time, and one confirmation: unknown keys, however many, can't take the connections of
 * everybody else.
 */
export class CachingApiKeyRepository implements ApiKeyRepository {
  private readonly known = new Map<string, KnownKey>();
  /** When the database was asked for a hash that it did not know, the oldest first. */
  private readonly misses = new Map<string, number>();
  private readonly pending = { known: new Map<string, Waiting>(), unknown: new Map<string, Waiting>() };
  private isLookingUp = false;
  /** Counts the changes; an answer to a question from before one may be from before it. */
  private changes = 0;
  private timer: NodeJS.Timeout | undefined;
  private isClosed = false;

  /** @param follow is called, more than once, where there is something to keep: from then on changes should be told. */
  constructor(
    private readonly inner: BatchedApiKeyRepository,
    private readonly follow: () => void = () => undefined,
  ) {}

  async findByHash(hash: string): Promise<AccountKey | undefined> {
    const now = milliseconds();
    const known = this.known.get(hash);
    if (known !== undefined) {
      if (known.use(now)) return known;
    } else {
      const missedAt = this.misses.get(hash);
      if (missedAt !== undefined && now - missedAt < TRUSTED_FOR) return undefined;
    }
    return this.lookUp(hash, known !== undefined);
  }

  async add(key: NewApiKey, mostActive?: number, version?: number, mostADay?: number): Promise<ApiKey> {
    return this.changing(undefined, this.inner.add(key, mostActive, version, mostADay));
  }

  async findById(id: ApiKeyId): Promise<AccountKey | undefined> {
    return this.inner.findById(id);
  }

  async list(accountId?: AccountId, part?: ListPart<ApiKeyId>): Promise<readonly AccountKey[]> {
    return this.inner.list(accountId, part);
  }

  async listActive(accountId: AccountId, at: Instant): Promise<readonly ApiKey[]> {
    return this.inner.listActive(accountId, at);
  }

  async listPast(query: PastKeysQuery): Promise<readonly ApiKey[]> {
    return this.inner.listPast(query);
  }

  async forgetPast(endedUntil: Instant): Promise<number> {
    return this.inner.forgetPast(endedUntil);
  }

  async revoke(id: ApiKeyId, at: Instant): Promise<ApiKey | undefined> {
    return this.changing({ key: id }, this.inner.revoke(id, at));
  }

  async replace(
    id: ApiKeyId,
    replacement: NewApiKey,
    oldEndsAt: Instant,
    mostActive?: number,
    version?: number,
    mostADay?: number,
  ): Promise<ApiKey | undefined> {
    return this.changing({ key: id }, this.inner.replace(id, replacement, oldEndsAt, mostActive, version, mostADay));
  }

  async takeBack(id: ApiKeyId, at: Instant, replaced?: ApiKey): Promise<void> {
    await this.changing({ key: id }, this.inner.takeBack(id, at, replaced));
    if (replaced !== undefined) this.forget({ key: replaced.id });
  }

  recordUse(id: ApiKeyId, at: Instant): void {
    this.inner.recordUse(id, at);
  }

  /** Drops what the change may have made wrong; after any, there may be a new key, whose hash nobody says. */
  forget(change: KeyChange | undefined): void {
    this.changes += 1;
    this.misses.clear();
    if (change === undefined) return;
    for (const known of this.known.values()) if (concerns(change, known)) this.drop(known);
  }

  /** Ends the confirmations. */
  close(): void {
    this.isClosed = true;
    clearTimeout(this.timer);
    this.forget({ anything: true });
  }

  private async changing<Result>(change: KeyChange | undefined, work: Promise<Result>): Promise<Result> {
    try {
      return await work;
    } finally {
      // Also where it failed: a commit whose answer was lost has happened nevertheless.
      this.forget(change);
    }
  }

  /** @param isKnown goes before those that nobody has ever had an answer for. */
  private lookUp(hash: string, isKnown: boolean): Promise<AccountKey | undefined> {
    const { known, unknown } = this.pending;
    const waiting = known.get(hash) ?? unknown.get(hash);
    if (waiting !== undefined) return waiting.promise;
    const first = newWaiting();
    (isKnown ? known : unknown).set(hash, first);
    if (!this.isLookingUp) void this.lookUpPending();
    return first.promise;
  }

  private async lookUpPending(): Promise<void> {
    this.isLookingUp = true;
    for (let batch = this.nextBatch(BATCH); batch.size > 0; batch = this.nextBatch(BATCH)) {
      try {
        await this.lookUpBatch(batch);
      } catch (error) {
        // Those in line would only find the same out one after the other.
        // Apart from each other, as both may have the same hash.
        const failed = isUnavailable(error) ? [batch, this.nextBatch(Infinity)] : [batch];
        for (const each of failed) for (const { reject } of each.values()) reject(error);
      }
    }
    this.isLookingUp = false;
  }

  private nextBatch(size: number): Map<string, Waiting> {
    const batch = new Map<string, Waiting>();
    for (const queue of [this.pending.known, this.pending.unknown]) {
      for (const [hash, waiting] of queue) {
        if (batch.size >= size) return batch;
        batch.set(hash, waiting);
        queue.delete(hash);
      }
    }
    return batch;
  }

  private async lookUpBatch(batch: ReadonlyMap<string, Waiting>): Promise<void> {
    const { changes } = this;
    const askedAt = milliseconds();
    const stored = await this.inner.findByHashes(new Map(Array.from(batch.keys(), (hash) => [hash, undefined])));
    for (const [hash, { resolve }] of batch) {
      const answer = stored.get(hash);
      const found = answer && new KnownKey(answer, askedAt, milliseconds());
      // An answer from before a change is one for those who asked before it, and for nobody else.
      if (changes !== this.changes || !this.keep(hash, found, askedAt)) found?.drop();
      resolve(found);
    }
  }

  /** Whether the answer is the latest. */
  private keep(hash: string, found: KnownKey | undefined, askedAt: number): boolean {
    const known = this.known.get(hash);
    // A confirmation may have been asked for later, and answered earlier.
    if (this.isClosed || (known?.confirmedAt ?? askedAt) > askedAt) return false;
    if (known !== undefined) this.drop(known);
    this.misses.delete(hash);
    if (found === undefined) {
      putLast(this.misses, hash, askedAt, MOST_MISSES);
      return true;
    }
    if (this.known.size >= MOST_KNOWN) this.dropUnused();
    this.known.set(hash, found);
    this.confirmLater();
    return true;
  }

  private drop(known: KnownKey): void {
    known.drop();
    this.known.delete(known.key.hash);
  }

  private dropUnused(): void {
    const byUse = [...this.known.values()].sort((one, other) => one.usedAt - other.usedAt);
    for (const known of byUse.slice(0, LET_GO)) this.drop(known);
  }

  private confirmLater(delay = CONFIRM_EVERY): void {
    if (this.isClosed || this.timer !== undefined) return;
    this.follow();
    this.timer = setTimeout(() => void this.confirm(), delay).unref();
  }

  private async confirm(): Promise<void> {
    const now = milliseconds();
    const inUse = [...this.known.values()].filter(({ usedAt }) => now - usedAt < IN_USE_FOR);
    let delay = CONFIRM_EVERY;
    for (let start = 0; start < inUse.length; start += BATCH) {
      try {
        await this.confirmBatch(inUse.slice(start, start + BATCH));
      } catch {
        // Nobody waits for this. What stays unconfirmed is no longer believed, and asked for by whoever needs it.
        delay = CONFIRM_AGAIN_AFTER;
      }
    }
    this.timer = undefined;
    if (inUse.length > 0) this.confirmLater(delay);
  }

  private async confirmBatch(batch: readonly KnownKey[]): Promise<void> {
    const askedAt = milliseconds();
    const changed = await this.inner.findByHashes(new Map(batch.map(({ key, version }) => [key.hash, version])));
    for (const known of batch) {
      // Changed while the database was asked: the answer may be from before that.
      if (known.isDropped) continue;
      const { hash } = known.key;
      if (!changed.has(hash)) {
        known.confirm(askedAt);
        continue;
      }
      this.drop(known);
      const stored = changed.get(hash);
      if (stored !== undefined) this.known.set(hash, new KnownKey(stored, askedAt, known.usedAt));
    }
  }
}

function milliseconds(): number {
  return Math.floor(performance.now());
}

function concerns(change: KeyChange, { key }: AccountKey): boolean {
  if ('key' in change) return key.id === change.key;
  return 'anything' in change || key.accountId === change.account;
}

/** Adds what is not there yet, and lets the first go where there are too many. */
function putLast<Value>(map: Map<string, Value>, key: string, value: Value, most: number): void {
  map.set(key, value);
  if (map.size <= most) return;
  const [first = key] = map.keys();
  map.delete(first);
}

function newWaiting(): Waiting {
  let resolve: Waiting['resolve'] = () => undefined;
  let reject: Waiting['reject'] = () => undefined;
  const promise = new Promise<AccountKey | undefined>((onFound, onError) => {
    resolve = onFound;
    reject = onError;
  });
  return { promise, resolve, reject };
}

function isUnavailable(error: unknown): boolean {
  return error instanceof DomainError && error.kind === 'unavailable';
}
