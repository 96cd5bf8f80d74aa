import { describe, expect, it } from '@jest/globals';
import { clientOf, refusal, silence } from '../test/support/scripted-client.js';
import type { VirtualClock } from '../test/support/virtual-clock.js';
import type { AdoptionStore, ClientOptions, FollowOptions, StoreEvent } from './index.js';

interface Sent {
  readonly at: number;
  readonly query: URLSearchParams;
}

/** Said before the events of a request, or instead of them. */
type Before = (request: number, clock: VirtualClock) => Response | Promise<Response> | undefined;

/** An API with these events of animals, which says which requests it got and when, and when they ended. */
function feedOf(count: number, before: Before = () => undefined, headers: Record<string, string> = {}) {
  const sent: Sent[] = [];
  const ended: number[] = [];
  const feed = { count, purged: 0 };
  const fetch: ClientOptions['fetch'] = async (url) => {
    const query = new URLSearchParams(url.search);
    sent.push({ at: clock.now(), query });
    const instead = await before(sent.length, clock);
    if (instead !== undefined) return instead;
    const start = Number(query.get('cursor') ?? feed.purged);
    if (start < feed.purged) return refusal(410, {}, 'cursor_expired');
    const types = query.getAll('type');
    const limit = Number(query.get('limit') ?? 20);
    const found = Array.from({ length: feed.count - start }, (_, index) => start + index + 1)
      .filter((place) => types.length === 0 || types.includes(typeOf(place)))
      .slice(0, limit);
    query.set('cursor', String(found.length === limit ? found.at(-1) : feed.count));
    const next = `${url.origin}${url.pathname}?${query.toString()}`;
    return new Response(`[${found.map(textOf).join(',')}]`, {
      headers: { ...headers, Link: `<${next}>; rel="next"` },
    });
  };
  const { store, clock } = clientOf([], { fetch, onResponse: () => ended.push(clock.now()) });
  return { store, sent, ended, clock, feed };
}

/** The nth event: of an animal whose id no double has. */
const textOf = (place: number) =>
  `{"id":"${idOf(place)}","type":"${typeOf(place)}","sequence":${place},"createdAt":"2026-11-21T12:00:00.000Z","data":{"id":${petOf(place)},"name":"Luna","categoryId":1,"status":"available"}}`;
const typeOf = (place: number) => (place % 2 === 1 ? 'pet.added' : 'pet.changed');
const idOf = (place: number) => `evt_${String(place).padStart(32, '0')}`;
const petOf = (place: number) => 2n ** 62n + BigInt(place);
const pets = (events: readonly StoreEvent[]) => events.map(({ data }) => data.id);
const petsUntil = (last: number, first = 1) =>
  Array.from({ length: last - first + 1 }, (_, index) => petOf(first + index));

/** What may be in the way of a request for a while. */
const OUTAGES: readonly (readonly [name: string, failure: (clock: VirtualClock) => Response | Promise<Response>])[] = [
  ['a refused connection', () => Promise.reject(new TypeError('connection refused'))],
  ['a try without an end', silence],
  ...[408, 429, 500, 501].map((status) => [`an error ${status} of the API`, () => refusal(status)] as const),
  ...[200, 302, 404].map(
    (status) => [`a proxy's own page with the status ${status}`, () => new Response('<html>', { status })] as const,
  ),
];

/** So many events from the cursor, and the place after them. */
async function take(store: AdoptionStore, count: number, options?: FollowOptions) {
  const followed = store.events.follow(options);
  const events: StoreEvent[] = [];
  for await (const event of followed) if (events.push(event) === count) break;
  return { events, cursor: followed.cursor };
}

describe('the list of events', () => {
  it('ends with those until now, and its last page says where later ones are', async () => {
    const { store, feed, sent } = feedOf(150);
    const types = ['pet.added', 'pet.changed'] as const;
    const pages: { readonly items: readonly StoreEvent[]; readonly next: string | undefined }[] = [];
    for await (const page of store.events.list({ types }).pages()) pages.push(page);
    expect(pets(pages.flatMap(({ items }) => items))).toEqual(petsUntil(150));
    expect(sent[0]?.query.getAll('type')).toEqual(types);
    feed.count = 151;
    const later = await store.events
      .list()
      .from(pages.at(-1)?.next ?? '')
      .page();
    expect(pets(later.items)).toEqual([petOf(151)]);
  });
});

describe('a list from the place of a follower', () => {
  it.each([1, 99, 100, 101])('goes on behind the %i events that it has had, with a limit of its own', async (stop) => {
    const { store } = feedOf(150);
    const { cursor = '' } = await take(store, stop);
    const items: StoreEvent[] = [];
    for await (const event of store.events.list({ limit: 7 }).from(cursor)) items.push(event);
    expect(pets(items)).toEqual(petsUntil(150, stop + 1));
    const page = await store.events.list().from(cursor).page();
    expect(pets(page.items)[0]).toBe(petOf(stop + 1));
  });

  it('has its types, and says if the event there is gone', async () => {
    const { store, feed } = feedOf(150);
    const { cursor = '' } = await take(store, 3, { types: ['pet.changed'] });
    const list = (types?: readonly ('pet.added' | 'pet.changed')[]) => store.events.list({ types }).from(cursor);
    for (const types of [['pet.changed'] as const, undefined])
      expect((await list(types).page()).items[0]?.id).toBe(idOf(8));
    expect(() => list(['pet.added'])).toThrow(RangeError);
    feed.purged = 6;
    await expect(list().page()).rejects.toMatchObject({ code: 'cursor_expired' });
  });
});

describe('catching up with the events', () => {
  it.each([0, 1, 100, 250])('ends with the last of %i, and goes on there the next night', async (count) => {
    const { store, feed, sent } = feedOf(count);
    let cursor: string | undefined;
    for (const first of [1, count + 1]) {
      const run = store.events.catchUp({ cursor });
      const events: StoreEvent[] = [];
      for await (const event of run) events.push(event);
      expect(pets(events)).toEqual(petsUntil(feed.count, first));
      ({ cursor } = run);
      feed.count += 3;
    }
    expect(Math.max(...sent.map(({ at }) => at))).toBe(0);
  });

  it('throws what ends it before, and its cursor is behind the last event that was handled', async () => {
    const stop = new AbortController();
    const { store } = feedOf(250, (request) => (request === 2 ? refusal(404) : undefined));
    const run = store.events.catchUp({ signal: stop.signal });
    const had: StoreEvent[] = [];
    const readOn = async () => {
      for await (const event of run) had.push(event);
    };
    await expect(readOn()).rejects.toMatchObject({ status: 404 });
    expect(had).toHaveLength(100);
    stop.abort();
    await expect(readOn()).rejects.toMatchObject({ code: 'aborted' });
    expect(pets((await take(store, 1, { cursor: run.cursor })).events)).toEqual([petOf(101)]);
  });
});

describe('following the events', () => {
  it('yields each once, in order: what is behind at once, and what comes later within the interval', async () => {
    const { store, sent, feed, clock } = feedOf(250);
    void clock.wait(12_000).then(() => {
      feed.count = 251;
    });
    const { events } = await take(store, 251, { interval: 4_000 });
    expect(pets(events)).toEqual(petsUntil(251));
    expect(sent.map(({ at }) => at)).toEqual([0, 0, 0, 4_000, 8_000, 12_000]);
  });

  it('goes on from its cursor with the next event, wherever on a page it was stopped', async () => {
    const { store, feed } = feedOf(250);
    for (const stop of [1, 99, 100, 101, 249, 250]) {
      const { cursor } = await take(store, stop);
      feed.count += 1;
      const { events } = await take(store, feed.count - stop, { cursor });
      expect(pets(events)).toEqual(petsUntil(feed.count, stop + 1));
    }
  });

  it.each(['', '~~', 'pet.added~~', '2~', '~2', '~2~3~4', 'https://api.example/v1/events', 'a b'])(
    'never begins anew from the cursor %j',
    (cursor) => {
      const { events } = feedOf(3).store;
      expect(() => events.follow({ cursor })).toThrow(TypeError);
      expect(() => events.catchUp({ cursor })).toThrow(TypeError);
    },
  );

  it.each([
    ['on the first page', 30],
    ['on a later page', 130],
  ])('throws cursor_expired if the event that it stopped at %s is no longer kept', async (_where, stop) => {
    const { store, feed } = feedOf(150);
    const { cursor } = await take(store, stop);
    feed.purged = stop - 1;
    if (stop < 100) expect(pets((await take(store, 1, { cursor })).events)).toEqual([petOf(stop + 1)]);
    feed.purged = stop;
    const expired = { name: 'ApiError', code: 'cursor_expired', kind: 'not_found', status: 410 };
    await expect(take(store, 1, { cursor })).rejects.toMatchObject(expired);
  });

  it('keeps to the types that its cursor was saved with, and refuses others', async () => {
    const { store, sent } = feedOf(250);
    const types = ['pet.changed', 'pet.added'] as const;
    for (const stop of [3, 100]) {
      const { cursor } = await take(store, stop, { types: ['pet.changed'] });
      expect(pets((await take(store, 1, { cursor })).events)).toEqual([petOf(2 * (stop + 1))]);
      expect(sent.at(-1)?.query.getAll('type')).toEqual(['pet.changed']);
      const rule = 'types must be those that cursor was saved with: pet.changed';
      expect(() => store.events.follow({ cursor, types })).toThrow(new RangeError(rule));
    }
    const { cursor } = await take(store, 3, { types });
    expect(pets((await take(store, 1, { cursor, types: [...types].reverse() })).events)).toEqual([petOf(4)]);
    const every = (await take(store, 3)).cursor;
    const rule = 'types must be those that cursor was saved with: every type';
    expect(() => store.events.follow({ cursor: every, types })).toThrow(new RangeError(rule));
    expect(() => store.events.follow({ types: [] })).toThrow('types must name at least one type');
  });

  it.each([
    ['no link', undefined],
    ['a link without a cursor', '</v1/events?limit=100>; rel="next"'],
    ['a link with an empty cursor', '</v1/events?limit=100&cursor=>; rel="next"'],
    ['a link to the same page', '</v1/events?limit=100&cursor=1>; rel="next"'],
  ])('throws if a page has %s to the next one, instead of ending or beginning anew', async (_what, link) => {
    const headers = new Headers(link === undefined ? {} : { Link: link });
    const { store } = feedOf(2, () => new Response(`[${textOf(2)}]`, { headers }));
    const refused = { code: 'unexpected_response', message: expect.stringContaining('Link') };
    await expect(take(store, 2, { cursor: '1' })).rejects.toMatchObject(refused);
  });

  it('moves its cursor on while nothing happens, so that it does not expire', async () => {
    const { store, feed, sent } = feedOf(0);
    const controller = new AbortController();
    const followed = store.events.follow({ signal: controller.signal });
    const ended = followed[Symbol.asyncIterator]().next();
    while (sent.length < 2) await new Promise(setImmediate);
    const { cursor } = followed;
    feed.count = 1;
    expect(await ended).toMatchObject({ value: { id: idOf(1) } });
    expect(followed.cursor).not.toBe(cursor);
    controller.abort();
    feed.purged = 1;
    await expect(take(store, 1, { cursor })).rejects.toMatchObject({ code: 'cursor_expired' });
  });

  it('ends without an error when its signal is aborted between two events', async () => {
    const stop = new AbortController();
    const ids: string[] = [];
    for await (const { id } of feedOf(3).store.events.follow({ signal: stop.signal }))
      if (ids.push(id) === 2) stop.abort();
    expect(ids).toEqual([1, 2].map(idOf));
  });

  it('ends without an error when its signal is aborted in a request', async () => {
    const stop = new AbortController();
    const { store } = feedOf(3, () => {
      stop.abort(new Error('enough'));
      return undefined;
    });
    for await (const event of store.events.follow({ signal: stop.signal })) expect(event).toBeUndefined();
  });

  it('ends without an error, and at once, when its signal is aborted in a wait', async () => {
    const stop = new AbortController();
    const { store, clock } = feedOf(0);
    void clock.wait(2_000).then(() => {
      stop.abort();
    });
    for await (const event of store.events.follow({ signal: stop.signal })) expect(event).toBeUndefined();
    expect(clock.now()).toBe(2_000);
  });

  it('is only delayed by a limit, however long', async () => {
    const limited = refusal(429, { 'Retry-After': '3600' });
    const { store, sent } = feedOf(1, (request) => (request === 1 ? limited : undefined));
    expect(pets((await take(store, 1)).events)).toEqual([petOf(1)]);
    expect(sent[1]?.at).toBeGreaterThanOrEqual(3_600_000);
  });

  it.each([
    [501, 5_000],
    [500, 80_000],
    [1, 40_000_000],
  ])('waits longer once half of a window is spent: with %i of 1,000 requests left, %i ms', async (left, wait) => {
    const { store, sent, feed } = feedOf(
      1,
      (request) => {
        feed.count = request;
        return undefined;
      },
      {
        'RateLimit-Policy': '"minute";q=60;w=60, "day";q=1000;w=86400',
        RateLimit: `"minute";r=59;t=60, "day";r=${left};t=40000`,
      },
    );
    await take(store, 2);
    expect(sent.map(({ at }) => at)).toEqual([0, wait]);
  });

  it.each(OUTAGES)(
    'goes on after %s, with pauses that grow to half a minute and begin anew',
    async (_what, failure) => {
      const FAILED = 10;
      const { store, sent, ended, feed } = feedOf(1, (request, clock) => {
        if (request === 2 * FAILED + 2) feed.count = 2;
        return [FAILED + 1, 2 * FAILED + 2].includes(request) ? undefined : failure(clock);
      });
      expect(pets((await take(store, 2, { interval: 1_000 })).events)).toEqual(petsUntil(2));
      const pauses = sent.slice(1).map(({ at }, index) => at - (ended[index] ?? 0));
      for (const half of [pauses.slice(0, FAILED), pauses.slice(FAILED + 1)])
        for (const [index, pause] of half.entries()) {
          const bound = Math.min(30_000, 500 * 2 ** index);
          expect(pause).toBeGreaterThanOrEqual(bound / 2);
          expect(pause).toBeLessThanOrEqual(bound + 2_000);
        }
    },
  );

  it.each([400, 401, 403, 404, 410, 418])('ends with an error %i of the API', async (status) => {
    const { store, sent } = feedOf(1, () => refusal(status));
    await expect(take(store, 1, { cursor: '1' })).rejects.toMatchObject({ name: 'ApiError', code: 'a_code', status });
    expect(sent).toHaveLength(1);
  });

  it('asks at most once a second', () => {
    const { store } = feedOf(0);
    const rule = new RangeError('interval must be an integer from 1000 to 2147483647');
    for (const interval of [999, 1000.5, NaN, Infinity]) expect(() => store.events.follow({ interval })).toThrow(rule);
  });
});
