import LinkHeader from 'http-link-header';
import { ApiError } from './api-error.js';
import type { Answer } from './call.js';
import type { paths } from './generated.js';
import type { CallOptions } from './options.js';
import { behind, pageAt, type Position } from './place.js';
import { filled, isEmpty, type Query, type Transport } from './transport.js';

export interface Page<Item> {
  readonly items: readonly Item[];
  /** Address of the next page; undefined on the last, except of events. It can be stored. */
  readonly next: string | undefined;
}

/** The largest page, so that a whole list takes the fewest requests. */
export const MOST_ITEMS = 100;

/** The most ids that a filter of the API may have. */
const MOST_IDS = 100;

interface List {
  readonly path: keyof paths;
  readonly query?: Query;
  readonly parameters?: Readonly<Record<string, unknown>>;
  /** `whole`: the API returns it at once, and takes no `limit`. `feed`: its last page has a next one too. Default: `paged`. */
  readonly kind?: 'paged' | 'whole' | 'feed';
  /** Reads what `from` is given. Default: a page. */
  readonly positionAt?: (text: string) => Position;
}

/** A list of the API. `for await` iterates over all items. Each page is fetched when the previous one is consumed. */
export class Pages<Item> implements AsyncIterable<Item> {
  readonly #query: Query;

  /** @throws RangeError if a filter has too many ids. */
  constructor(
    private readonly transport: Pick<Transport, 'at' | 'send'>,
    private readonly list: List,
    private readonly options: CallOptions = {},
    private readonly start: Position = {},
  ) {
    this.#query = list.query ?? {};
    for (const [name, value] of Object.entries(this.#query))
      if (Array.isArray(value) && value.length > MOST_IDS)
        throw new RangeError(`${name} must have at most ${MOST_IDS} ids, and has ${value.length}`);
  }

  /**
   * The same list, with the same filters, from this page on. `page` is the `next` of another page, the `page` of an error,
   * or a cursor. Nothing else of an address is used, so the server may have another name now.
   *
   * @throws TypeError if it is none of these.
   */
  from(page: string): Pages<Item> {
    const { path, parameters = {}, positionAt } = this.list;
    const start = positionAt?.(page) ?? pageAt(page, filled(path, parameters));
    return new Pages(this.transport, this.list, this.options, start);
  }

  /** The first page alone. */
  page(): Promise<Page<Item>> {
    return this.#page(this.start);
  }

  /** Every page, in order. */
  async *pages(): AsyncGenerator<Page<Item>, void, undefined> {
    const { kind } = this.list;
    const limit = kind === 'whole' ? undefined : MOST_ITEMS;
    let place = this.start;
    const fetched = new Set<string | undefined>();
    for (;;) {
      fetched.add(place.page);
      const page = await this.#page(place, limit);
      yield page;
      // The next page of the last events is empty, until there are later ones.
      if (page.next === undefined || (kind === 'feed' && page.items.length === 0)) return;
      const next = cursorOf(page.next);
      if (fetched.has(next)) throw notFetched('the next page is an earlier one', this.#at(place, limit));
      place = { types: place.types, page: next };
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for await (const { items } of this.pages()) yield* items;
  }

  async #page(place: Position, limit?: number): Promise<Page<Item>> {
    // A missing parameter is no filter. An empty list is a filter that nothing matches.
    if (Object.values(this.#query).some(isEmpty)) return { items: [], next: undefined };
    const url = this.#at(place, limit);
    const sending = { ...this.options, method: 'GET', path: this.list.path, url, page: url.href };
    const { data, response } = (await this.transport.send(sending)) as Answer<readonly Item[]>;
    const items = behind(data, place);
    const page = nextOf(response.headers, url);
    return { items, next: page && this.#at({ types: place.types, page }, limit).href };
  }

  /** The address of the page at a place. `most` holds unless the query has a limit. */
  #at({ types, page, event }: Position, most?: number): URL {
    const query = this.#query;
    // A place within a page is one of the largest page.
    const limit = event === undefined ? (query['limit'] ?? most) : MOST_ITEMS;
    const place = { type: types ?? query['type'], limit, cursor: page ?? query['cursor'] };
    return this.transport.at(this.list.path, { ...query, ...place }, this.list.parameters);
  }
}

export function cursorOf(page: string): string | undefined {
  return new URL(page).searchParams.get('cursor') ?? undefined;
}

/**
 * The cursor in the Link to the next page, if there is one. The rest of its address isn't used: the server may call itself
 * by another name than the client does, and the key must only go to the latter.
 */
function nextOf(headers: Headers, page: URL): string | undefined {
  try {
    const link = LinkHeader.parse(headers.get('Link') ?? '').rel('next')[0];
    if (link === undefined) return undefined;
    const cursor = cursorOf(new URL(link.uri, page).href);
    if (cursor) return cursor;
  } catch {
    throw notFetched('the Link is malformed', page);
  }
  throw notFetched('the Link to the next page has no cursor', page);
}

function notFetched(reason: string, page: URL): ApiError {
  const message = `${reason}: not fetched`;
  return new ApiError({ code: 'unexpected_response', message, status: 200, page: page.href });
}
