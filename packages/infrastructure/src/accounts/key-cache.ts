import { QueryTimeoutError } from '../database/database-errors.js';
import { unavailable } from '../database/on-database.js';
import type { AccountId, AccountKey } from '@adoption-store/domain';
import { Batch } from '../database/batch.js';

/**
 * Milliseconds for which entries are used after the start of the last answered question, so that every process notices
 * a change of a key or its account within this time.
 */
const MOST_AGE = 1_000;
/** Milliseconds after which the next use of the cache asks what has changed. */
const ASKED_EVERY = 250;
/** Longest pause between two questions, in milliseconds. A purge keeps changes for longer. */
export const MOST_PAUSE = 30_000;
/** Most entries; then the oldest makes room. Full, it takes 95 MB. */
const MOST_ENTRIES = 100_000;
/** Most hashes in one query. */
const BATCH = 1_000;
/** No key has it: it asks only what has changed. */
const NO_HASH = '';

/** The state of the database in which a query was answered. */
export interface DatabaseState {
  /** PostgreSQL's snapshot: which transactions the query saw. */
  readonly snapshot: string;
  /** What tells servers and restored tables apart: snapshots of two of them can't be compared. */
  readonly server: string;
  /** The server's clock, in milliseconds. */
  readonly at: number;
}

export interface KeysFound {
  /** Undefined if the state can't be compared with later ones. */
  readonly state: DatabaseState | undefined;
  /** The accounts that have changed, or a key of theirs has, in transactions that the earlier snapshot didn't see. */
  readonly changed: ReadonlySet<AccountId>;
  /** The key of each hash, or undefined. */
  readonly keys: readonly (AccountKey | undefined)[];
}

/**
 * The API keys in use with their accounts, by the keys' hashes. Each query also asks which accounts have changed since
 * the query before, and removes their entries. Unknown hashes are not cached.
 */
export class KeyCache {
  private readonly entries = new Map<string, AccountKey>();
  /** The hashes of each account's entries: a change costs by what the account has, not by all entries. */
  private readonly hashes = new Map<AccountId, readonly string[]>();
  private readonly batch;
  private state: DatabaseState | undefined;
  private usedUntil = -Infinity;
  private nextQuestion = -Infinity;

  /**
   * @param findAll finds the keys, and what has changed since the snapshot, in one state of the database.
   * @param clock only tests set it.
   */
  constructor(
    private readonly findAll: (hashes: readonly string[], since: string | undefined) => Promise<KeysFound>,
    private readonly clock: { readonly now: () => number } = performance,
  ) {
    const findOne = async (hash: string) => (await this.query([hash]))[0];
    this.batch = new Batch(findOne, (hashes: readonly string[]) => this.query(hashes), BATCH);
  }

  /** @throws DomainError `service_unavailable` */
  find(hash: string): AccountKey | Promise<AccountKey | undefined> {
    const now = this.clock.now();
    if (now >= this.usedUntil) return this.batch.add(hash);
    if (now >= this.nextQuestion) this.ask(now);
    return this.entries.get(hash) ?? this.batch.add(hash);
  }

  private ask(now: number): void {
    this.nextQuestion = now + ASKED_EVERY;
    // A failure is noticed once the entries are too old.
    void this.batch.add(NO_HASH).catch(() => undefined);
  }

  private async query(hashes: readonly string[]): Promise<readonly (AccountKey | undefined)[]> {
    const start = this.clock.now();
    const before = this.state;
    const found = await this.findAll(hashes, before?.snapshot);
    // A query that was given up may be answered after a later one. What it has found may have changed since.
    if (this.state === before) this.learn(found, start);
    if (this.clock.now() >= start + MOST_AGE) throw unavailable(new QueryTimeoutError());
    return found.keys;
  }

  private learn({ state, changed, keys }: KeysFound, start: number): void {
    if (!isContinued(this.state, state)) {
      this.entries.clear();
      this.hashes.clear();
    }
    for (const id of changed) {
      for (const hash of this.hashes.get(id) ?? []) this.entries.delete(hash);
      this.hashes.delete(id);
    }
    this.state = state;
    this.nextQuestion = start + ASKED_EVERY;
    this.usedUntil = state === undefined ? -Infinity : start + MOST_AGE;
    if (state === undefined) return;
    for (const found of keys) if (found !== undefined) this.keep(found);
  }

  private keep(found: AccountKey): void {
    const { hash } = found.key;
    if (this.entries.has(hash)) return;
    const [oldest] = this.entries.size >= MOST_ENTRIES ? this.entries.values() : [];
    if (oldest !== undefined) this.forget(oldest);
    this.entries.set(hash, found);
    const { id } = found.account;
    this.hashes.set(id, [...(this.hashes.get(id) ?? []), hash]);
  }

  private forget({ key: { hash }, account: { id } }: AccountKey): void {
    this.entries.delete(hash);
    const others = (this.hashes.get(id) ?? []).filter((each) => each !== hash);
    if (others.length === 0) this.hashes.delete(id);
    else this.hashes.set(id, others);
  }
}

/** Whether the later state tells all that has changed since the earlier one. */
function isContinued(earlier: DatabaseState | undefined, later: DatabaseState | undefined): boolean {
  if (earlier === undefined || later === undefined) return false;
  return earlier.server === later.server && Math.abs(later.at - earlier.at) <= MOST_PAUSE;
}
