import { QueryTimeoutError } from '../database/database-errors.js';
import { unavailable } from '../database/on-database.js';
import type { AccountKey } from '@adoption-store/domain';
import { LRUCache } from 'lru-cache';
import { Batch } from '../database/batch.js';

/** Milliseconds. No entry is older, so every process notices a change of a key or its account within this time. */
const MOST_AGE = 1_000;
/** The most keys and look-ups in progress, counted together. */
const MOST_ENTRIES = 10_000;
/** Most hashes in one query. */
const BATCH = 1_000;

/** No key has the hash. It is thrown, because `fetchMethod` must not resolve to undefined. */
class UnknownHash extends Error {}

/**
 * The API keys in use with their accounts, by the keys' hashes. An entry is at most one second old, counted from the
 * start of its read. Unknown hashes are not cached.
 */
export class KeyCache {
  private readonly cache: LRUCache<string, AccountKey>;

  /**
   * @param findAll returns the key of each hash, or undefined.
   * @param clock only tests set it.
   */
  constructor(
    findAll: (hashes: readonly string[]) => Promise<readonly (AccountKey | undefined)[]>,
    clock: { readonly now: () => number } = performance,
  ) {
    const findOne = async (hash: string) => {
      const start = clock.now();
      return { found: (await findAll([hash]))[0], start };
    };
    const findTogether = async (hashes: readonly string[]) => {
      const start = clock.now();
      return (await findAll(hashes)).map((found) => ({ found, start }));
    };
    const batch = new Batch(findOne, findTogether, BATCH);
    this.cache = new LRUCache({
      max: MOST_ENTRIES,
      ttl: MOST_AGE,
      perf: clock,
      // By default the cache reads the clock once in each iteration of the event loop, which may be long in a busy
      // process.
      ttlResolution: 0,
      // A look-up that is evicted while it runs must still answer its callers.
      ignoreFetchAbort: true,
      fetchMethod: async (hash, _stale, { options }) => {
        const { found, start } = await batch.add(hash);
        options.ttl = start + MOST_AGE - clock.now();
        if (options.ttl <= 0) throw unavailable(new QueryTimeoutError());
        if (found === undefined) throw new UnknownHash();
        return found;
      },
    });
  }

  /** @throws DomainError `service_unavailable` */
  find(hash: string): AccountKey | Promise<AccountKey | undefined> {
    return this.cache.get(hash) ?? this.fetch(hash);
  }

  private async fetch(hash: string): Promise<AccountKey | undefined> {
    try {
      return await this.cache.fetch(hash);
    } catch (error) {
      if (error instanceof UnknownHash) return undefined;
      throw error;
    }
  }
}
