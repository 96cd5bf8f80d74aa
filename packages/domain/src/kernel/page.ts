import { invalid } from './errors.js';

export const DEFAULT_PAGE_SIZE = 20;
export const MAX_PAGE_SIZE = 100;

export interface Page<Item extends { readonly id: bigint }> {
  /** Ascending by id. */
  readonly items: readonly Item[];
  /** The value of `after` for the next page; undefined on the last page. */
  readonly next: Item['id'] | undefined;
}

/** Callers that share what was read share its page, and what is made of that. */
const pages = new WeakMap<readonly unknown[], unknown>();

/**
 * A page of what `read` gives, 20 items unless another limit is asked for. Pages are cut by id, not by position, so a
 * walk from `next` to `next` meets everything that was there throughout exactly once, whatever is added meanwhile.
 *
 * @throws DomainError `invalid_parameter` where the limit isn't 1–100.
 */
export async function readPage<Item extends { readonly id: bigint }>(
  limit: number = DEFAULT_PAGE_SIZE,
  read: (limit: number) => Promise<readonly Item[]>,
): Promise<Page<Item>> {
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_PAGE_SIZE) {
    throw invalid('limit', `must be an integer from 1 to ${MAX_PAGE_SIZE}`);
  }
  // One more than asked for tells whether another page follows.
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
