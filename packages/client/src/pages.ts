import LinkHeader from 'http-link-header';
import { ApiError } from './api-error.js';
import type { Answer } from './call.js';
import type { paths } from './generated.js';
import type { CallOptions } from './options.js';
import { isEmpty, type Query, type Transport } from './transport.js';

export interface Page<Item> {
  readonly items: readonly Item[];
  /** Address of the next page; undefined on the last, except of events. It can be stored. */
  readonly next: string | undefined;
}

type Fetch<Item> = (page: URL) => Promise<Answer<readonly Item[]>>;

/** The largest page, so that a whole list takes the fewest requests. */
const MOST_ITEMS = '100';

/** The most ids that a filter of the API may have. */
const MOST_IDS = 100;

interface List {
  readonly path: keyof paths;
  readonly query?: Query;
  readonly parameters?: Readonly<Record<string, unknown>>;
  /** False if the API returns the whole list at once, and takes no `limit`. */
  readonly isPaged?: boolean;
}

/**
 * A list of the API. `for await` iterates over all items, each page being fetched when the previous one has been
 * consumed.
 */
export class Pages<Item> implements AsyncIterable<Item> {
  readonly #first: URL;
  /** Undefined if nothing can be in the list. */
  readonly #fetch: Fetch<Item> | undefined;
  readonly #isPaged: boolean;

  constructor(first: URL, fetch: Fetch<Item> | undefined, isPaged: boolean) {
    this.#first = first;
    this.#fetch = fetch;
    this.#isPaged = isPaged;
  }

  /**
   * The same list from this page on. `page` is the `next` of another page, or the `page` of an error.
   *
   * @throws RangeError if it is empty, or ApiError if it isn't an address of this list.
   */
  from(page: string): Pages<Item> {
    // A URL takes an empty address for the first page.
    if (page.trim() === '') throw new RangeError('page is empty: it must be the next of another page');
    return new Pages(this.#own(page), this.#fetch, this.#isPaged);
  }

  /** The first page alone. */
  page(): Promise<Page<Item>> {
    return this.#page(this.#first);
  }

  /** Every page, in order. */
  async *pages(): AsyncGenerator<Page<Item>, void, undefined> {
    let url = new URL(this.#first);
    if (this.#isPaged && !/[?&](?:limit|cursor)=/.test(url.search)) url.searchParams.set('limit', MOST_ITEMS);
    const fetched = new Set<string>();
    for (;;) {
      fetched.add(url.href);
      const page = await this.#page(url);
      yield page;
      // The next page of the last events is empty, until there are later ones.
      if (page.next === undefined || page.items.length === 0) return;
      if (fetched.has(page.next)) throw notFetched('the next page is an earlier one', url);
      url = new URL(page.next);
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for await (const { items } of this.pages()) yield* items;
  }

  async #page(url: URL): Promise<Page<Item>> {
    if (this.#fetch === undefined) return { items: [], next: undefined };
    const { data: items, response } = await this.#fetch(url);
    let next: string | undefined;
    try {
      next = LinkHeader.parse(response.headers.get('Link') ?? '').rel('next')[0]?.uri;
    } catch {
      throw notFetched('the Link is malformed', url);
    }
    return { items, next: next === undefined ? next : this.#own(next, url).href };
  }

  /** Refuses a link to anywhere else: the key must only go to the API. */
  #own(link: string, from = this.#first): URL {
    const own = this.#first.origin + this.#first.pathname;
    const url = URL.canParse(link, from.href) ? new URL(link, from) : undefined;
    if (url !== undefined) url.hash = '';
    if (url?.href.split('?')[0] === own) return url;
    throw notFetched(`the next page is not at ${own}`, from);
  }
}

/** The list at this path of the API. @throws RangeError if a filter has too many ids. */
export function pagesOf<Item>(
  transport: Pick<Transport, 'at' | 'send'>,
  { path, query = {}, parameters, isPaged = true }: List,
  options: CallOptions = {},
): Pages<Item> {
  for (const [name, value] of Object.entries(query))
    if (Array.isArray(value) && value.length > MOST_IDS)
      throw new RangeError(`${name} must have at most ${MOST_IDS} ids, and has ${value.length}`);
  // A missing parameter is no filter. An empty list is a filter that nothing matches.
  const isNothing = Object.values(query).some(isEmpty);
  const fetch = (page: URL) =>
    transport.send({ ...options, method: 'GET', path, url: page, page: page.href }) as Promise<Answer<Item[]>>;
  return new Pages(transport.at(path, query, parameters), isNothing ? undefined : fetch, isPaged);
}

function notFetched(reason: string, page: URL): ApiError {
  const message = `${reason}: not fetched`;
  return new ApiError({ code: 'unexpected_response', message, status: 200, page: page.href });
}
