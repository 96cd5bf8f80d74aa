import type { AccountKey } from '@adoption-store/domain';
import { Batch } from '../database/batch.js';

/** Milliseconds that an answer of the database is used: within them a revocation acts, whether its notification comes or not. */
const TRUSTED_FOR = 1_000;
/** Age from which an entry that is used is read again behind the request's back. A read that fails leaves time for others. */
const REFRESH_AFTER = 500;
const MOST_ENTRIES = 10_000;
/** Hashes in one query. */
const BATCH = 1_000;

interface Entry {
  readonly found: AccountKey;
  /** On the clock of `performance.now()`, before the database was asked. */
  readonly readAt: number;
}

/**
 * API keys with their accounts by the keys' hashes, as the database had them within the last second. Keys in use are
 * read again before that second is over, so that their requests don't wait. An older entry is never used, also not while
 * the database is away. Unknown hashes leave nothing here.
 */
export class KeyCache {
  /** The one that was read longest ago, and so used longest ago, first. */
  private readonly entries = new Map<string, Entry>();
  /** Reads under way, shared by all who ask. Replaced by each change: what was asked before it may be outdated. */
  private reads = new Map<string, Promise<AccountKey | undefined>>();
  // Two, so that unknown keys, however many, don't hold up the known ones.
  private readonly known;
  private readonly unknown;

  /**
   * @param findAll gives the key of each hash, undefined of one that is unknown.
   * @param onEntry called, more than once, when there is an entry: from then on `forget` has to be told of changes.
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
    // Nobody waits for it. Once the entry is too old, a failure is told.
    reading.catch(() => undefined);
    return entry?.found;
  }

  /** Drops what a change may have made wrong. */
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
