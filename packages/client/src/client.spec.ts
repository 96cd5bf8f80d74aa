import { inspect } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { AdoptionStore, ApiError, type ClientOptions } from './index.js';

const KEY = 'aas_live_secret';
const BASE = 'https://api.example/v1';
const REFUSAL = '{"code":"rate_limited","message":"too many requests","status":429}';

interface Sent {
  readonly url: string;
  readonly headers: Headers;
  readonly init: RequestInit;
}

type Step = Response | Error | (() => Response);

/**
 * A client whose requests get these answers in turn, the last one repeatedly, and a record of its requests and waits.
 */
function clientOf(steps: readonly Step[], options: Partial<ClientOptions> = {}) {
  const sent: Sent[] = [];
  const waits: number[] = [];
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
    wait: async (milliseconds) => {
      waits.push(milliseconds);
    },
    ...options,
  });
  return { store, sent, waits };
}

const refusal = (status: number, headers: Record<string, string> = {}, body = REFUSAL) =>
  new Response(body, { status, headers: { 'X-Request-Id': 'req-1', ...headers } });
const pet = (headers: Record<string, string> = {}) =>
  new Response('[{"id":9223372036854775807,"name":"Luna","categoryId":1,"status":"sold"}]', { headers });
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
  it.each([429, 503])('wait after a %i as long as Retry-After says', async (status) => {
    const { store, sent, waits } = clientOf([refusal(status, { 'Retry-After': '7' }), pet()]);
    await expect(store.pets().page()).resolves.toMatchObject({ items: [{ id: 2n ** 63n - 1n }] });
    expect({ waits, tries: sent.length }).toEqual({ waits: [7000], tries: 2 });
  });

  it('repeat a POST whose Idempotency-Key is still in use', async () => {
    const body = '{"code":"idempotency_key_in_use","message":"in progress, try again","status":409}';
    const inUse = refusal(409, { 'Retry-After': '1' }, body);
    const { store, sent, waits } = clientOf([inUse, pet()]);
    await store.pets().page();
    expect({ waits, tries: sent.length }).toEqual({ waits: [1000], tries: 2 });
  });

  it('understand a date, which a proxy may send', async () => {
    const date = new Date(Date.now() + 20_000).toUTCString();
    const { store, waits } = clientOf([refusal(503, { 'Retry-After': date }), pet()]);
    await store.pets().page();
    expect(waits).toEqual([expect.any(Number)]);
    expect(waits[0]).toBeGreaterThan(15_000);
    expect(waits[0]).toBeLessThanOrEqual(20_000);
  });

  it('wait a random time within doubling bounds if there is no Retry-After', async () => {
    const { store, waits } = clientOf([DISCONNECTED], { maxTries: 8 });
    await errorOf(store.pets().page());
    expect(waits).toHaveLength(7);
    waits.forEach((wait, index) => {
      expect(wait).toBeLessThanOrEqual(Math.min(8000, 500 * 2 ** index));
    });
    expect(new Set(waits).size).toBeGreaterThan(1);
  });

  it('stop after the configured number of tries', async () => {
    const { store, sent } = clientOf([refusal(503, { 'Retry-After': '1' })], { maxTries: 3 });
    await expect(errorOf(store.getRateLimit())).resolves.toMatchObject({ status: 503, retryAfter: 1 });
    expect(sent).toHaveLength(3);
  });

  it('never wait longer in total than configured, and report the missing time immediately', async () => {
    const { store, sent, waits } = clientOf([refusal(429, { 'Retry-After': '40' })]);
    await expect(errorOf(store.getRateLimit())).resolves.toMatchObject({ status: 429, retryAfter: 40 });
    expect({ waits, tries: sent.length }).toEqual({ waits: [40_000], tries: 2 });
  });

  it.each([400, 401, 404, 409, 500])('never repeat a request after a %i', async (status) => {
    const { store, sent } = clientOf([refusal(status)]);
    await expect(errorOf(store.getRateLimit())).resolves.toMatchObject({ status });
    expect(sent).toHaveLength(1);
  });

  it('repeat a POST with the same Idempotency-Key; the next POST has another', async () => {
    const { store, sent } = clientOf([DISCONNECTED, refusal(503), pet()]);
    await store.createPet({ name: 'Luna', categoryId: 1n });
    await store.createPet({ name: 'Luna', categoryId: 1n });
    const keys = sent.map(({ headers }) => headers.get('Idempotency-Key'));
    expect(keys[0]).toMatch(/^[\da-f-]{36}$/);
    expect(keys).toEqual([keys[0], keys[0], keys[0], expect.not.stringMatching(String(keys[0]))]);
  });

  it("use the caller's Idempotency-Key", async () => {
    const { store, sent } = clientOf([pet()]);
    await store.completeOrder(5n, { idempotencyKey: 'mine' });
    expect(sent.map(({ url, headers }) => [url, headers.get('Idempotency-Key')])).toEqual([
      [`${BASE}/store/orders/5/complete`, 'mine'],
    ]);
  });

  it('repeat a request whose connection breaks in the middle of the response', async () => {
    const broken = () => new Response(new ReadableStream({ pull: () => Promise.reject(DISCONNECTED) }));
    const { store, sent } = clientOf([broken, pet()]);
    await store.pets().page();
    expect(sent).toHaveLength(2);
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
    await expect(store.pets({}, { signal: controller.signal }).page()).rejects.toThrow('enough');
  });

  it('is not treated as a broken connection', async () => {
    const { store, sent } = clientOf([DISCONNECTED]);
    const options = { signal: AbortSignal.abort(new Error('enough')) };
    await expect(store.createPet({ name: 'Luna', categoryId: 1n }, options)).rejects.toThrow('enough');
    expect(sent).toHaveLength(1);
  });
});

describe('pages', () => {
  it.each([
    ['another origin', '<https://evil.example/v1/pets?cursor=a>; rel="next"'],
    ['another scheme', '<http://api.example/v1/pets?cursor=a>; rel="next"'],
    ['another port', '<https://api.example:444/v1/pets?cursor=a>; rel="next"'],
    ['another path', '<https://api.example/elsewhere>; rel="next"'],
    ['no URL', '<https://>; rel="next"'],
  ])('a link to %s is not followed', async (_, Link) => {
    const { store, sent } = clientOf([pet({ Link })]);
    await expect(errorOf(store.pets().page())).resolves.toMatchObject({ code: 'unexpected_response' });
    await expect(errorOf(store.pets().page(Link.slice(1, Link.indexOf('>'))))).resolves.toBeInstanceOf(ApiError);
    expect(sent).toHaveLength(1);
  });

  it.each(['<?cursor=a>; rel="next"', '<?cursor=z>; rel="prev", <?cursor=a>; title="x"; rel=next'])(
    'follows %s',
    async (Link) => {
      const { store, sent } = clientOf([pet({ Link }), pet()]);
      const ids = [];
      for await (const { id } of store.pets({ id: [1n, 2n ** 63n - 1n], limit: 1 })) ids.push(id);
      expect(ids).toHaveLength(2);
      expect(sent.map(({ url }) => url)).toEqual([
        `${BASE}/pets?id=1&id=9223372036854775807&limit=1`,
        `${BASE}/pets?cursor=a`,
      ]);
    },
  );

  it('leave undefined parameters out of the query', async () => {
    const { store, sent } = clientOf([pet()]);
    await store.pets(Object.assign({ limit: 1 }, { status: undefined } as object)).page();
    expect(sent[0]?.url).toBe(`${BASE}/pets?limit=1`);
  });

  it('are fetched only when they are needed', async () => {
    const { store, sent } = clientOf([pet({ Link: '<?cursor=a>; rel="next"' })]);
    const pets = store.pets();
    expect(sent).toHaveLength(0);
    for await (const { id } of pets) if (id > 0n) break;
    expect(sent).toHaveLength(1);
  });
});

describe('an error', () => {
  it('has the API’s code, message and status', async () => {
    const { store } = clientOf([refusal(404, { 'Retry-After': '3' })]);
    await expect(errorOf(store.getOrder(1n))).resolves.toMatchObject({
      name: 'ApiError',
      code: 'rate_limited',
      message: 'too many requests',
      status: 404,
      requestId: 'req-1',
      retryAfter: 3,
    });
  });

  it.each([
    ['a page instead of an error', 502, '<h1>Bad Gateway</h1>'],
    ['a page instead of a result', 200, '<h1>Log in</h1>'],
    ['JSON of another shape', 500, '{"error":"?"}'],
    ['null', 500, 'null'],
  ])('is unexpected_response for %s', async (_, status, body) => {
    const { store } = clientOf([new Response(body, { status })]);
    await expect(errorOf(store.getRateLimit())).resolves.toMatchObject({ code: 'unexpected_response', status });
  });

  it('is network_error without a response, and has the cause', async () => {
    const { store } = clientOf([DISCONNECTED]);
    await expect(errorOf(store.getRateLimit())).resolves.toMatchObject({
      code: 'network_error',
      status: 0,
      cause: DISCONNECTED,
    });
  });
});

describe('the key', () => {
  it('is sent only to the API, without cookies and never through a redirect', async () => {
    const { store, sent } = clientOf([pet()]);
    await store.pets().page();
    expect(sent[0]?.headers.get('Authorization')).toBe(`Bearer ${KEY}`);
    expect(sent[0]?.init).toMatchObject({ redirect: 'error', credentials: 'omit' });
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
    expect(() => new AdoptionStore({ baseUrl: BASE, apiKey })).toThrow(new TypeError('apiKey is not an API key'));
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
