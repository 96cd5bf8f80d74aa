import { invalid } from './errors.js';

export const DEFAULT_PAGE_SIZE = 20;
export const MAX_PAGE_SIZE = 100;

export interface Page<Item extends { readonly id: bigint }> {
  /** Ascending by id. */
  readonly items: readonly Item[];
  /** The value of `after` for the next page; undefined on the last page. */
  readonly next: Item['id'] | undefined;
}

/**
 * Pages by the array they were cut from: callers that share one read also share its page, and what is built from the
 * page.
 */
const pages = new WeakMap<readonly unknown[], unknown>();

/**
 * One page of what `read` returns; 20 items by default. Pages are cut by id, not by position. A walk along `next`
 * therefore returns every item that existed throughout exactly once, even if items are added meanwhile.
 *
 * @throws DomainError `invalid_parameter` if the limit isn't 1–100.
 */
export async function readPage<Item extends { readonly id: bigint }>(
  limit: number = DEFAULT_PAGE_SIZE,
  read: (limit: number) => Promise<readonly Item[]>,
): Promise<Page<Item>> {
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_PAGE_SIZE) {
    throw invalid('limit', `must be an integer from 1 to ${MAX_PAGE_SIZE}`);
  }
  // One more item than asked for shows whether another page follows.
  const found = await read(limit + 1);
  const page = (pages.get(found) as Page<Item> | undefined) ?? pageOf(found, limit);
  pages.set(found, page);
  return page;
}

function pageOf<Item extends { readonly id: bigint }>(found: readonly Item[], limit: number): Page<Item> {
  if (found.length <= limit) return { items: found, next: undefined };
  const items = found.slice(0, limit);
  return { items, next: items.at(-1)?.id };
}
