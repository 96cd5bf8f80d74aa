import { invalid, ours } from './errors.js';
import { INT64_MAX } from './int64.js';

export const DEFAULT_PAGE_SIZE = 20;
export const MAX_PAGE_SIZE = 100;
/** The most ids that a filter may have. */
export const MAX_IDS = 100;

/** Where a part of a list is: after an item, or before one. Default: at the beginning. */
export interface PagePosition<Position> {
  readonly after?: Position | undefined;
  readonly before?: Position | undefined;
}

/** At most `limit` items (≥ 1): the first ones after the position, or the last ones before it. */
export interface PagePart<Position> extends PagePosition<Position> {
  readonly limit: number;
}

/** The page that a caller asks for. */
export interface PageRequest<Position> extends PagePosition<Position> {
  /** 1–100. Default: 20. */
  readonly limit?: number | undefined;
}

export interface Page<Item, Position> {
  /** In the order of the list. */
  readonly items: readonly Item[];
  /** The value of `after` for the next page; undefined on the last page. */
  readonly next: Position | undefined;
  /** The value of `before` for the previous page; undefined on the first page. */
  readonly previous: Position | undefined;
}

/**
 * One page of what `read` returns: the items next to the position, in the order of the list. A position is an item, not an
 * offset. So whoever follows `next` gets each item that exists all the time exactly once, even if items are added
 * meanwhile. If `before` leaves fewer items than a page has, the first page is returned.
 *
 * @throws DomainError `invalid_parameter` if the limit isn't 1–100.
 */
export async function readPage<Item, Position>(
  { after, before, limit = DEFAULT_PAGE_SIZE }: PageRequest<Position>,
  positionOf: (item: Item) => Position,
  read: (part: PagePart<Position>) => Promise<readonly Item[]>,
): Promise<Page<Item, Position>> {
  requirePageSize(limit);
  const positionAt = (item: Item | undefined) => (item === undefined ? undefined : positionOf(item));
  // One more item than asked for shows whether another page follows.
  if (before !== undefined) {
    const found = await read({ before, limit: limit + 1 });
    if (found.length <= limit) return readPage({ limit }, positionOf, read);
    const items = found.slice(1);
    const last = positionAt(items.at(-1));
    // `before` may be the end of the list: the position of the item that was added last.
    const hasNext = last !== undefined && (await read({ after: last, limit: 1 })).length > 0;
    return { items, next: hasNext ? last : undefined, previous: positionAt(items[0]) };
  }
  const found = await read({ after, limit: limit + 1 });
  const items = found.slice(0, limit);
  return {
    items,
    next: found.length > limit ? positionAt(items.at(-1)) : undefined,
    previous: after === undefined ? undefined : positionAt(items[0]),
  };
}

/** Like `readPage`, newest first. `read` lists the oldest first, so `after` and `before` are swapped. */
export async function readNewest<Item, Position extends bigint>(
  request: PageRequest<Position>,
  positionOf: (item: Item) => Position,
  read: (part: PagePart<Position>) => Promise<readonly Item[]>,
): Promise<Page<Item, Position>> {
  return readPage(request, positionOf, async ({ after, before, limit }) => {
    const position = before === undefined ? { before: after ?? (INT64_MAX as Position) } : { after: before };
    return (await read({ ...position, limit })).toReversed();
  });
}

/** @throws DomainError `invalid_parameter` if the limit isn't 1–100. */
export function requirePageSize(limit: number): void {
  if (Number.isInteger(limit) && limit >= 1 && limit <= MAX_PAGE_SIZE) return;
  throw invalid('limit', ours`must be an integer from 1 to ${MAX_PAGE_SIZE}`);
}

/** @throws DomainError `invalid_parameter` if the filter has more than 100 ids. */
export function requireFewIds(field: string, ids: readonly bigint[] = []): void {
  if (ids.length > MAX_IDS) throw invalid(field, ours`must be given at most ${MAX_IDS} times`);
}

/** A part of a list: at most `limit` items after the id `after`. Without either, the whole list. */
export interface ListPart<Id> {
  readonly after?: Id | undefined;
  readonly limit?: number | undefined;
}
