import { inspect } from 'node:util';
import { afterAll, afterEach, describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { int64Properties } from './generated.js';
import { AdoptionStore, ApiError, type ClientOptions, type Clock } from './index.js';
import { fromJson, toJson } from './json.js';

const KEY = 'aas_live_secret';
const BASE = 'https://api.example/v1';
const REFUSAL = '{"code":"rate_limited","message":"too many requests","status":429}';

interface Sent {
  readonly url: string;
  readonly headers: Headers;
  readonly init: RequestInit;
}

/** A clock whose waits are over at once, except the time limits: those end with what they limit. */
class PassingClock implements Clock {
  readonly waits: number[] = [];
  #now = 0;

  now(): number {
    return this.#now;
  }

  async wait(milliseconds: number, signal?: AbortSignal): Promise<void> {
    if (milliseconds >= LIMIT)
      return new Promise((_, reject) =>
        signal?.addEventListener('abort', () => {
          reject(new Error('over'));
        }),
      );
    this.waits.push(milliseconds);
    this.#now += milliseconds;
    await Promise.resolve();
    signal?.throwIfAborted();
  }
}

/** Default of `tryTimeout`. No wait of these tests is as long. */
const LIMIT = 30_000;

type Step = Response | Error | (() => Response);

/**
 * A client whose requests get these answers in turn, the last one repeatedly, and a record of its requests and waits.
 */
function clientOf(steps: readonly Step[], options: Partial<ClientOptions> = {}) {
  const sent: Sent[] = [];
  const clock = new PassingClock();
  const store = new AdoptionStore({
    baseUrl: BASE,
    apiKey: KEY,
    fetch: async (url, init) => {
      sent.push({ url: url.href, headers: new Headers(init.headers), init });
      const step = steps[Math.min(sent.length, steps.length) - 1];
      if (step instanceof Error) throw step;
      if (step === undefined) throw new Error('no answer is left');
      return step instanceof Response ? step.clone() : step();
    },
    clock,
    ...options,
  });
  return { store, sent, waits: clock.waits, clock };
}

const refusal = (status: number, headers: Record<string, string> = {}, body = REFUSAL) =>
  new Response(body, { status, headers: { 'X-Request-Id': 'req-1', ...headers } });
const pet = (headers: Record<string, string> = {}) =>
  new Response('[{"id":9223372036854775807,"name":"Luna","categoryId":1,"status":"sold"}]', { headers });
const created = () => new Response('{"id":1,"name":"Luna","categoryId":1,"status":"sold"}', { status: 201 });
const order = () =>
  new Response('{"id":5,"petId":1,"status":"completed","createdAt":"2026-11-21","updatedAt":"2026-11-21"}');
const DISCONNECTED = new TypeError('fetch failed');

const errorOf = async (promise: Promise<unknown>): Promise<ApiError> => {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ApiError)) throw new Error('no ApiError', { cause: error });
  return error;
};

describe('retries', () => {
  it('wait a random time within doubling bounds if there is no Retry-After', async () => {
    const { store, waits } = clientOf([DISCONNECTED], { maxTries: 8 });
    await errorOf(store.pets().page());
    expect(waits).toHaveLength(7);
    waits.forEach((wait, index) => {
      const bound = Math.min(8000, 500 * 2 ** index);
      expect(wait).toBeGreaterThanOrEqual(bound / 2);
      expect(wait).toBeLessThanOrEqual(bound);
    });
  });

  it('never say that a request was not sent after a try of it', async () => {
    const store: AdoptionStore = clientOf([], {
      fetch: async (_, { method }) => {
        if (method === 'GET') return refusal(429, { 'Retry-After': '600' });
        // In the meantime another call is refused.
        await store
          .pets()
          .page()
          .catch(() => undefined);
        throw DISCONNECTED;
      },
    }).store;
    await expect(errorOf(store.createPet({ name: 'Luna', categoryId: 1n }))).resolves.toMatchObject({
      code: 'network_error',
      cause: DISCONNECTED,
    });
  });

  it("use the caller's Idempotency-Key", async () => {
    const { store, sent } = clientOf([order()]);
    await store.completeOrder(5n, { idempotencyKey: 'mine' });
    expect(sent.map(({ url, headers }) => [url, headers.get('Idempotency-Key')])).toEqual([
      [`${BASE}/store/orders/5/complete`, 'mine'],
    ]);
  });
});

describe('a try', () => {
  it('ends when its fetch ignores its signal', async () => {
    const fetch = () => new Promise<Response>(() => undefined);
    const store = new AdoptionStore({ baseUrl: BASE, apiKey: KEY, fetch, tryTimeout: 1, maxTries: 1 });
    await expect(errorOf(store.getRateLimit())).resolves.toMatchObject({ code: 'timeout' });
  });
});

describe('aborting', () => {
  it('ends the wait at once, with the given reason', async () => {
    const controller = new AbortController();
    const store = new AdoptionStore({
      baseUrl: BASE,
      apiKey: KEY,
      fetch: async () => {
        setImmediate(() => {
          controller.abort(new Error('enough'));
        });
        return refusal(429, { 'Retry-After': '30' });
      },
    });
    const error = await errorOf(store.pets({}, { signal: controller.signal }).page());
    expect(error).toMatchObject({ code: 'aborted', kind: 'aborted', cause: new Error('enough') });
  });

  it('is not treated as a broken connection', async () => {
    const { store, sent } = clientOf([DISCONNECTED]);
    const options = { signal: AbortSignal.abort(new Error('enough')) };
    const error = await errorOf(store.createPet({ name: 'Luna', categoryId: 1n }, options));
    expect(error).toMatchObject({ code: 'aborted', idempotencyKey: expect.stringMatching(/^[\da-f-]{36}$/) });
    expect(sent).toHaveLength(0);
  });
});

describe('pages', () => {
  it.each(['https://evil.example/v1/pets', 'https://api.example/elsewhere', 'https://'])(
    'never begin at %s',
    (page) => {
      expect(() => clientOf([pet()]).store.pets().from(page)).toThrow(ApiError);
    },
  );

  it('never begin anew from an empty address, which a URL takes for the first page', () => {
    for (const page of ['', ' \n']) expect(() => clientOf([pet()]).store.pets().from(page)).toThrow(RangeError);
  });

  it('repeat a list in the query, and leave out what is undefined', async () => {
    const { store, sent } = clientOf([pet()]);
    await store.pets(Object.assign({ id: [1n, 2n ** 63n - 1n], limit: 1 }, { status: undefined } as object)).page();
    expect(sent[0]?.url).toBe(`${BASE}/pets?id=1&id=9223372036854775807&limit=1`);
  });

  it('are fetched only when they are needed', async () => {
    const { store, sent } = clientOf([pet({ Link: '<?cursor=a>; rel="next"' })]);
    const pets = store.pets();
    expect(sent).toHaveLength(0);
    for await (const { id } of pets) if (id > 0n) break;
    expect(sent).toHaveLength(1);
  });
});

describe('a walk', () => {
  const page = (id: number, next?: string) =>
    new Response(`[{"id":${id},"name":"Luna","categoryId":1,"status":"sold"}]`, {
      headers: next === undefined ? {} : { Link: `<?cursor=${next}>; rel="next"` },
    });

  it('fetches 100 items a page, unless the query says otherwise', async () => {
    const { store, sent } = clientOf([page(1)]);
    for await (const { id } of store.pets()) expect(id).toBe(1n);
    for await (const { id } of store.pets({ limit: 7 })) expect(id).toBe(1n);
    await store.pets().page();
    expect(sent.map(({ url }) => url)).toEqual([`${BASE}/pets?limit=100`, `${BASE}/pets?limit=7`, `${BASE}/pets`]);
  });

  it('goes on after a failure, at the page that failed', async () => {
    const { store, sent } = clientOf([page(1, 'b'), refusal(404), page(2)]);
    const ids: bigint[] = [];
    const walk = async (pets: AsyncIterable<{ id: bigint }>) => {
      for await (const { id } of pets) ids.push(id);
    };
    const { page: failed } = await errorOf(walk(store.pets()));
    await walk(store.pets().from(failed ?? ''));
    expect(ids).toEqual([1n, 2n]);
    expect(sent.at(-1)?.url).toBe(`${BASE}/pets?cursor=b`);
  });

  it.each([3, 17])('ends with an error if the pages go round in a circle of %i', async (length) => {
    let count = 0;
    const { store, sent } = clientOf([() => page(1, String((count += 1) % length))]);
    const pages = store.pets().pages();
    const error = await errorOf(
      (async () => {
        while ((await pages.next()).done !== true);
      })(),
    );
    expect(error).toMatchObject({ code: 'unexpected_response', page: expect.stringContaining('cursor=') });
    expect(sent.length).toBeLessThan(4 * length + 4);
  });

  it.each([{ id: [] }, { categoryId: [], limit: 5 }])('of %j is over without a request', async (query) => {
    const { store, sent } = clientOf([page(1)]);
    for await (const pet of store.pets(query)) expect(pet).toBeUndefined();
    expect(await store.pets(query).page()).toEqual({ items: [], next: undefined });
    expect(sent).toEqual([]);
  });
});

describe('a call', () => {
  it('tells its response on demand', async () => {
    const headers = {
      'X-Request-Id': 'req-1',
      ETag: '"abc"',
      'Idempotent-Replayed': 'true',
      'X-RateLimit-Limit': '60',
      'X-RateLimit-Remaining': '0',
      'X-RateLimit-Reset': '1795262460',
    };
    const { store } = clientOf([new Response('{"id":1,"name":"Cats"}', { headers })]);
    const { data, response } = await store.getCategory(1n).withResponse();
    expect(data).toEqual({ id: 1n, name: 'Cats' });
    expect(response).toMatchObject({
      status: 200,
      requestId: 'req-1',
      etag: '"abc"',
      replayed: true,
      limits: { limit: 60, remaining: 0, reset: 1_795_262_460 },
    });
  });

  it('reaches operations without a method of their own', async () => {
    const { store, sent } = clientOf([created()]);
    const pet = await store.request('GET', '/pets/{petId}', { path: { petId: 2n ** 63n - 1n } });
    expect(pet.name).toBe('Luna');
    expect(sent[0]?.url).toBe(`${BASE}/pets/9223372036854775807`);
    // @ts-expect-error -- the path has a parameter
    expect(() => store.request('GET', '/pets/{petId}')).not.toThrow();
    // @ts-expect-error -- there is no such operation
    await store.request('DELETE', '/pets').catch(() => undefined);
  });

  it('never takes an empty list for no filter', async () => {
    const { store, sent } = clientOf([refusal(400)]);
    await errorOf(store.request('GET', '/pets', { query: { id: [] } }));
    expect(sent[0]?.url).toBe(`${BASE}/pets?id=`);
  });

  it.each(['two\r\nlines', 'ключ', ''])('refuses the Idempotency-Key %j before it is sent', async (idempotencyKey) => {
    const { store, sent } = clientOf([created()]);
    const call = store.createPet({ name: 'Luna', categoryId: 1n }, { idempotencyKey });
    await expect(call).rejects.toThrow(new TypeError('Idempotency-Key must be printable ASCII'));
    expect(sent).toEqual([]);
  });
});

describe('hooks', () => {
  it('see each try, and can add headers, but never see the key', async () => {
    const seen: unknown[] = [];
    const { store, sent } = clientOf([refusal(503), created()], {
      onRequest: ({ operation, tries, headers }) => {
        seen.push([operation, tries, headers.get('Authorization')]);
        headers.set('traceparent', `00-${tries}`);
      },
      onResponse: ({ status, requestId, error }) => seen.push([status, requestId, error?.code]),
    });
    await store.createPet({ name: 'Luna', categoryId: 1n });
    expect(seen).toEqual([
      ['POST /pets', 1, null],
      [503, 'req-1', 'rate_limited'],
      ['POST /pets', 2, null],
      [201, undefined, undefined],
    ]);
    expect(sent.map(({ headers }) => headers.get('traceparent'))).toEqual(['00-1', '00-2']);
  });

  it('change nothing by failing; their error is uncaught', async () => {
    const thrown = jest.spyOn(globalThis, 'queueMicrotask').mockImplementation(() => undefined);
    const broken = () => {
      throw new Error('the log is full');
    };
    const { store } = clientOf([created()], { onRequest: broken, onResponse: broken });
    await expect(store.createPet({ name: 'Luna', categoryId: 1n })).resolves.toMatchObject({ id: 1n });
    expect(thrown.mock.calls.map(([report]) => report)).toEqual([expect.any(Function), expect.any(Function)]);
    expect(thrown.mock.calls[0]?.[0]).toThrow('the log is full');
    thrown.mockRestore();
  });
});

describe('a deprecated operation', () => {
  const warn = jest.spyOn(console, 'warn').mockImplementation(() => undefined);
  afterAll(() => {
    warn.mockRestore();
  });
  const storeSaying = (Sunset: string) => {
    const headers = { Deprecation: '@1764892800', Sunset };
    return clientOf([new Response('{"id":1,"name":"Luna","categoryId":1,"status":"sold"}', { headers })]).store;
  };

  it('is warned of once', async () => {
    for (let call = 0; call < 2; call += 1)
      await storeSaying('Thu, 05 Dec 2030 00:00:00 GMT').request('GET', '/pets/{petId}', { path: { petId: 1n } });
    const warning = 'GET /pets/{petId} is deprecated, and ends on 2030-12-05T00:00:00.000Z';
    expect(warn.mock.calls).toEqual([[warning]]);
  });

  it('is not said to end on a date that does not exist, such as 30 February', async () => {
    warn.mockClear();
    await storeSaying('Sat, 30 Feb 2030 00:00:00 GMT').getCategory(1n);
    expect(warn.mock.calls).toEqual([['GET /categories/{categoryId} is deprecated']]);
  });
});

describe('the options', () => {
  const { env } = process;
  afterEach(() => {
    process.env = env;
  });

  it('come from the environment by default', async () => {
    process.env = { ...env, API_URL: 'https://api.example/v1', API_KEY: 'aas_live_other' };
    const sent: [string, unknown][] = [];
    const store = new AdoptionStore({
      fetch: async (url, { headers }) => {
        sent.push([url.href, new Headers(headers).get('Authorization')]);
        return created();
      },
    });
    await store.createPet({ name: 'Luna', categoryId: 1n });
    expect(sent).toEqual([['https://api.example/v1/pets', 'Bearer aas_live_other']]);
  });

  it('must be somewhere', () => {
    process.env = {};
    expect(() => new AdoptionStore({ baseUrl: BASE })).toThrow('apiKey (or API_KEY) is not an API key');
    expect(() => new AdoptionStore({ apiKey: KEY })).toThrow('baseUrl (or API_URL) is not a URL');
  });

  it.each([
    ['maxTries', [0, -1, 1.5, NaN, Infinity, 101, '5'], 'an integer from 1 to 100'],
    ['maxWait', [-1, NaN, Infinity, 2 ** 31], 'an integer from 0 to 2147483647'],
    ['tryTimeout', [0, NaN, Infinity, 2 ** 31], 'an integer from 1 to 2147483647'],
    ['timeout', [0, NaN, 2 ** 31], 'an integer from 1 to 2147483647'],
    ['maxInFlight', [0, NaN, Infinity, 1001], 'an integer from 1 to 1000'],
  ])('%s is checked', (name, values, rule) => {
    for (const value of values)
      expect(() => new AdoptionStore({ baseUrl: BASE, apiKey: KEY, [name]: value })).toThrow(
        new RangeError(`${name} must be ${rule}`),
      );
  });
});

describe('the key', () => {
  it('is sent only to the API, without cookies and never through a redirect', async () => {
    const { store, sent } = clientOf([pet()]);
    await store.pets().page();
    expect(sent[0]?.headers.get('Authorization')).toBe(`Bearer ${KEY}`);
    expect(sent[0]?.init).toMatchObject({ redirect: 'manual', credentials: 'omit' });
    expect(sent[0]?.headers.get('User-Agent')).toMatch(/^adoption-store-client\/\d+\.\d+\.\d+$/);
  });

  it('never appears in printed output', async () => {
    const echo = JSON.stringify({ code: 'invalid_api_key', message: `there is no key ${KEY}`, status: 401 });
    const { store } = clientOf([new Response(echo, { status: 401 })]);
    const error = await errorOf(store.getRateLimit());
    const printed = [store, store.pets(), error].map((each) => inspect(each, { showHidden: true, depth: null }));
    expect(printed.join()).not.toContain(KEY);
    expect(JSON.stringify([store, error])).not.toContain(KEY);
    expect(error.message).toBe('there is no key …');
  });

  it.each(['', 'aas live', 'aas_live\n', 'ключ'])('is refused as %j, without being quoted', (apiKey) => {
    expect(() => new AdoptionStore({ baseUrl: BASE, apiKey })).toThrow(
      new TypeError('apiKey (or API_KEY) is not an API key'),
    );
  });

  it.each(['http://api.example/v1', 'http://localhost.example/v1', 'ftp://localhost/v1', 'http://127.0.0.1.example'])(
    'is not sent to %s',
    (baseUrl) => {
      expect(() => new AdoptionStore({ baseUrl, apiKey: KEY })).toThrow('baseUrl must be https');
    },
  );

  it.each(['http://localhost:3000/v1', 'http://127.0.0.1:3000/v1/', 'http://[::1]/v1', 'https://api.example/a/v1'])(
    'is sent to %s',
    async (baseUrl) => {
      const { store, sent } = clientOf([pet()], { baseUrl });
      await store.pets().page();
      expect(sent[0]?.url).toBe(`${baseUrl.replace(/\/$/, '')}/pets`);
    },
  );
});

describe('JSON', () => {
  const names = [...int64Properties];
  // `__proto__` in an object literal sets the prototype, so it can't be used as a property name here.
  const otherName = fc.string().filter((name) => !int64Properties.has(name) && name !== '__proto__');
  const double = fc.double({ noNaN: true, noDefaultInfinity: true });
  const scalar = fc.oneof(fc.string(), fc.boolean(), fc.constant(null), double);

  it('returns every int64 exactly, as a bigint', () => {
    const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
    fc.assert(
      fc.property(fc.constantFrom(...names), int64, (name, value) => {
        expect(toJson({ [name]: value })).toBe(`{"${name}":${value}}`);
        expect(fromJson(`[{ "a" : [ { "${name}" : ${value} } ] }]`)).toEqual([{ a: [{ [name]: value }] }]);
      }),
    );
  });

  it('equals that of JSON.parse and JSON.stringify if there is no int64', () => {
    const plain = fc.dictionary(otherName, fc.oneof(scalar, fc.array(scalar)), { noNullPrototype: true });
    fc.assert(
      fc.property(plain, (value) => {
        const text = JSON.stringify(value);
        expect(toJson(value)).toBe(text);
        expect(fromJson(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  it('reads only integers of the int64 names as bigints', () => {
    const others = { id: 'id', petId: null, categoryId: 1.5, status: 404, list: [1] };
    expect(fromJson(JSON.stringify(others))).toEqual(others);
  });

  it.each(['', '{', '<html>', '{"id":1}x', '{"id":01}'])('refuses %j', (text) => {
    expect(() => fromJson(text)).toThrow(SyntaxError);
  });
});
