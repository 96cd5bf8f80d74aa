import { beforeAll, describe, expect, it } from '@jest/globals';
import { expectError, JSON_CONTENT_TYPE } from '../support/expectations.js';
import { createPet, walk } from '../support/pets-client.js';
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

const MALFORMED = ['x', '1.0', '9223372036854775808'];

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
    ['a number', '{"name":1}', /^name must be a string$/],
    ['no visible character', '{"name":"\\u0085\\u200b"}', /^name must have at least one visible/],
    ['256 characters', `{"name":"${'x'.repeat(256)}"}`, /^name must be at most 255 characters$/],
  ])('400 invalid_parameter to %s', async (_case, body, message) => {
    expect(expectError(await sendCategory(api, method, path, body), 400, 'invalid_parameter')).toMatch(message);
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
    for (const name of [other, other]) {
      const renamed = await nameCategory(api, id, name);
      expect(renamed).toMatchObject({ status: 200, body: `{"id":${id},"name":"${name}"}` });
      expect(renamed.headers).not.toHaveProperty('location');
    }
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
    const { id } = categoryOf(await addCategory(api, newName()), 201);
    const response = await removeCategory(api, id);
    expect(response).toMatchObject({ status: 204, body: '' });
    expect(response.headers).not.toHaveProperty('content-type');
    expectError(await getCategory(api, id), 404, 'not_found');
    expectError(await removeCategory(api, id), 404, 'not_found');
  });

  it('409 category_in_use while an animal has it', async () => {
    const { id } = categoryOf(await addCategory(api, newName()), 201);
    await createPet(api, `{"name":"Luna","categoryId":${id}}`);
    expectError(await removeCategory(api, id), 409, 'category_in_use');
  });
});

describe('If-Match', () => {
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
  });
});

describe('If-None-Match', () => {
  it('names an id that has no name, and is 412 precondition_failed to one that has', async () => {
    const [id, onlyNew] = [newCategoryId(), { 'If-None-Match': '*' }];
    const named = await nameCategory(api, id, newName(), onlyNew);
    const category = categoryOf(named, 201);
    expectError(await nameCategory(api, id, newName(), onlyNew), 412, 'precondition_failed');
    expect(categoryOf(await getCategory(api, id))).toEqual(category);
  });
});

describe('GET /v1/categories', () => {
  const categories: Category[] = [];
  let mine: string;

  beforeAll(async () => {
    for (const id of [newCategoryId(), -newCategoryId(), newCategoryId(), -newCategoryId(), newCategoryId()])
      categories.push(categoryOf(await nameCategory(api, id, newName()), 201));
    categories.sort((one, other) => one.id - other.id);
    mine = categories.map(({ id }) => `id=${id}`).join('&');
  });

  it('answers 200 with a bare array of categories as they are by themselves, byte for byte', async () => {
    const response = await listCategories(api, `?${mine}&limit=3`);
    expect(response.headers['content-type']).toBe(JSON_CONTENT_TYPE);
    const alone = await Promise.all(categories.slice(0, 3).map(({ id }) => getCategory(api, id)));
    expect(response.body).toBe(`[${alone.map(({ body }) => body).join(',')}]`);
  });

  it('answers 200 with the known ones, once each, ascending by id', async () => {
    const response = await listCategories(api, `?id=${newCategoryId()}&id=${categories[3]?.id}&${mine}`);
    expect(categoriesOf(response)).toEqual(categories);
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
    expect(expectError(await listCategories(api, `?${query}`), 400, 'invalid_parameter')).toMatch(message);
  });
});
