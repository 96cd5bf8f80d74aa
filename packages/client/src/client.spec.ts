import { afterAll, describe, expect, it, jest } from '@jest/globals';
import { BASE, clientOf, created, errorOf, KEY, pet, refusal } from '../test/support/scripted-client.js';

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
    const { data, response } = await store.categories.get(1n).withResponse();
    expect(data).toEqual({ id: 1n, name: 'Cats' });
    expect(response).toMatchObject({
      status: 200,
      requestId: 'req-1',
      etag: '"abc"',
      replayed: true,
      limits: { limit: 60, remaining: 0, reset: 1_795_262_460 },
    });
  });

  it('of an animal by its id is no deprecated one, has the tag of its page, and may find none', async () => {
    const { store, sent } = clientOf([pet({ ETag: '"of the page"' }), new Response('[]')]);
    const { data, response } = await store.pets.get(2n ** 63n - 1n).withResponse();
    expect([data.name, response.status, response.etag]).toEqual(['Luna', 200, '"of the page"']);
    expect(sent[0]?.url).toBe(`${BASE}/pets?id=9223372036854775807`);
    const none = { code: 'not_found', kind: 'not_found', status: 404, message: 'no animal has the id 2' };
    expect(await errorOf(store.pets.get(2n))).toMatchObject(none);
  });

  it.each([
    ['that fetch is called as a method', () => Promise.reject(new TypeError('Illegal invocation'))],
    [
      'what is missing before a request',
      () => {
        throw new TypeError('AbortSignal.any is missing');
      },
    ],
    ['what is missing after it', async () => ({ ok: true, status: 200, headers: new Headers(), body: {} }) as Response],
  ])('shows an error of its environment as what it is, and sends nothing again: %s', async (_what, fetch) => {
    let tries = 0;
    const { store } = clientOf([], { fetch, onRequest: () => (tries += 1) });
    await expect(store.categories.get(1n)).rejects.toThrow(TypeError);
    expect(tries).toBe(1);
  });

  it('says what it was that lost its connection, but never the key', async () => {
    const lost = new TypeError('fetch failed', { cause: new Error(`no way for ${KEY}`) });
    const { message } = await errorOf(clientOf([lost]).store.categories.get(1n));
    expect(message).toBe('the connection to api.example:443 failed before the end: no way for …');
  });

  it('reaches operations without a method of their own, and only those that there are', async () => {
    const { store, sent } = clientOf([created()]);
    await store.request('GET', '/pets/{petId}', { path: { petId: 2n ** 63n - 1n } });
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

  it.each([
    ['two\r\nlines', 'must be printable ASCII'],
    ['ключ', 'must be printable ASCII'],
    ['', 'is empty'],
  ])('refuses the Idempotency-Key %j before it is sent', async (idempotencyKey, rule) => {
    const { store, sent } = clientOf([created()]);
    const call = store.pets.create({ name: 'Luna', categoryId: 1n }, { idempotencyKey });
    await expect(call).rejects.toThrow(new TypeError(`Idempotency-Key ${rule}`));
    expect(sent).toEqual([]);
  });
});

describe('hooks', () => {
  it('see each try, and can add headers, but never see the key', async () => {
    const seen: unknown[] = [];
    const { store, sent } = clientOf([refusal(503, { 'X-Request-Id': 'req-1' }), created()], {
      onRequest: ({ operation, tries, headers }) => {
        seen.push([operation, tries, headers.get('Authorization')]);
        headers.set('traceparent', `00-${tries}`);
      },
      onResponse: ({ status, requestId, error }) => seen.push([status, requestId, error?.code]),
    });
    await store.pets.create({ name: 'Luna', categoryId: 1n });
    expect(seen).toEqual([
      ['POST /pets', 1, null],
      [503, 'req-1', 'a_code'],
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
    await expect(store.pets.create({ name: 'Luna', categoryId: 1n })).resolves.toMatchObject({ id: 1n });
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
    await storeSaying('Sat, 30 Feb 2030 00:00:00 GMT').categories.get(1n);
    expect(warn.mock.calls).toEqual([['GET /categories/{categoryId} is deprecated']]);
  });
});
