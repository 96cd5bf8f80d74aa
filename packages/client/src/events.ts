import { ApiError } from './api-error.js';
import type { webhooks } from './generated.js';
import { type CallOptions, integer, LONGEST_TIMER } from './options.js';
import { type Page, type Pages, pagesOf } from './pages.js';
import { patient } from './patience.js';
import { type Place, placeAt, textOf } from './place.js';
import type { Transport } from './transport.js';

/** A string that is none of the types which this version knows. An enum, because TypeScript narrows by no other open text. */
export declare enum UnknownEventType {
  Later = 'a type that is added later',
}
export type EventType = Exclude<keyof webhooks, 'webhook.ping'> | UnknownEventType;

type BodyOf<Type extends keyof webhooks> = webhooks[Type]['post']['requestBody']['content']['application/json'];

/**
 * Something that has happened. Its `type` tells what `data` is. The API may add types, which come unless `types` names
 * some: ignore those that you don't know.
 */
export type StoreEvent<Type extends keyof webhooks | UnknownEventType = EventType> = Type extends keyof webhooks
  ? EventOf<Type, BodyOf<Type>['data']>
  : EventOf<UnknownEventType, Readonly<Record<string, unknown>>>;

interface EventOf<Type, Data> {
  readonly id: string;
  readonly type: Type;
  /** Greater than that of every earlier event, also across a restore of the database. */
  readonly sequence: number;
  readonly createdAt: string;
  readonly data: Data;
}

export interface EventQuery<Type extends EventType = EventType> {
  /** Only events of these types. */
  readonly types?: readonly Type[] | undefined;
  /** Most events on a page, 1 to 100. */
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

export interface FollowOptions<Type extends EventType = EventType> {
  /** Only events of these types. Default: those of the earlier `Following` whose `cursor` is given, else every type. */
  readonly types?: readonly Type[] | undefined;
  /** That of `now`, or of an earlier `Following` of the same types. Default: begins with the oldest event that is kept. */
  readonly cursor?: string | undefined;
  /** Ends the iteration. */
  readonly signal?: AbortSignal | undefined;
  /** Least milliseconds to wait when there is nothing new, from 1,000. Default: 5,000. */
  readonly interval?: number | undefined;
}

/** The largest page, so that a reader that is behind takes the fewest requests. */
const MOST_EVENTS = 100;

export class Events {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** The events until now. */
  list<Type extends EventType = EventType>(
    { types, ...query }: EventQuery<Type> = {},
    options?: CallOptions,
  ): Pages<StoreEvent<Type>> {
    return pagesOf(this.#transport, { path: '/events', query: { ...query, type: types } }, options);
  }

  /**
   * The cursor from which `follow` begins with what happens from now on. To keep a copy of a list, take it before you
   * read the list.
   */
  async now(options?: CallOptions): Promise<string> {
    return endOf(await pagesOf(this.#transport, { path: '/events', query: { from: 'now' } }, options).page());
  }

  /**
   * The events until now, and later ones as they happen.
   *
   * @throws RangeError that names the option and its rule.
   */
  follow<Type extends EventType = EventType>(options: FollowOptions<Type> = {}): Following<StoreEvent<Type>> {
    const { signal } = options;
    const interval = integer('interval', options.interval ?? 5_000, 1_000, LONGEST_TIMER);
    const place = placeAt(options.cursor, options.types);
    // Those of a saved place may be types that this version doesn't know.
    const types = place.types as readonly Type[] | undefined;
    return new Following(
      place,
      signal,
      (cursor) => {
        const query = { limit: MOST_EVENTS, cursor, type: types };
        return pagesOf<StoreEvent<Type>>(patient(this.#transport), { path: '/events', query }, { signal }).page();
      },
      () => this.#transport.pause(interval, signal),
    );
  }
}

/**
 * `for await` iterates over the events, each once, and waits for later ones until `break` or the signal ends it. While the
 * API can't be reached or has a limit, it asks again. What the API refuses is thrown as an ApiError: `cursor_expired` if
 * events after the cursor may be lost.
 */
export class Following<Event extends { readonly id: string }> implements AsyncIterable<Event> {
  #place: Place;
  readonly #signal: AbortSignal | undefined;
  readonly #fetch: (cursor: string | undefined) => Promise<Page<Event>>;
  readonly #pause: () => Promise<void>;

  constructor(
    place: Place,
    signal: AbortSignal | undefined,
    fetch: (cursor: string | undefined) => Promise<Page<Event>>,
    pause: () => Promise<void>,
  ) {
    this.#place = place;
    this.#signal = signal;
    this.#fetch = fetch;
    this.#pause = pause;
  }

  /**
   * The place after the event that the loop is at: `follow({ cursor })` goes on there, with the same types. It moves on
   * while nothing happens too, so that it doesn't expire. Undefined before the first page.
   */
  get cursor(): string | undefined {
    return textOf(this.#place);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Event, void, undefined> {
    for (;;) {
      const { types, page: start, event: last } = this.#place;
      const page = await this.#page(start);
      if (page === undefined) return;
      const { items } = page;
      const end = endOf(page, start);
      const index = items.findIndex(({ id }) => id === last);
      if (last !== undefined && index === -1) throw notKept();
      for (const event of items.slice(index + 1)) {
        if (this.#signal?.aborted === true) return;
        // The API's cursors are of pages. So a place within one is its page's cursor and the event's id.
        this.#place = event === items.at(-1) ? { types, page: end } : { types, page: start, event: event.id };
        yield event;
      }
      this.#place = { types, page: end };
      if (items.length < MOST_EVENTS) await this.#pause();
    }
  }

  /** Undefined once the signal is aborted. */
  async #page(cursor: string | undefined): Promise<Page<Event> | undefined> {
    try {
      return await this.#fetch(cursor);
    } catch (error) {
      if (this.#signal?.aborted === true) return undefined;
      throw error;
    }
  }
}

/** The cursor behind the page. Every page of events has one: without it the next page would be the first one. */
function endOf({ items, next }: Page<unknown>, start?: string): string {
  const end = (next === undefined ? undefined : new URL(next).searchParams.get('cursor')) ?? '';
  if (end !== '' && (items.length === 0 || end !== start)) return end;
  const message = 'the page of events has no Link to what follows it; a proxy may have changed its headers';
  throw new ApiError({ code: 'unexpected_response', message, status: 200 });
}

/** What the API answers to a cursor of events that it doesn't keep. It can't tell an event from its page. */
function notKept(): ApiError {
  const message =
    'the event of cursor is no longer kept, so events after it may be lost; begin with events.now() and list again';
  return new ApiError({ code: 'cursor_expired', message, status: 410 });
}
