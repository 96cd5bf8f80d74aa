import { beforeAll, describe, expect, it } from '@jest/globals';
import {
  addPet,
  bearer,
  get,
  idsOf,
  nextPageOf,
  type Pet,
  petOf,
  PETS,
  petsOf,
  post,
  rawHead,
  sendOnce,
  walk,
} from '../support/client.js';
import { expectError, expectHeadError } from '../support/expectations.js';
import { request } from '../support/raw-http.js';
import { newCategoryId, openKeys, useSharedApi } from '../support/shared-api.js';

const STATUSES = ['available', 'pending', 'sold'] as const;
const LEAST = -(2n ** 63n);

const api = useSharedApi();

describe('GET /v1/pets', () => {
  const COUNT = 23;
  const CATEGORIES = [newCategoryId(), -newCategoryId(), newCategoryId()] as const;
  const MINE = CATEGORIES.map((id) => `categoryId=${id}`).join('&');
  const pets: Pet[] = [];
  let ids: readonly number[];
  let cursor: string;

  beforeAll(async () => {
    for (let index = 0; index < COUNT; index += 1) {
      const body = { name: `Animal ${index}`, categoryId: CATEGORIES[index % 3], status: STATUSES[(index >> 1) % 3] };
      pets.push(petOf(await post(api, PETS, body), 201));
    }
    ids = pets.map(({ id }) => id);
    cursor = nextPageOf(await list('limit=5'))?.searchParams.get('cursor') ?? '';
  });

  const list = (query = '') => get(api, `/v1/pets?${MINE}&${query}`);
  const byId = (...wanted: readonly unknown[]) => wanted.map((id) => `id=${String(id)}`).join('&');

  describe('answers 200', () => {
    it('with a bare array of animals', async () => {
      const [first] = pets;
      expect(first).toStrictEqual({ id: ids[0], name: 'Animal 0', categoryId: CATEGORIES[0], status: 'available' });
      expect(await list('limit=1')).toMatchObject({ status: 200, body: `[${JSON.stringify(first)}]` });
    });

    it('with the first 20 animals where no limit is given, and takes no notice of a body', async () => {
      const headers = { ...bearer(api.key), 'Content-Type': 'text/plain' };
      expect(idsOf(await request(api, `/v1/pets?${MINE}`, { headers, body: '{' }))).toEqual(ids.slice(0, 20));
    });

    it.each([1, COUNT - 1, COUNT, 100])(
      'with the first %i for that limit, and a Link if more are left',
      async (limit) => {
        const response = await list(`limit=${limit}`);
        expect(idsOf(response)).toEqual(ids.slice(0, limit));
        expect('link' in response.headers).toBe(limit < COUNT);
      },
    );

    it.each(['limit=%35', 'li%6Dit=5', '&limit=5'])('and decodes %s', async (query) => {
      expect(idsOf(await list(query))).toHaveLength(5);
    });

    it('with an empty array where nothing matches, also for 100 ids and categories of the longest kind', async () => {
      const longest = Array.from({ length: 100 }, (_, index) => LEAST + 1_000n + BigInt(index));
      for (const name of ['id', 'categoryId']) {
        const response = await get(api, `/v1/pets?${longest.map((id) => `${name}=${id}`).join('&')}`);
        expect(response).toMatchObject({ status: 200, body: '[]' });
        expect(response.headers).not.toHaveProperty('link');
      }
    });

    it('with what status, ids and categories select together, each once, at most the limit', async () => {
      const wanted = pets.slice(0, 20);
      const query = byId(...wanted.map(({ id }) => id), ids[0], 999_999_999);
      const expected = wanted.filter((pet) => pet.categoryId === CATEGORIES[0] && pet.status === 'available');
      expect(expected.length).toBeGreaterThan(2);
      const filter = `/v1/pets?${query}&categoryId=${CATEGORIES[0]}&status=available`;
      expect(petsOf(await get(api, filter))).toEqual(expected);
      expect(petsOf(await get(api, `${filter}&limit=2`))).toEqual(expected.slice(0, 2));
    });
  });

  describe('has a Link header', () => {
    it('with an absolute URL of the page that follows, on the host that was asked, also to HEAD', async () => {
      const next = nextPageOf(await list('limit=5'));
      expect(next).toMatchObject({ origin: api.origin, pathname: '/v1/pets' });
      expect(idsOf(await get(api, `/v1/pets${next?.search ?? ''}`))).toEqual(ids.slice(5, 10));
      const head = await request(api, `/v1/pets?${MINE}&limit=5`, { method: 'HEAD', headers: bearer(api.key) });
      expect(nextPageOf(head)).toEqual(next);
    });

    it('on the name that the client calls the service by, and a usable one where HTTP/1.0 needs no Host', async () => {
      const ask = (version: string, ...headers: readonly string[]) => {
        const line = `GET /v1/pets?${MINE}&limit=5 ${version}`;
        return sendOnce(api, rawHead(api, line, headers, [`Authorization: Bearer ${api.key}`]));
      };
      expect(nextPageOf(await ask('HTTP/1.1', 'Host: pets.example:8443'))?.origin).toBe('http://pets.example:8443');
      expect(nextPageOf(await ask('HTTP/1.0'))?.origin).toBe(api.origin);
    });

    it('that keeps every filter, and has one cursor, another on each page', async () => {
      const query = `?limit=1&status=sold&${byId(...ids)}&${MINE}`;
      const second = nextPageOf(await get(api, PETS + query))?.search ?? '';
      const third = nextPageOf(await get(api, PETS + second))?.search ?? '';
      for (const search of [second, third]) expect(search.replace(/&cursor=[\w-]+$/, '')).toBe(query);
      expect(third).not.toBe(second);
    });
  });

  it('is walked by its links so that every animal is met exactly once, in order', async () => {
    const pages = await walk(api, `/v1/pets?${MINE}&limit=7`);
    expect(pages.flatMap(petsOf)).toEqual(pets);
    expect(pages).toHaveLength(4);
  });

  it('takes a cursor with another limit and status, and from another account', async () => {
    const sold = pets.slice(5).filter(({ status }) => status === 'sold');
    const [key] = await openKeys();
    const other = await get(api, `/v1/pets?${MINE}&limit=2&status=sold&cursor=${cursor}`, key);
    expect(petsOf(other)).toEqual(sold.slice(0, 2));
  });

  describe('by the beginning of the name', () => {
    const OTHER = newCategoryId();
    const word = `Łuna ${CATEGORIES[0]} `;
    const named = (text: string, query = '') => get(api, `/v1/pets?name=${encodeURIComponent(text)}${query}`);
    let found: readonly Pet[];

    beforeAll(async () => {
      const names = ['🐈', 'b', 'A', 'É', '猫', 'a', 'Б:б'];
      const added: Pet[] = [];
      for (const name of names) {
        const status = name === 'b' ? 'sold' : 'available';
        added.push(petOf(await post(api, PETS, { name: word + name, categoryId: OTHER, status }), 201));
      }
      found = [2, 5, 1, 3, 6, 4, 0].flatMap((index) => added[index] ?? []);
    });

    it('are found without regard to case and normal form, and walked by the folded name, then by id', async () => {
      expect(petsOf(await named(`${word}e\u0301`))).toEqual([found[3]]);
      const path = `/v1/pets?name=${encodeURIComponent(word.toUpperCase())}&limit=1`;
      expect((await walk(api, path)).flatMap(petsOf)).toEqual(found);
      const filters = `&status=available&categoryId=${OTHER}&${byId(...found.map(({ id }) => id))}`;
      const available = found.filter(({ status }) => status !== 'sold');
      expect((await walk(api, path + filters)).flatMap(petsOf)).toEqual(available);
    });

    it('have cursors of their own: another name’s, and one of the list by id, are 400', async () => {
      const ofName = nextPageOf(await named(word, '&limit=1'))?.searchParams.get('cursor') ?? '';
      for (const answer of [
        list(`cursor=${ofName}`),
        named('z', `&cursor=${ofName}`),
        named(word, `&cursor=${cursor}`),
      ])
        expect(expectError(await answer, 400, 'invalid_parameter')).toMatch(/^cursor\b/);
    });

    it.each(['', '%00', '%ff', 'L%ED%A0%80', 'a&name=b', 'x'.repeat(256), '%F0%9F%90%88'.repeat(256)])(
      'answer 400 to name=%.20s',
      async (value) => {
        const message = expectError(await get(api, `/v1/pets?name=${value}`), 400, 'invalid_parameter');
        expect(message).toBe('name must be 1 to 255 characters in UTF-8, without U+0000, given once');
      },
    );

    it('takes the longest name there is, and its Link can be followed', async () => {
      const name = '\u{1d160}'.repeat(255);
      for (const status of STATUSES) await post(api, PETS, { name, categoryId: OTHER, status });
      const pages = await walk(api, `/v1/pets?name=${encodeURIComponent(name)}&limit=1`);
      expect(pages.length).toBeGreaterThan(2);
    });
  });

  describe('answers 400 invalid_parameter', () => {
    it.each([
      ...['0', '-0', '101', '99999999999999999999', '-1', '01', '%2B5', '1.0', '1e1', '0x10', '', '%20'],
      ...['5%20', '5%0A', '5%00', '%EF%BC%95', '%D9%A5', 'NaN', '5,6', '%zz', '5&limit=5', '5&li%6Dit=6'],
    ])('to limit=%s', async (value) => {
      const message = expectError(await get(api, `/v1/pets?limit=${value}`), 400, 'invalid_parameter');
      expect(message).toMatch(/^limit\b.*\b1\b.*\b100\b/);
    });

    it.each(['adopted', '', 'SOLD', 'sold%0A', 'available,sold', 'sold&status=sold', 'constructor'])(
      'to status=%s',
      async (value) => {
        const message = expectError(await get(api, `/v1/pets?status=${value}`), 400, 'invalid_parameter');
        expect(message).toMatch(/^status\b.*available, pending, sold/);
      },
    );

    it.each(['', '1.0', '%2B1', '01', '9223372036854775808', '9'.repeat(1_000), '1,2', '1n', '1%0A', '%EF%BC%91'])(
      'to an id or a categoryId of %s among good ones',
      async (value) => {
        for (const name of ['id', 'categoryId']) {
          const response = await get(api, `/v1/pets?${name}=1&${name}=${value}&${name}=2`);
          expect(expectError(response, 400, 'invalid_parameter')).toBe(
            `${name} must be an integer from -9223372036854775808 to 9223372036854775807; ` +
              `for several, repeat the parameter: ${name}=1&${name}=2`,
          );
        }
      },
    );

    it.each(['id', 'categoryId'])('to %s given 101 times', async (name) => {
      const query = Array.from({ length: 101 }, (_, value) => `${name}=${value}`).join('&');
      const message = expectError(await get(api, `/v1/pets?${query}`), 400, 'invalid_parameter');
      expect(message).toBe(`${name} must be given at most 100 times`);
    });

    it.each<[string, () => string]>([
      ['that is empty', () => ''],
      ['with a character behind', () => `${cursor}A`],
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
  });
});

describe('GET /v1/pets/{petId}', () => {
  it.each([
    ...['999999999', '9223372036854775808', '9'.repeat(8_000), '', 'luna', '1.0', '%2B1', '01', '-', '%201', '1%00'],
    ...['1%2F', '%EF%BC%91', '1;a=b', ':petId', '__proto__', '*'],
  ])('answers 404 not_found to %s, to HEAD too, and 401 to no key', async (id) => {
    expectError(await get(api, `/v1/pets/${id}`), 404, 'not_found');
    expectHeadError(await request(api, `/v1/pets/${id}`, { method: 'HEAD', headers: bearer(api.key) }), 404);
    expectError(await request(api, `/v1/pets/${id}`), 401, 'missing_api_key');
  });

  it('says that it is deprecated, as RFC 9745 and RFC 8594 write it, on 404 too, with a successor and a page', async () => {
    for (const [petId, status] of [
      [await addPet(api), 200],
      [999_999_999, 404],
    ] as const) {
      const { headers, ...response } = await get(api, `/v1/pets/${petId}`);
      expect(response.status).toBe(status);
      expect(headers).toMatchObject({ deprecation: '@1764892800', sunset: 'Thu, 05 Dec 2030 00:00:00 GMT' });
      expect(headers['link']).toBe(
        `<${api.origin}/v1/pets?id=${petId}>; rel="successor-version", <${api.origin}/docs>; rel="deprecation"; type="text/html"`,
      );
      // An operation that isn't deprecated has none of these headers: the description lacks them.
      expect(await get(api, `/v1/pets?id=${petId}`)).toMatchObject({ status: 200 });
    }
    expect((await request(api, '/v1/pets/1')).headers).not.toHaveProperty('sunset');
  });
});
