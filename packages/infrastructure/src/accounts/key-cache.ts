import type { AccountKey } from '@adoption-store/domain';
import { Batch } from '../database/batch.js';
import { type Answer, type ChangedRow, RecentChanges, rowsOf } from './recent-changes.js';

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
  /** The hashes of the entries that were made from a row. */
  private readonly hashes = new Map<ChangedRow, Set<string>>();
  /** Reads in progress, shared by their callers. */
  private readonly reads = new Map<string, Promise<Answer>>();
  private readonly changes = new RecentChanges(MOST_ENTRIES);
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

  /** Drops the entries that were made from a row which has changed. Without a row: all entries. */
  forget(row?: ChangedRow): void {
    this.changes.add(row);
    for (const hash of row === undefined ? this.entries.keys() : (this.hashes.get(row) ?? [])) this.drop(hash);
  }

  /** A read that began before a change may have missed it, so its callers share another one. */
  private async read(hash: string): Promise<AccountKey | undefined> {
    const answer = await this.shareRead(hash);
    return (this.changes.concern(answer) ? await this.shareRead(hash) : answer).found;
  }

  private shareRead(hash: string): Promise<Answer> {
    const reading = this.reads.get(hash) ?? this.readNew(hash);
    this.reads.set(hash, reading);
    return reading;
  }

  private async readNew(hash: string): Promise<Answer> {
    const readAt = performance.now();
    const changes = this.changes.count;
    try {
      const found = await (this.entries.has(hash) ? this.known : this.unknown).add(hash);
      const answer = { found, changes };
      if (!this.changes.concern(answer)) this.keep(hash, found, readAt);
      return answer;
    } finally {
      this.reads.delete(hash);
    }
  }

  private keep(hash: string, found: AccountKey | undefined, readAt: number): void {
    if (found === undefined) {
      this.drop(hash);
      return;
    }
    const isKnown = this.entries.delete(hash);
    if (!isKnown) {
      const [oldest] = this.entries.keys();
      if (this.entries.size >= MOST_ENTRIES && oldest !== undefined) this.drop(oldest);
      for (const row of rowsOf(found)) this.hashes.set(row, (this.hashes.get(row) ?? new Set()).add(hash));
    }
    this.entries.set(hash, { found, readAt });
    this.onEntry();
  }

  private drop(hash: string): void {
    const entry = this.entries.get(hash);
    this.entries.delete(hash);
    for (const row of entry === undefined ? [] : rowsOf(entry.found)) {
      this.hashes.get(row)?.delete(hash);
      if (this.hashes.get(row)?.size === 0) this.hashes.delete(row);
    }
  }
}
