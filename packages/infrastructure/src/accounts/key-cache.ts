import type { AccountKey } from '@adoption-store/domain';
import { Batch } from '../database/batch.js';

/**
 * Milliseconds for which an entry is used. A revocation takes effect within this time even without its notification.
 */
const TRUSTED_FOR = 1_000;
/**
 * Age in milliseconds from which a used entry is refreshed in the background. Half of `TRUSTED_FOR` is left for
 * retries.
 */
const REFRESH_AFTER = 500;
const MOST_ENTRIES = 10_000;
/** Hashes in one query. */
const BATCH = 1_000;

interface Entry {
  readonly found: AccountKey;
  /** Time of `performance.now()` before the query was sent. */
  readonly readAt: number;
}

/**
 * A cache of API keys with their accounts, by the keys' hashes. Entries are at most one second old, even while the
 * database is down. Entries in use are refreshed earlier, so their requests don't wait. Unknown hashes are not cached.
 */
export class KeyCache {
  /** The least recently read entry is first. It is also the least recently used. */
  private readonly entries = new Map<string, Entry>();
  /** Reads in progress, shared by their callers. Replaced at each change, because earlier reads may return old data. */
  private reads = new Map<string, Promise<AccountKey | undefined>>();
  // Two batches, so that look-ups of unknown keys don't delay those of known ones.
  private readonly known;
  private readonly unknown;

  /**
   * @param findAll returns the key of each hash, or undefined.
   * @param onEntry called (repeatedly) when there is an entry. From then on `forget` must be called for changes.
   */
  constructor(
    findAll: (hashes: readonly string[]) => Promise<readonly (AccountKey | undefined)[]>,
    private readonly onEntry: () => void,
  ) {
    const find = async (hash: string) => (await findAll([hash]))[0];
    this.known = new Batch(find, findAll, BATCH);
    this.unknown = new Batch(find, findAll, BATCH);
  }

  /** @throws DomainError `service_unavailable` */
  async find(hash: string): Promise<AccountKey | undefined> {
    const entry = this.entries.get(hash);
    const age = entry === undefined ? Infinity : performance.now() - entry.readAt;
    if (age < REFRESH_AFTER) return entry?.found;
    const reading = this.read(hash);
    if (age >= TRUSTED_FOR) return reading;
    // The caller doesn't wait. A failure is reported once the entry is too old.
    reading.catch(() => undefined);
    return entry?.found;
  }

  /** Drops the entries and reads that a change may have made wrong. */
  forget(isConcerned: (found: AccountKey) => boolean): void {
    this.reads = new Map();
    for (const [hash, { found }] of this.entries) if (isConcerned(found)) this.entries.delete(hash);
  }

  private read(hash: string): Promise<AccountKey | undefined> {
    const reading = this.reads.get(hash) ?? this.readNew(hash, this.reads);
    this.reads.set(hash, reading);
    return reading;
  }

  private async readNew(hash: string, reads: typeof this.reads): Promise<AccountKey | undefined> {
    const readAt = performance.now();
    try {
      const found = await (this.entries.has(hash) ? this.known : this.unknown).add(hash);
      if (reads === this.reads) this.keep(hash, found, readAt);
      return found;
    } finally {
      reads.delete(hash);
    }
  }

  private keep(hash: string, found: AccountKey | undefined, readAt: number): void {
    this.entries.delete(hash);
    if (found === undefined) return;
    const [oldest] = this.entries.keys();
    if (this.entries.size >= MOST_ENTRIES && oldest !== undefined) this.entries.delete(oldest);
    this.entries.set(hash, { found, readAt });
    this.onEntry();
  }
}
