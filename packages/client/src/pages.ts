import { ApiError } from './api-error.js';
import type { CallOptions, Transport } from './transport.js';

export interface Page<Item> {
  readonly items: readonly Item[];
  /** Address of the next page; undefined on the last. */
  readonly next: string | undefined;
}

/** A list of the API. `for await` iterates over all items; `page` fetches one page. */
export class Pages<Item> implements AsyncIterable<Item> {
  readonly #transport: Transport;
  readonly #first: URL;
  readonly #options: CallOptions | undefined;

  constructor(transport: Transport, first: URL, options?: CallOptions) {
    this.#transport = transport;
    this.#first = first;
    this.#options = options;
  }

  /** One page: the first, or the one at a previous page's `next`. */
  async page(next?: string): Promise<Page<Item>> {
    const url = next === undefined ? this.#first : this.#own(next);
    const { body, headers } = await this.#transport.get(url, this.#options);
    const link = nextOf(headers.get('Link'));
    return { items: body as readonly Item[], next: link === undefined ? undefined : this.#own(link).href };
  }

  /** Every item, in order. Each page is fetched when the previous one has been consumed. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for (let next: string | undefined; ;) {
      const page: Page<Item> = await this.page(next);
      yield* page.items;
      next = page.next;
      if (next === undefined) return;
    }
  }

  /** Refuses a link to anywhere else: the key must only go to the API. */
  #own(link: string): URL {
    const url = URL.canParse(link, this.#first.href) ? new URL(link, this.#first) : undefined;
    if (url?.origin === this.#first.origin && url.pathname === this.#first.pathname) return url;
    const message = `the next page is not at ${this.#first.origin}${this.#first.pathname}; it was not fetched`;
    throw new ApiError({ code: 'unexpected_response', message, status: 200 });
  }
}

/** The target of rel="next" (RFC 8288). */
function nextOf(link: string | null): string | undefined {
  return /<([^>]*)>[^,<]*;\s*rel="?next"?(?=\s*(?:[;,]|$))/i.exec(link ?? '')?.[1];
}
