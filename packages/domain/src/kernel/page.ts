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

/** The place of a part of a list: behind an item, or in front of one. Without either: at the beginning. */
export interface PagePlace<Place> {
  readonly after?: Place | undefined;
  readonly before?: Place | undefined;
}

/** A page of a list of any order, with the way back. */
export interface TwoWayPage<Item, Place> {
  readonly items: readonly Item[];
  /** The value of `after` for the next page; undefined on the last page. */
  readonly next: Place | undefined;
  /** The value of `before` for the previous page; undefined on the first page. */
  readonly previous: Place | undefined;
}

/**
 * One page of what `read` returns: the items next to the place, in the order of the list. As with `readPage`, pages are
 * cut by the items, not by position. Where the way back ends in less than a page, it is the first page.
 */
export async function readTwoWayPage<Item, Place>(
  { after, before }: PagePlace<Place>,
  placeOf: (item: Item) => Place,
  read: (part: PagePlace<Place> & { readonly limit: number }) => Promise<readonly Item[]>,
  limit: number = DEFAULT_PAGE_SIZE,
): Promise<TwoWayPage<Item, Place>> {
  const placeAt = (item: Item | undefined) => (item === undefined ? undefined : placeOf(item));
  if (before !== undefined) {
    const found = await read({ before, limit: limit + 1 });
    if (found.length <= limit) return readTwoWayPage({}, placeOf, read, limit);
    const items = found.slice(1);
    const last = placeAt(items.at(-1));
    // The place may be the end of the list: that of the item that was added last.
    const hasNext = last !== undefined && (await read({ after: last, limit: 1 })).length > 0;
    return { items, next: hasNext ? last : undefined, previous: placeAt(items[0]) };
  }
  const found = await read({ after, limit: limit + 1 });
  const items = found.slice(0, limit);
  return {
    items,
    next: found.length > limit ? placeAt(items.at(-1)) : undefined,
    previous: after === undefined ? undefined : placeAt(items[0]),
  };
}

function pageOf<Item extends { readonly id: bigint }>(found: readonly Item[], limit: number): Page<Item> {
  if (found.length <= limit) return { items: found, next: undefined };
  const items = found.slice(0, limit);
  return { items, next: items.at(-1)?.id };
}
