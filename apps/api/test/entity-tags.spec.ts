import { MINUTE } from '@adoption-store/domain';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { useApi } from './support/api.js';
import { expectError, expectLimitHeaders } from './support/expectations.js';
import { addCategory, CATEGORIES, categoryOf } from './support/categories-client.js';
import { messageOf, MESSAGES, writeMessage } from './support/messages-client.js';
import { bearer, changePet, get, rawHead, sendOnce, withdrawPet } from './support/pets-client.js';
import { request } from './support/raw-http.js';
import { addPet, end, ORDERS, placeOrder } from './support/store-client.js';

const api = useApi();
const paths: Record<string, string> = {};

beforeAll(async () => {
  const { id, petId } = await placeOrder(api);
  Object.assign(paths, {
    'a list': '/v1/pets?limit=1',
    'an empty list': '/v1/pets?id=999999',
    'an animal': `/v1/pets/${petId}`,
    'a list of orders': ORDERS,
    'an order': `${ORDERS}/${id}`,
    'a list of categories': CATEGORIES,
    'a category': `${CATEGORIES}/${categoryOf(await addCategory(api, 'Cats'), 201).id}`,
    'a message': `${MESSAGES}/${messageOf(await writeMessage(api, 'Hello'), 202).id}`,
  });
});

// Each test has its own minute, so that no test uses up another's quota.
beforeEach(() => {
  api.clock.advance(MINUTE);
});

const CASES = [
  'a list',
  'an empty list',
  'an animal',
  'a list of categories',
  'a category',
  'a list of orders',
  'an order',
  'a message',
];
const conditionally = (path: string, tag: string, method = 'GET') =>
  request(api, path, { method, headers: { ...bearer(api.key), 'If-None-Match': tag } });

it.each(['a list', 'a category'])(
  '%s asked for by a request that turns out not to be HTTP is an error, not 304',
  async (name) => {
    const head = rawHead(api, `GET ${paths[name] ?? ''} HTTP/1.1`, ['If-None-Match: *', 'Transfer-Encoding: chunked']);
    const refused = await sendOnce(api, `${head}zz\r\n`);
    expectError(refused, 400, 'bad_request');
    expect(refused.headers).not.toHaveProperty('etag');
  },
);

describe.each(CASES)('%s', (name) => {
  it('has a strong entity tag, the same for the same content, and for HEAD', async () => {
    const [one, other] = [await get(api, paths[name] ?? ''), await get(api, paths[name] ?? '')];
    expect(one).toMatchObject({ status: 200, headers: { etag: expect.stringMatching(/^"[0-9a-f]{64}"$/) } });
    expect(other.headers['etag']).toBe(one.headers['etag']);
    const head = await request(api, paths[name] ?? '', { method: 'HEAD', headers: bearer(api.key) });
    expect(head.headers['etag']).toBe(one.headers['etag']);
  });

  it.each<[string, (tag: string) => string]>([
    ['its tag', (tag) => tag],
    ['its tag as a weak one', (tag) => `W/${tag}`],
    ['its tag among others', (tag) => `"a", ${tag} , "b"`],
    ['*', () => '*'],
  ])('is 304 without a body, and counts, if the client has %s', async (_case, headerOf) => {
    const { headers } = await get(api, paths[name] ?? '');
    for (const method of ['GET', 'HEAD']) {
      const before = Number((await get(api, '/v1/rate_limit')).headers['x-ratelimit-remaining']);
      const response = await conditionally(paths[name] ?? '', headerOf(headers['etag'] ?? ''), method);
      expect(response).toMatchObject({ status: 304, body: '', headers: { etag: headers['etag'] } });
      for (const absent of ['transfer-encoding', ...(method === 'GET' ? ['content-length'] : [])])
        expect(response.headers).not.toHaveProperty(absent);
      expectLimitHeaders(response);
      expect(Number(response.headers['x-ratelimit-remaining'])).toBe(before - 1);
    }
  });

  it.each<[string, (tag: string) => string]>([
    ['another tag', () => '"another"'],
    ['its tag without quotes', (tag) => tag.replaceAll('"', '')],
    ['a part of its tag', (tag) => `${tag.slice(0, 20)}"`],
    ['an empty tag', () => '""'],
    ['nothing', () => ''],
  ])('is 200 if the client has %s', async (_case, headerOf) => {
    const { headers, body } = await get(api, paths[name] ?? '');
    const response = await conditionally(paths[name] ?? '', headerOf(headers['etag'] ?? ''));
    expect(response).toMatchObject({ status: 200, body });
  });
});

it('an answer of 304 keeps the connection for the next request', async () => {
  const { headers } = await get(api, '/v1/pets');
  const [one, other] = await Promise.all([
    conditionally('/v1/pets', headers['etag'] ?? ''),
    conditionally('/v1/pets', headers['etag'] ?? ''),
  ]);
  expect([one.status, other.status]).toEqual([304, 304]);
  expect(await get(api, '/v1/pets')).toMatchObject({ status: 200 });
});

it('a page that has become the last is shown to a client that has its animals already', async () => {
  const [id, next] = [await addPet(api), await addPet(api)];
  const path = `/v1/pets?id=${id}&id=${next}&limit=1`;
  const before = await get(api, path);
  const tag = before.headers['etag'] ?? '';
  const known = await conditionally(path, tag);
  expect(known).toMatchObject({ status: 304 });
  expect(known.headers).not.toHaveProperty('link');
  await withdrawPet(api, next);
  const after = await conditionally(path, tag);
  expect(after).toMatchObject({ status: 200, body: before.body });
  expect([before.headers, after.headers].map(({ link }) => link !== undefined)).toEqual([true, false]);
});

it('a changed and a withdrawn animal are shown to a client that has the old list', async () => {
  const id = await addPet(api);
  const path = `/v1/pets?id=${id}`;
  const before = (await get(api, path)).headers['etag'] ?? '';
  await changePet(api, id, { name: 'Milo' });
  const changed = await conditionally(path, before);
  expect(changed).toMatchObject({ status: 200, body: expect.stringContaining('Milo') });
  await withdrawPet(api, id);
  expect(await conditionally(path, changed.headers['etag'] ?? '')).toMatchObject({ status: 200, body: '[]' });
});

it('an order that has ended has another tag', async () => {
  const { id } = await placeOrder(api);
  const before = (await get(api, `${ORDERS}/${id}`)).headers['etag'] ?? '';
  await end(api, 'cancel', id);
  expect(await conditionally(`${ORDERS}/${id}`, before)).toMatchObject({ status: 200 });
});

it('the limits have no tag, because they differ at each request', async () => {
  const response = await conditionally('/v1/rate_limit', '*');
  expect(response).toMatchObject({ status: 200 });
  expect(response.headers).not.toHaveProperty('etag');
});

it('an error has no tag, and no condition changes it', async () => {
  const response = await conditionally('/v1/pets/999999', '*');
  expectError(response, 404, 'not_found');
  expect(response.headers).not.toHaveProperty('etag');
});
