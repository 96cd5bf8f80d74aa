import { instant, later } from '@adoption-store/domain';
import { ask, expectDatabaseErrors } from '@adoption-store/test-support';
import { afterEach, describe, expect, it } from '@jest/globals';
import { useApi } from '../support/api.js';
import { addPet, bearer, changePet, get, idsOf, orderOf, ORDERS, petOf, PETS, post } from '../support/client.js';
import { expectError, expectHeadError } from '../support/expectations.js';
import { request } from '../support/raw-http.js';

// An unknown category under CATEGORIES=strict.
expectDatabaseErrors('23503');

const [GREATEST, LEAST] = ['9223372036854775807', '-9223372036854775808'];

const api = useApi();

describe('GET /v1/pets/{petId}', () => {
  const SUNSET = instant(Date.UTC(2030, 11, 5));
  const clock = instant(Date.UTC(2026, 10, 21, 12));

  afterEach(() => {
    api.clock.set(clock);
  });

  it('answers 200 before 5 December 2030, and 410 gone from then on, to HEAD too, while its successor goes on', async () => {
    const path = `/v1/pets/${await addPet(api)}`;
    api.clock.set(later(SUNSET, -1));
    expect(await get(api, path)).toMatchObject({ status: 200, headers: { deprecation: '@1764892800' } });
    api.clock.set(SUNSET);
    const response = await get(api, path);
    expect(expectError(response, 410, 'gone')).toContain('/v1/pets?id=');
    expect(response.headers).toMatchObject({ deprecation: '@1764892800', sunset: 'Thu, 05 Dec 2030 00:00:00 GMT' });
    expect(response.headers['link']).toContain(`<${api.origin}/v1/pets?id=${path.slice(9)}>; rel="successor-version"`);
    expectHeadError(await request(api, path, { method: 'HEAD', headers: bearer(api.key) }), 410);
    expect(idsOf(await get(api, `/v1/pets?id=${path.slice(9)}`))).toEqual([Number(path.slice(9))]);
    expectError(await get(api, '/v1/pets/luna'), 410, 'gone');
  });

  it('is where the Location of a 201 leads until then, and its successor from then on', async () => {
    for (const [at, path] of [
      [later(SUNSET, -1), '/v1/pets/'],
      [SUNSET, '/v1/pets?id='],
    ] as const) {
      api.clock.set(at);
      const added = await post(api, PETS, { name: 'Luna', categoryId: 1 });
      const { id } = petOf(added, 201);
      expect(added.headers['location']).toBe(`${api.origin}${path}${id}`);
      expect((await get(api, `${path}${id}`)).body).toContain(added.body);
    }
  });
});

it.each([GREATEST, LEAST])(
  'an id of an animal and of an order may be %s, with every digit wherever it is',
  async (id) => {
    const animal = `INSERT INTO animals (id, name, name_key, category_id, status)
      VALUES ($1, 'Luna', 'luna', 1, 'available')`;
    await ask(api.databaseUrl, animal, [id]);
    const one = await get(api, `/v1/pets/${id}`);
    expect(one.body).toBe(`{"id":${id},"name":"Luna","categoryId":1,"status":"available"}`);
    expect((await get(api, `/v1/pets?id=${id}`)).body).toBe(`[${one.body}]`);
    const { id: placed } = orderOf(await post(api, ORDERS, `{"petId":${id}}`), 201);
    await ask(api.databaseUrl, 'UPDATE orders SET id = $1 WHERE id = $2', [id, placed]);
    const order = await get(api, `${ORDERS}/${id}`);
    expect(order.body).toContain(`{"id":${id},"petId":${id},"status":"placed"`);
    expect((await get(api, '/v1/store/orders?limit=100')).body).toContain(order.body);
  },
);

describe('with CATEGORIES=strict', () => {
  const strict = useApi({}, { categories: 'strict' });

  it('an animal is added and changed if the category has a name, and else 400 invalid_parameter', async () => {
    const { id } = petOf(await post(strict, '/v1/categories', { name: 'Cats' }), 201);
    const animal = petOf(await post(strict, PETS, { name: 'Luna', categoryId: id }), 201);
    const unknown = { name: 'Milo', categoryId: id + 1 };
    for (const response of [await post(strict, PETS, unknown), await changePet(strict, animal.id, unknown)])
      expect(expectError(response, 400, 'invalid_parameter')).toBe('categoryId must be the id of a category');
    expect(petOf(await get(strict, `/v1/pets/${animal.id}`))).toEqual(animal);
    expect(await changePet(strict, animal.id, { name: 'Milo', categoryId: id })).toMatchObject({ status: 200 });
  });
});
