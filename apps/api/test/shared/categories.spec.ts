import { beforeAll, describe, expect, it } from '@jest/globals';
import { expectError, expectLimitHeaders, JSON_CONTENT_TYPE } from '../support/expectations.js';
import { createPet, listPets, nextPageOf, walk } from '../support/pets-client.js';
import { request } from '../support/raw-http.js';
import { newCategoryId, useSharedApi } from '../support/shared-api.js';
import {
  addCategory,
  CATEGORIES,
  categoriesOf,
  type Category,
  categoryOf,
  getCategory,
  listCategories,
  nameCategory,
  removeCategory,
  sendCategory,
} from '../support/store-client.js';

const MALFORMED = ['x', '1.0', '01', '1e3', '9223372036854775808', '%31x', '-'];

const api = useSharedApi();
const newName = () => `Kind ${newCategoryId()}`;

describe('POST /v1/categories answers 201', () => {
  it('with the category under a new id, where it is, and nothing else', async () => {
    const name = ` Łuchse 🐈 ${newName()} `;
    const response = await sendCategory(api, 'POST', CATEGORIES, JSON.stringify({ name, id: 4_711 }));
    const { id } = categoryOf(response, 201);
    expect(response.body).toBe(`{"id":${id},"name":"${name}"}`);
    expect(response.headers).toMatchObject({
      'content-type': JSON_CONTENT_TYPE,
      location: `${api.origin}${CATEGORIES}/${id}`,
    });
    expectLimitHeaders(response);
    expect((await getCategory(api, id)).body).toBe(response.body);
    expect(id).not.toBe(4_711);
  });
});

describe.each([
  ['POST', CATEGORIES],
  ['PUT', `${CATEGORIES}/${newCategoryId()}`],
] as const)('%s %s answers', (method, path) => {
  it.each([
    ['no name', '{}', /^name is required$/],
    ['null', '{"name":null}', /^name\b/],
    ['a number', '{"name":1}', /^name must be a string$/],
    ['white space', '{"name":" \\t\\u3000"}', /^name must have at least one visible/],
    ['no visible character', '{"name":"\\u0085\\u200b"}', /^name must have at least one visible/],
    ['256 characters', `{"name":"${'x'.repeat(256)}"}`, /^name must be at most 255 characters$/],
  ])('400 invalid_parameter to %s', async (_case, body, message) => {
    expect(expectError(await sendCategory(api, method, path, body), 400, 'invalid_parameter')).toMatch(message);
  });

  it('400 to what is no object of JSON or another media type, and 401 to a missing key', async () => {
    for (const body of ['', '[]', '{"name":"a","name":"b"}'])
      expectError(await sendCategory(api, method, path, body), 400, 'invalid_json');
    const text = { 'Content-Type': 'text/plain' };
    expectError(await sendCategory(api, method, path, '{"name":"Cats"}', text), 400, 'unsupported_media_type');
    expectError(await request(api, path, { method, body: '{"name":"Cats"}' }), 401, 'missing_api_key');
  });

  it('409 category_name_taken to a name that another category has in another case, with ß as SS', async () => {
    const name = `Straßenkatze ${newName()}`;
    await addCategory(api, name);
    const body = JSON.stringify({ name: name.toUpperCase() });
    expect(body).toContain('STRASSENKATZE');
    expectError(await sendCategory(api, method, path, body), 409, 'category_name_taken');
  });
});

describe('PUT /v1/categories/{categoryId} answers', () => {
  it('201 with the place of the category if the id had no name, and 200 afterwards', async () => {
    const [id, one, other] = [newCategoryId(), newName(), newName()];
    await createPet(api, `{"name":"Luna","categoryId":${id}}`);
    const response = await nameCategory(api, id, one);
    expect(response).toMatchObject({ status: 201, body: `{"id":${id},"name":"${one}"}` });
    expect(response.headers).toMatchObject({ location: `${api.origin}${CATEGORIES}/${id}` });
    for (const name of [other, other, other.toUpperCase()]) {
      const renamed = await nameCategory(api, id, name);
      expect(renamed).toMatchObject({ status: 200, body: `{"id":${id},"name":"${name}"}` });
      expect(renamed.headers).not.toHaveProperty('location');
    }
    expect(categoryOf(await nameCategory(api, newCategoryId(), one), 201).name).toBe(one);
  });

  it.each(['9223372036854775807', '-9223372036854775808', '0', '-1'])('201 to the id %s, exactly', async (id) => {
    const name = newName();
    expect((await nameCategory(api, id, name)).body).toBe(`{"id":${id},"name":"${name}"}`);
    expect((await getCategory(api, id)).body).toBe(`{"id":${id},"name":"${name}"}`);
  });
});

it.each([...MALFORMED, '123456789'])(
  'GET, PUT and DELETE of the id %s answer 404, where it has no name',
  async (id) => {
    expectError(await getCategory(api, id), 404, 'not_found');
    expectError(await removeCategory(api, id), 404, 'not_found');
    if (id !== '123456789') expectError(await nameCategory(api, id, newName()), 404, 'not_found');
  },
);

describe('DELETE /v1/categories/{categoryId} answers', () => {
  it('204 without a body, and from then on it is not there', async () => {
    const name = newName();
    const { id } = categoryOf(await addCategory(api, name), 201);
    const response = await removeCategory(api, id);
    expect(response).toMatchObject({ status: 204, body: '' });
    expect(response.headers).not.toHaveProperty('content-type');
    expectLimitHeaders(response);
    expectError(await getCategory(api, id), 404, 'not_found');
    expectError(await removeCategory(api, id), 404, 'not_found');
    expect(categoriesOf(await listCategories(api, `?id=${id}`))).toEqual([]);
    expect(await addCategory(api, name)).toMatchObject({ status: 201 });
  });

  it('409 category_in_use while an animal has it, and 401 to a missing key', async () => {
    const { id } = categoryOf(await addCategory(api, newName()), 201);
    await createPet(api, `{"name":"Luna","categoryId":${id}}`);
    expectError(await removeCategory(api, id), 409, 'category_in_use');
    expectError(await request(api, `${CATEGORIES}/${id}`, { method: 'DELETE' }), 401, 'missing_api_key');
    expect(await getCategory(api, id)).toMatchObject({ status: 200 });
  });

  it('404 to an id without a name that animals have', async () => {
    const id = newCategoryId();
    await createPet(api, `{"name":"Luna","categoryId":${id}}`);
    expectError(await removeCategory(api, id), 404, 'not_found');
  });
});

describe('If-Match', () => {
  const tagOf = async (id: number) => (await getCategory(api, id)).headers['etag'] ?? '';

  it('renames and removes a category that is still in that version, and shows the next one', async () => {
    const { id } = categoryOf(await addCategory(api, newName()), 201);
    const renamed = await nameCategory(api, id, newName(), { 'If-Match': await tagOf(id) });
    expect(renamed).toMatchObject({ status: 200, headers: { etag: await tagOf(id) } });
    const tags = { 'If-Match': `"another", ${await tagOf(id)}` };
    expect(await removeCategory(api, id, tags)).toMatchObject({ status: 204 });
  });

  it('is 412 precondition_failed to another version, and nothing changes', async () => {
    const category = categoryOf(await addCategory(api, newName()), 201);
    for (const tag of ['"another"', `W/${await tagOf(category.id)}`]) {
      const headers = { 'If-Match': tag };
      expectError(await nameCategory(api, category.id, newName(), headers), 412, 'precondition_failed');
      expectError(await removeCategory(api, category.id, headers), 412, 'precondition_failed');
    }
    expect(categoryOf(await getCategory(api, category.id))).toEqual(category);
  });

  it('needs a category that is there: PUT never names a new id under it, whichever tags it has', async () => {
    const unnamed = newCategoryId();
    for (const tag of ['*', '"another"']) {
      const response = await nameCategory(api, unnamed, newName(), { 'If-Match': tag });
      expectError(response, 412, 'precondition_failed');
      expect(response.headers).not.toHaveProperty('etag');
      expectError(await removeCategory(api, unnamed, { 'If-Match': tag }), 404, 'not_found');
    }
    const { id } = categoryOf(await addCategory(api, newName()), 201);
    expect(await nameCategory(api, id, newName(), { 'If-Match': '*' })).toMatchObject({ status: 200 });
    expect(await removeCategory(api, id, { 'If-Match': '*' })).toMatchObject({ status: 204 });
  });
});

describe('If-None-Match', () => {
  it('names an id that has no name, and is 412 precondition_failed to one that has', async () => {
    const [id, onlyNew] = [newCategoryId(), { 'If-None-Match': '*' }];
    const named = await nameCategory(api, id, newName(), onlyNew);
    const category = categoryOf(named, 201);
    expect(named.headers).toMatchObject({ etag: (await getCategory(api, id)).headers['etag'] });
    expectError(await nameCategory(api, id, newName(), onlyNew), 412, 'precondition_failed');
    expect(categoryOf(await getCategory(api, id))).toEqual(category);
  });
});

describe('GET /v1/categories', () => {
  const COUNT = 25;
  const categories: Category[] = [];
  let mine: string;

  beforeAll(async () => {
    for (let index = 0; index < COUNT; index += 1) {
      // Also below zero.
      const id = index % 2 === 0 ? newCategoryId() : -newCategoryId();
      categories.push(categoryOf(await nameCategory(api, id, newName()), 201));
    }
    categories.sort((one, other) => one.id - other.id);
    mine = categories.map(({ id }) => `id=${id}`).join('&');
  });

  const list = (query = '') => listCategories(api, `?${mine}&${query}`);

  it('answers 200 with a bare array of categories as they are by themselves, byte for byte', async () => {
    const response = await list('limit=3');
    expect(response.headers['content-type']).toBe(JSON_CONTENT_TYPE);
    const alone = await Promise.all(categories.slice(0, 3).map(({ id }) => getCategory(api, id)));
    expect(response.body).toBe(`[${alone.map(({ body }) => body).join(',')}]`);
    expectLimitHeaders(response);
  });

  it('answers 200 with the first 20 where no limit is given, ascending by id, the known ones once', async () => {
    expect(categoriesOf(await list(`id=${newCategoryId()}&id=${categories[3]?.id}`))).toEqual(categories.slice(0, 20));
    expect((await listCategories(api)).headers).toHaveProperty('link');
  });

  it.each([1, 24, 25, 100])('is read by %i in pages that have every one exactly once, in order', async (limit) => {
    expect(categoriesOf(await list(`limit=${limit}`))).toEqual(categories.slice(0, limit));
    const pages = (await walk(api, `${CATEGORIES}?${mine}&limit=${limit}`)).map(categoriesOf);
    expect(pages.flat()).toEqual(categories);
    expect(pages).toHaveLength(Math.ceil(COUNT / limit));
  });

  it.each([
    ['limit=0', /^limit\b.*\b1\b.*\b100\b/],
    ['limit=5&limit=5', /^limit\b/],
    ['id=', /^id must be an integer/],
    ['id=1&id=9223372036854775808', /^id must be an integer/],
    [Array.from({ length: 101 }, (_, id) => `id=${id}`).join('&'), /^id must be given at most 100 times$/],
    ['cursor=x', /^cursor\b/],
  ])('answers 400 invalid_parameter to %s, and 401 to a missing key', async (query, message) => {
    expect(expectError(await listCategories(api, `?${query}`), 400, 'invalid_parameter')).toMatch(message);
    expectError(await request(api, `${CATEGORIES}?${query}`), 401, 'missing_api_key');
  });

  it('answers 400 invalid_parameter to a cursor of another list', async () => {
    for (const name of ['Luna', 'Milo']) await createPet(api, JSON.stringify({ name, categoryId: 1 }));
    const cursor = nextPageOf(await listPets(api, '?limit=1'))?.searchParams.get('cursor');
    expectError(await listCategories(api, `?cursor=${cursor}`), 400, 'invalid_parameter');
  });
});
