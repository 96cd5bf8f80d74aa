import { ApiError } from './api-error.js';
import type { webhooks } from './generated.js';
import { type CallOptions, integer, LONGEST_TIMER } from './options.js';
import { cursorOf, MOST_ITEMS, type Page, Pages } from './pages.js';
import { behind, type Position, positionAt, textOf } from './place.js';
import { backOff } from './retry.js';
import type { Sending, Transport } from './transport.js';

/** In milliseconds. */
const LONGEST_PAUSE = 30_000;

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

export interface CatchUpOptions<Type extends EventType = EventType> {
  /** Only events of these types. Default: those of the earlier `Following` whose `cursor` is given, else every type. */
  readonly types?: readonly Type[] | undefined;
  /** That of `now`, of an earlier `Following` of the same types, or a page's `next`. Default: the oldest event kept. */
  readonly cursor?: string | undefined;
  /** Ends the iteration. */
  readonly signal?: AbortSignal | undefined;
}

export interface FollowOptions<Type extends EventType = EventType> extends CatchUpOptions<Type> {
  /** Least milliseconds to wait when there is nothing new, from 1,000. Default: 5,000. */
  readonly interval?: number | undefined;
}

export class Events {
  constructor(private readonly transport: Transport) {}

  /** The events until now, by pages. `catchUp` also says where it has ended. */
  list<Type extends EventType = EventType>(
    { types, ...query }: EventQuery<Type> = {},
    options?: CallOptions,
  ): Pages<StoreEvent<Type>> {
    const places = (text: string) => positionAt(text, types);
    const list = { path: '/events', query: { ...query, type: types }, kind: 'feed', positionAt: places } as const;
    return new Pages(this.transport, list, options);
  }

  /**
   * The cursor from which `follow` begins with what happens from now on. To copy a list, take it before you read that.
   */
  async now(options?: CallOptions): Promise<string> {
    return endOf(await new Pages(this.transport, { path: '/events', query: { from: 'now' } }, options).page());
  }

  /**
   * The events until now, as for a job that runs every night: `cursor` of the result is where to begin the next time.
   *
   * @throws TypeError or RangeError that names the option and its rule.
   */
  catchUp<Type extends EventType = EventType>(options: CatchUpOptions<Type> = {}): Following<StoreEvent<Type>> {
    const { signal } = options;
    return new Following(startOf(options), (place) => pageOf(this.transport, place, signal));
  }

  /**
   * The events until now, and later ones as they happen.
   *
   * @throws TypeError or RangeError that names the option and its rule.
   */
  follow<Type extends EventType = EventType>(options: FollowOptions<Type> = {}): Following<StoreEvent<Type>> {
    const { signal } = options;
    const interval = integer('interval', options.interval ?? 5_000, 1_000, LONGEST_TIMER);
    return new Following(startOf(options), (place) => pageOf(patient(this.transport), place, signal), {
      signal,
      pause: () => this.transport.pause(interval, signal),
    });
  }
}

/** An empty text in a file or a database is more often an accident than the wish to begin anew. */
function startOf({ cursor, types }: CatchUpOptions): Position {
  const place = positionAt(cursor, types);
  if (cursor === undefined || place.page !== undefined || place.event !== undefined) return place;
  throw new TypeError('cursor has no place: leave it out to begin with the oldest event');
}

function pageOf<Event>(
  transport: Pick<Transport, 'at' | 'send'>,
  { types, page }: Position,
  signal: AbortSignal | undefined,
): Promise<Page<Event>> {
  const query = { limit: MOST_ITEMS, cursor: page, type: types };
  return new Pages<Event>(transport, { path: '/events', query }, { signal }).page();
}

/**
 * `for await` iterates over the events, each once. After the last one that of `catchUp` ends. That of `follow` waits for later
 * ones until `break` or the signal ends it; while the API can't be reached or has a limit, it asks again. What the API
 * refuses is thrown as an ApiError: `cursor_expired` if events after the cursor may be lost.
 */
export class Following<Event extends { readonly id: string }> implements AsyncIterable<Event> {
  /** @param endless undefined if it ends with the last event. */
  constructor(
    private place: Position,
    private readonly fetch: (place: Position) => Promise<Page<Event>>,
    private readonly endless?: Endless,
  ) {}

  /**
   * The place after the event that the loop is at: `follow({ cursor })` goes on there, with the same types. It moves on
   * while nothing happens too, so that it doesn't expire. Undefined before the first page.
   */
  get cursor(): string | undefined {
    return textOf(this.place);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Event, void, undefined> {
    for (;;) {
      const { types, page: start } = this.place;
      const page = await this.fetch(this.place).catch((error: unknown) => {
        if (!this.#isAborted()) throw error;
      });
      if (page === undefined) return;
      const { items } = page;
      const end = endOf(page, start);
      for (const event of behind(items, this.place)) {
        if (this.#isAborted()) return;
        // The API's cursors are of pages. So a place within one is its page's cursor and the event's id.
        this.place = event === items.at(-1) ? { types, page: end } : { types, page: start, event: event.id };
        yield event;
      }
      this.place = { types, page: end };
      if (items.length === MOST_ITEMS) continue;
      if (this.endless === undefined) return;
      await this.endless.pause();
    }
  }

  #isAborted(): boolean {
    return this.endless?.signal?.aborted === true;
  }
}

interface Endless {
  readonly signal: AbortSignal | undefined;
  readonly pause: () => Promise<void>;
}

/** The cursor behind the page. Every page of events has one: without it the next page would be the first one. */
function endOf({ items, next }: Page<unknown>, start?: string): string {
  const end = next === undefined ? undefined : cursorOf(next);
  if (end !== undefined && (items.length === 0 || end !== start)) return end;
  const message = 'the page of events has no Link to what follows it; a proxy may have changed its headers';
  throw new ApiError({ code: 'unexpected_response', message, status: 200 });
}

/** A transport for what isn't urgent: it sends a request until an answer comes, the API refuses it, or it is aborted. */
function patient(transport: Transport): Pick<Transport, 'at' | 'send'> {
  return {
    at: (...target) => transport.at(...target),
    send: async (sending: Sending) => {
      for (let tries = 1; ; tries += 1)
        try {
          return await transport.send({ ...sending, tries });
        } catch (error) {
          if (!(error instanceof ApiError) || !isOutage(error)) throw error;
          await transport.pause(backOff(tries, error.retryAfter, LONGEST_PAUSE), sending.signal);
        }
    },
  };
}

/** Whether the API may answer the same request later, as after a restart of it. A proxy's page can have any status. */
function isOutage({ code, kind, status }: ApiError): boolean {
  if (kind === 'network' || kind === 'timeout' || kind === 'rate_limit') return true;
  return code === 'unexpected_response' || status === 408 || status >= 500;
}
