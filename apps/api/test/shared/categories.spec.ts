import { beforeAll, describe, expect, it } from '@jest/globals';
import { bodyOf, CATEGORIES, get, PETS, post, send, walk } from '../support/client.js';
import { expectError } from '../support/expectations.js';
import type { RawResponse } from '../support/raw-http.js';
import { newCategoryId, useSharedApi } from '../support/shared-api.js';

interface Category {
  readonly id: number;
  readonly name: string;
}

type Id = number | string;

const api = useSharedApi();
const newName = () => `Kind ${newCategoryId()}`;
const read = (id: Id) => get(api, `${CATEGORIES}/${id}`);
const put = (id: Id, name: string, headers: Readonly<Record<string, string>> = {}) =>
  send(api, 'PUT', `${CATEGORIES}/${id}`, { name }, headers);
const remove = (id: Id, headers: Readonly<Record<string, string>> = {}) =>
  send(api, 'DELETE', `${CATEGORIES}/${id}`, undefined, headers);
const categoryOf = (response: RawResponse, status?: number) => bodyOf(response, status) as Category;
const categoriesOf = (response: RawResponse) => bodyOf(response) as readonly Category[];
const added = async () => categoryOf(await post(api, CATEGORIES, { name: newName() }), 201);

it('POST /v1/categories answers 201 with the category under a new id, where it is, and nothing else', async () => {
  const name = ` Łuchse 🐈 ${newName()} `;
  const response = await post(api, CATEGORIES, { name, id: 4_711 });
  const { id } = categoryOf(response, 201);
  expect(id).not.toBe(4_711);
  expect(response.body).toBe(`{"id":${id},"name":"${name}"}`);
  const location = `${api.origin}${CATEGORIES}/${id}`;
  expect(response.headers).toMatchObject({ location });
  expect((await read(id)).body).toBe(response.body);
});

describe.each([
  ['POST', CATEGORIES],
  ['PUT', `${CATEGORIES}/${newCategoryId()}`],
] as const)('%s %s answers', (method, path) => {
  it.each([
    ['no name', '{}', /^name is required$/],
    ['no visible character', '{"name":"\\u0085\\u200b"}', /^name must have at least one visible/],
    ['256 characters', `{"name":"${'x'.repeat(256)}"}`, /^name must be at most 255 characters$/],
  ])('400 invalid_parameter to %s', async (_case, body, message) => {
    expect(expectError(await send(api, method, path, body), 400, 'invalid_parameter')).toMatch(message);
  });

  it('409 category_name_taken to a name that another category has in another case, with ß as SS', async () => {
    const name = `Straßenkatze ${newName()}`;
    await post(api, CATEGORIES, { name });
    const taken = name.toUpperCase();
    expect(taken).toContain('STRASSENKATZE');
    expectError(await send(api, method, path, { name: taken }), 409, 'category_name_taken');
  });
});

it('PUT /v1/categories/{categoryId} answers 201 with the place of the category if the id had no name, and 200 afterwards', async () => {
  const [id, one, other] = [newCategoryId(), newName(), newName()];
  await post(api, PETS, { name: 'Luna', categoryId: id });
  const response = await put(id, one);
  expect(response).toMatchObject({ status: 201, body: `{"id":${id},"name":"${one}"}` });
  expect(response.headers).toMatchObject({ location: `${api.origin}${CATEGORIES}/${id}` });
  const renamed = await put(id, other);
  expect(renamed).toMatchObject({ status: 200, body: `{"id":${id},"name":"${other}"}` });
  expect(renamed.headers).not.toHaveProperty('location');
});

it.each(['x', '1.0', '9223372036854775808', '123456789'])(
  'GET, PUT and DELETE of the id %s answer 404, where it has no name',
  async (id) => {
    expectError(await read(id), 404, 'not_found');
    expectError(await remove(id), 404, 'not_found');
    if (id !== '123456789') expectError(await put(id, newName()), 404, 'not_found');
  },
);

describe('DELETE /v1/categories/{categoryId} answers', () => {
  it('204 without a body, and from then on it is not there', async () => {
    const { id } = await added();
    const response = await remove(id);
    expect(response).toMatchObject({ status: 204, body: '' });
    expect(response.headers).not.toHaveProperty('content-type');
    expectError(await read(id), 404, 'not_found');
    expectError(await remove(id), 404, 'not_found');
  });

  it('409 category_in_use while an animal has it', async () => {
    const { id } = await added();
    await post(api, PETS, { name: 'Luna', categoryId: id });
    expectError(await remove(id), 409, 'category_in_use');
  });
});

it('If-Match needs a category that is there: PUT never names a new id under it, whichever tags it has', async () => {
  const unnamed = newCategoryId();
  for (const tag of ['*', '"another"']) {
    const response = await put(unnamed, newName(), { 'If-Match': tag });
    expectError(response, 412, 'precondition_failed');
    expect(response.headers).not.toHaveProperty('etag');
    expectError(await remove(unnamed, { 'If-Match': tag }), 404, 'not_found');
  }
});

it('If-None-Match names an id that has no name, and is 412 precondition_failed to one that has', async () => {
  const [id, onlyNew] = [newCategoryId(), { 'If-None-Match': '*' }];
  const category = categoryOf(await put(id, newName(), onlyNew), 201);
  expectError(await put(id, newName(), onlyNew), 412, 'precondition_failed');
  expect(categoryOf(await read(id))).toEqual(category);
});

describe('GET /v1/categories', () => {
  let categories: readonly Category[];
  let mine: string;

  beforeAll(async () => {
    const created: Category[] = [];
    for (const id of [newCategoryId(), -newCategoryId(), newCategoryId(), -newCategoryId(), newCategoryId()])
      created.push(categoryOf(await put(id, newName()), 201));
    categories = created.sort((one, other) => one.id - other.id);
    mine = categories.map(({ id }) => `id=${id}`).join('&');
  });

  it('answers 200 with a bare array of the known ones, once each, ascending by id', async () => {
    const response = await get(api, `${CATEGORIES}?id=${newCategoryId()}&id=${categories[3]?.id}&${mine}`);
    expect(response.body).toBe(JSON.stringify(categories));
  });

  it('is read in pages that have every one exactly once, in order', async () => {
    const pages = (await walk(api, `${CATEGORIES}?${mine}&limit=2`)).map(categoriesOf);
    expect(pages.flat()).toEqual(categories);
    expect(pages).toHaveLength(3);
  });

  it.each([
    ['limit=0', /^limit\b.*\b1\b.*\b100\b/],
    ['id=1&id=9223372036854775808', /^id must be an integer/],
    [Array.from({ length: 101 }, (_, id) => `id=${id}`).join('&'), /^id must be given at most 100 times$/],
    ['cursor=x', /^cursor\b/],
  ])('answers 400 invalid_parameter to %s', async (query, message) => {
    expect(expectError(await get(api, `${CATEGORIES}?${query}`), 400, 'invalid_parameter')).toMatch(message);
  });
});
