import { beforeAll, describe, expect, it } from '@jest/globals';
import { expectError, expectHeadError, JSON_CONTENT_TYPE } from '../support/expectations.js';
import {
  addPet,
  bearer,
  createPet,
  get,
  idsOf,
  listPets,
  nextPageOf,
  type Pet,
  petOf,
  petsOf,
  rawHead,
  sendOnce,
  walkPages,
} from '../support/pets-client.js';
import { request } from '../support/raw-http.js';
import { newCategoryId, openKeys, useSharedApi } from '../support/shared-api.js';

const STATUSES = ['available', 'pending', 'sold'] as const;
const [LEAST, GREATEST] = [-(2n ** 63n), 2n ** 63n - 1n];

const api = useSharedApi();
/** Nothing is ever added to it. */
const EMPTY = newCategoryId();

describe('GET /v1/pets', () => {
  const COUNT = 45;
  const CATEGORIES = [newCategoryId(), -newCategoryId(), newCategoryId()] as const;
  const MINE = CATEGORIES.map((id) => `categoryId=${id}`).join('&');
  let pets: readonly Pet[] = [];
  let ids: readonly number[];
  let cursor: string;

  beforeAll(async () => {
    for (let index = 0; index < COUNT; index += 1) {
      const body = { name: `Animal ${index}`, categoryId: CATEGORIES[index % 3], status: STATUSES[(index >> 1) % 3] };
      pets = [...pets, petOf(await createPet(api, JSON.stringify(body)), 201)];
    }
    ids = pets.map(({ id }) => id);
    cursor = nextPageOf(await list('limit=5'))?.searchParams.get('cursor') ?? '';
  });

  const list = (query = '') => listPets(api, `?${MINE}&${query}`);
  const all = async (query: string) => petsOf(await listPets(api, `?limit=100&${query}`));
  const byId = (...wanted: readonly (number | bigint | undefined)[]) =>
    wanted.map((id) => `id=${String(id)}`).join('&');

  describe('answers 200', () => {
    it('with a bare array of animals of exactly id, name, categoryId and status', async () => {
      const response = await list('limit=1');
      expect(response.headers['content-type']).toBe(JSON_CONTENT_TYPE);
      expect(petsOf(response)).toStrictEqual([
        { id: ids[0], name: 'Animal 0', categoryId: CATEGORIES[0], status: 'available' },
      ]);
    });

    it('with the first 20 animals where no limit is given, and takes no notice of a body', async () => {
      const headers = { ...bearer(api.key), 'Content-Type': 'text/plain' };
      expect(idsOf(await request(api, `/v1/pets?${MINE}`, { headers, body: '{' }))).toEqual(ids.slice(0, 20));
    });

    it.each([1, 2, 20, 21, 44, 45, 99, 100])('with exactly the first %i for that limit', async (limit) => {
      expect(idsOf(await list(`limit=${limit}`))).toEqual(ids.slice(0, limit));
    });

    it.each(['limit=%35', 'li%6Dit=5', '&limit=5'])('and decodes %s', async (query) => {
      expect(idsOf(await list(query))).toHaveLength(5);
    });

    it('with the animals of many ids, ascending, each once, without the unknown', async () => {
      const query = byId(ids[9], 999_999_999, ids[2], ids[5], ids[9], 0, -1, GREATEST, LEAST);
      expect((await all(query)).map(({ id }) => id)).toEqual([ids[2], ids[5], ids[9]]);
    });

    it('with an empty array where nothing matches', async () => {
      for (const query of [byId(999_999_999), `categoryId=${EMPTY}`]) {
        const response = await listPets(api, `?${query}`);
        expect(response).toMatchObject({ status: 200, body: '[]' });
        expect(response.headers).not.toHaveProperty('link');
      }
    });

    it('for 100 ids and 100 categories of the longest kind', async () => {
      const longest = Array.from({ length: 100 }, (_, index) => LEAST + BigInt(index));
      expect(await listPets(api, `?${byId(...longest)}`)).toMatchObject({ status: 200, body: '[]' });
      const categories = longest.map((id) => `categoryId=${id + 1_000n}`).join('&');
      expect(await listPets(api, `?${categories}`)).toMatchObject({ status: 200, body: '[]' });
    });

    it('with what status, ids and categories select together, at most the limit', async () => {
      const wanted = pets.slice(0, 20);
      const query = byId(...wanted.map(({ id }) => id));
      const expected = wanted.filter((pet) => pet.categoryId === CATEGORIES[0] && pet.status === 'available');
      expect(expected.length).toBeGreaterThan(2);
      expect(await all(`${query}&categoryId=${CATEGORIES[0]}&status=available`)).toEqual(expected);
      const some = await listPets(api, `?${query}&categoryId=${CATEGORIES[0]}&status=available&limit=2`);
      expect(petsOf(some)).toEqual(expected.slice(0, 2));
    });
  });

  describe('has a Link header', () => {
    it('with an absolute URL of the page that follows, on the host that was asked', async () => {
      const next = nextPageOf(await list('limit=5'));
      expect(next).toMatchObject({ origin: api.origin, pathname: '/v1/pets' });
      expect(next?.searchParams.get('cursor')).toMatch(/^[A-Za-z0-9._~-]+$/);
      expect(idsOf(await get(api, `/v1/pets${next?.search ?? ''}`))).toEqual(ids.slice(5, 10));
      const head = await request(api, `/v1/pets?${MINE}&limit=5`, { method: 'HEAD', headers: bearer(api.key) });
      expect(nextPageOf(head)).toEqual(next);
    });

    it('on the name that the client calls the service by, and a usable one where HTTP/1.0 needs no Host', async () => {
      const ask = (version: string, ...headers: readonly string[]) =>
        sendOnce(
          api,
          rawHead(api, `GET /v1/pets?${MINE}&limit=5 ${version}`, headers, [`Authorization: Bearer ${api.key}`]),
        );
      expect(nextPageOf(await ask('HTTP/1.1', 'Host: pets.example:8443'))?.origin).toBe('http://pets.example:8443');
      expect(nextPageOf(await ask('HTTP/1.0'))?.origin).toBe(api.origin);
    });

    it('only where an animal is left', async () => {
      expect((await list(`limit=${COUNT - 1}`)).headers).toHaveProperty('link');
      for (const limit of [COUNT, 100]) expect((await list(`limit=${limit}`)).headers).not.toHaveProperty('link');
    });

    it('that keeps every filter, adds none, and has one cursor, another on each page', async () => {
      const query = `?limit=1&status=sold&${byId(...ids)}&${MINE}`;
      const second = nextPageOf(await listPets(api, query))?.search ?? '';
      const third = nextPageOf(await listPets(api, second))?.search ?? '';
      for (const search of [second, third]) expect(search.replace(/&cursor=[\w-]+$/, '')).toBe(query);
      expect(third).not.toBe(second);
      expect([...(nextPageOf(await list())?.searchParams.keys() ?? [])]).toEqual([
        'categoryId',
        'categoryId',
        'categoryId',
        'cursor',
      ]);
    });
  });

  it.each([1, 7, 44, 45, 100])('is walked by %i so that every animal is met exactly once, in order', async (limit) => {
    const pages = await walkPages(api, `?${MINE}&limit=${limit}`);
    expect(pages.flat()).toEqual(pets);
    expect(pages).toHaveLength(Math.ceil(COUNT / limit));
  });

  it('takes a cursor with another limit and status, and from another account', async () => {
    expect(idsOf(await list(`limit=3&cursor=${cursor}`))).toEqual(ids.slice(5, 8));
    const sold = pets.slice(5).filter(({ status }) => status === 'sold');
    expect(petsOf(await list(`limit=2&status=sold&cursor=${cursor}`))).toEqual(sold.slice(0, 2));
    const [key] = await openKeys();
    expect(idsOf(await get(api, `/v1/pets?${MINE}&limit=3&cursor=${cursor}`, key))).toEqual(ids.slice(5, 8));
  });

  describe('answers 400 invalid_parameter', () => {
    const times = (count: number, name: string) => Array.from({ length: count }, (_, at) => `${name}=${at}`).join('&');

    it.each([
      ...['0', '-0', '101', '99999999999999999999', '-1', '01', '%2B5', '+5', '1.0', '1e1', '0x10', '1_0', '', '%20'],
      ...['5%20', '5%0A', '5%00', '%EF%BC%95', '%D9%A5', 'ten', 'NaN', '5,6', '%225%22', '[5]', '%zz'],
      ...['5&limit=5', '5&li%6Dit=6', '5&limit='],
    ])('to limit=%s', async (value) => {
      const message = expectError(await listPets(api, `?limit=${value}`), 400, 'invalid_parameter');
      expect(message).toMatch(/^limit\b.*\b1\b.*\b100\b/);
    });

    it.each(['adopted', '', 'SOLD', 'sold%20', 'sold%0A', 'available,sold', 'sold&status=sold', 'constructor', '0'])(
      'to status=%s',
      async (value) => {
        const message = expectError(await listPets(api, `?status=${value}`), 400, 'invalid_parameter');
        expect(message).toMatch(/^status\b.*available, pending, sold/);
      },
    );

    it.each(
      ['id', 'categoryId'].flatMap((name) =>
        ['', '1.0', '1e3', '%2B1', '01', '9223372036854775808', '-9223372036854775809', '9'.repeat(1_000), 'abc', '1,2']
          .concat('0x1', '1n', '-', '%201', '1%0A', '1%00', '%EF%BC%91')
          .map((value) => [name, value] as const),
      ),
    )('to %s=%s among good ones', async (name, value) => {
      const response = await listPets(api, `?${name}=1&${name}=${value}&${name}=2`);
      expect(expectError(response, 400, 'invalid_parameter')).toBe(
        `${name} must be an integer from -9223372036854775808 to 9223372036854775807; ` +
          `for several, repeat the parameter: ${name}=1&${name}=2`,
      );
    });

    it.each(['id', 'categoryId'])('to %s given 101 times', async (name) => {
      const message = expectError(await listPets(api, `?${times(101, name)}`), 400, 'invalid_parameter');
      expect(message).toBe(`${name} must be given at most 100 times`);
    });

    it.each<[string, () => string]>([
      ['that is empty', () => ''],
      ['that is a number', () => '100'],
      ['that is cut at its start', () => cursor.slice(1)],
      ['with a character behind', () => `${cursor}A`],
      ['with white space inside', () => `${cursor.slice(0, 4)}%20${cursor.slice(4)}`],
      ['whose last character was changed', () => `${cursor.slice(0, -1)}${cursor.endsWith('B') ? 'C' : 'B'}`],
      ['that is given twice', () => `${cursor}&cursor=${cursor}`],
      ['that ends at SQL', () => Buffer.from("pets:1' OR '1'='1").toString('base64url')],
    ])('to a cursor %s', async (_case, text) => {
      expect(expectError(await list(`cursor=${text()}`), 400, 'invalid_parameter')).toMatch(/^cursor\b/);
    });

    it('to a cursor that is cut short anywhere, rather than go on from the wrong place', async () => {
      const cuts = Array.from({ length: cursor.length - 1 }, (_, index) => cursor.slice(0, index + 1));
      const answers = await Promise.all(cuts.map(async (cut) => (await list(`cursor=${cut}`)).status));
      expect(new Set(answers)).toEqual(new Set([400]));
    });

    it.each(['limit=0', 'status=x', 'id=x', 'cursor=x'])('only after 401: to %s', async (query) => {
      expectError(await request(api, `/v1/pets?${query}`), 401, 'missing_api_key');
      expectError(await get(api, `/v1/pets?${query}`, 'nonsense'), 401, 'invalid_api_key');
    });
  });
});

/** No id of an animal. `%s` of a path. */
const NO_IDS = [
  '999999999',
  '0',
  '9223372036854775808',
  '9'.repeat(8_000),
  '',
  'luna',
  '1.0',
  '1e0',
  '%2B1',
  '01',
].concat('0x1', '-', '%201', '1%00', '1%2F', '%EF%BC%91', '1;a=b', ':petId', '__proto__', '*', '%F0%9F%90%88');

describe('GET /v1/pets/{petId}', () => {
  it('takes percent-encoded digits for the digits', async () => {
    const id = await addPet(api);
    const digits = [...String(id)].map((digit) => `%3${digit}`).join('');
    expect(petOf(await get(api, `/v1/pets/${digits}`)).id).toBe(id);
  });

  it.each(NO_IDS)('answers 404 not_found to %s, to HEAD too, and 401 to no key', async (id) => {
    expectError(await get(api, `/v1/pets/${id}`), 404, 'not_found');
    expectHeadError(await request(api, `/v1/pets/${id}`, { method: 'HEAD', headers: bearer(api.key) }), 404);
    expectError(await request(api, `/v1/pets/${id}`), 401, 'missing_api_key');
  });

  it('says that it is deprecated, as RFC 9745 and RFC 8594 write it, on 404 too, with a successor and a page', async () => {
    const id = await addPet(api);
    for (const [petId, status] of [
      [id, 200],
      [999_999_999, 404],
    ] as const) {
      const { headers, ...response } = await get(api, `/v1/pets/${petId}`);
      expect(response.status).toBe(status);
      expect(headers).toMatchObject({ deprecation: '@1764892800', sunset: 'Thu, 05 Dec 2030 00:00:00 GMT' });
      expect(headers['link']).toBe(
        `<${api.origin}/v1/pets?id=${petId}>; rel="successor-version", <${api.origin}/docs>; rel="deprecation"; type="text/html"`,
      );
    }
    for (const path of [`/v1/pets?id=${id}`, '/v1/pets?limit=1']) {
      const { headers } = await get(api, path);
      expect([headers['deprecation'], headers['sunset']]).toEqual([undefined, undefined]);
    }
    expect((await request(api, `/v1/pets/${id}`)).headers).not.toHaveProperty('sunset');
  });
});
