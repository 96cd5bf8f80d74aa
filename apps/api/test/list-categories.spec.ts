import { MINUTE } from '@adoption-store/domain';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { useApi } from './support/api.js';
import {
  CATEGORIES,
  categoriesOf,
  type Category,
  categoryOf,
  getCategory,
  listCategories,
  nameCategory,
} from './support/categories-client.js';
import { expectError, expectLimitHeaders, JSON_CONTENT_TYPE } from './support/expectations.js';
import { listPets, nextPageOf, walk } from './support/pets-client.js';
import { request } from './support/raw-http.js';

const COUNT = 25;

const api = useApi();
const categories: Category[] = [];

beforeAll(async () => {
  for (let index = 0; index < COUNT; index += 1) {
    // Also below zero, and in another order than that of their ids.
    const id = ((index * 7) % COUNT) - 3;
    categories.push(categoryOf(await nameCategory(api, id, `Kind ${id}`), 201));
  }
  categories.sort((one, other) => one.id - other.id);
});

// Each test has its own minute, so that no test uses up another's quota.
beforeEach(() => {
  api.clock.advance(MINUTE);
});

const list = (query = '') => listCategories(api, query);

describe('GET /v1/categories answers 200', () => {
  it('with a bare array of categories as they are by themselves, byte for byte', async () => {
    const response = await list('?limit=3');
    expect(response.headers['content-type']).toBe(JSON_CONTENT_TYPE);
    const alone = await Promise.all(categories.slice(0, 3).map(({ id }) => getCategory(api, id)));
    expect(response.body).toBe(`[${alone.map(({ body }) => body).join(',')}]`);
    expectLimitHeaders(response);
  });

  it('with the first 20 where no limit is given, ascending by id', async () => {
    expect(categoriesOf(await list())).toEqual(categories.slice(0, 20));
  });

  it.each([1, 24, 25, 100])('with exactly the first %i for that limit', async (limit) => {
    expect(categoriesOf(await list(`?limit=${limit}`))).toEqual(categories.slice(0, limit));
  });

  it('with those of the given ids, and leaves out the unknown ones', async () => {
    const [, one, other] = categories;
    const query = `?id=${other?.id}&id=${one?.id}&id=${one?.id}&id=4711`;
    expect(categoriesOf(await list(query))).toEqual([one, other]);
    expect((await list('?id=4711')).body).toBe('[]');
  });
});

describe('a walk of all pages of categories', () => {
  it.each([1, 7, 24, 25, 100])('by %i meets every one exactly once, in order', async (limit) => {
    const pages = (await walk(api, `${CATEGORIES}?limit=${limit}`)).map(categoriesOf);
    expect(pages.flat()).toEqual(categories);
    expect(pages).toHaveLength(Math.ceil(COUNT / limit));
  });

  it('keeps limit and ids', async () => {
    const ids = categories.slice(2, 8).map(({ id }) => id);
    const query = `?limit=4&${ids.map((id) => `id=${id}`).join('&')}`;
    const pages = (await walk(api, `${CATEGORIES}${query}`)).map(categoriesOf);
    expect(pages).toEqual([categories.slice(2, 6), categories.slice(6, 8)]);
  });
});

describe('GET /v1/categories answers 400 invalid_parameter', () => {
  it.each([
    ['limit=0', /^limit\b.*\b1\b.*\b100\b/],
    ['limit=101', /^limit\b/],
    ['limit=5&limit=5', /^limit\b/],
    ['id=', /^id must be an integer/],
    ['id=x', /^id must be an integer/],
    ['id=1&id=9223372036854775808', /^id must be an integer/],
    [Array.from({ length: 101 }, (_, id) => `id=${id}`).join('&'), /^id must be given at most 100 times$/],
    ['cursor=x', /^cursor\b/],
  ])('to %s', async (query, message) => {
    expect(expectError(await list(`?${query}`), 400, 'invalid_parameter')).toMatch(message);
  });

  it('to a cursor of another list', async () => {
    for (const name of ['Luna', 'Milo']) await api.application.addAnimal.execute({ name, categoryId: 1n });
    const cursor = nextPageOf(await listPets(api, '?limit=1'))?.searchParams.get('cursor');
    expectError(await list(`?cursor=${cursor}`), 400, 'invalid_parameter');
  });

  it('but 401 to a missing key', async () => {
    expectError(await request(api, `${CATEGORIES}?limit=0`), 401, 'missing_api_key');
  });
});
