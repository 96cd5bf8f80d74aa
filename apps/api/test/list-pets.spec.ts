import { MINUTE, PET_STATUSES } from '@adoption-store/domain';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { useApi } from './support/api.js';
import { JSON_CONTENT_TYPE } from './support/expectations.js';
import { bearer, idsOf, listPets, petsOf } from './support/pets-client.js';
import { request } from './support/raw-http.js';

const ANIMALS = 120;

const api = useApi();
let ids: readonly number[];

beforeAll(async () => {
  const added: number[] = [];
  for (let index = 0; index < ANIMALS; index += 1) {
    const status = PET_STATUSES[index % 3];
    const { id } = await api.application.addAnimal.execute({ name: `Animal ${index}`, categoryId: 7n, status });
    added.push(Number(id));
  }
  ids = added;
});

// Each test has its own minute, so that no test uses up another's quota.
beforeEach(() => {
  api.clock.advance(MINUTE);
});

describe('GET /v1/pets answers 200', () => {
  it('with a bare array', async () => {
    const response = await listPets(api);
    expect(response.headers['content-type']).toBe(JSON_CONTENT_TYPE);
    expect(Array.isArray(petsOf(response))).toBe(true);
  });

  it('with animals of exactly id, name, categoryId and status', async () => {
    expect(petsOf(await listPets(api, '?limit=1'))).toStrictEqual([
      { id: ids[0], name: 'Animal 0', categoryId: 7, status: 'available' },
    ]);
  });

  it('with the first 20 animals where no limit is given', async () => {
    expect(idsOf(await listPets(api))).toEqual(ids.slice(0, 20));
  });

  it('with the same bytes each time where nothing has changed', async () => {
    expect((await listPets(api, '?limit=100')).body).toBe((await listPets(api, '?limit=100')).body);
  });

  it('and takes no notice of a body', async () => {
    const headers = { ...bearer(api.key), 'Content-Type': 'text/plain' };
    expect(idsOf(await request(api, '/v1/pets', { headers, body: '{' }))).toHaveLength(20);
  });

  it.each([1, 2, 9, 10, 11, 19, 20, 21, 50, 90, 99, 100])('with exactly the first %i for that limit', async (limit) => {
    expect(idsOf(await listPets(api, `?limit=${limit}`))).toEqual(ids.slice(0, limit));
  });

  it.each([
    ['a percent-encoded digit', '?limit=%35'],
    ['a percent-encoded name', '?li%6Dit=5'],
    ['an empty parameter before it', '?&limit=5'],
  ])('and decodes %s', async (_case, query) => {
    expect(idsOf(await listPets(api, query))).toHaveLength(5);
  });
});

describe('GET /v1/pets?status answers 200', () => {
  it.each([...PET_STATUSES])('with every %s animal and no other', async (status) => {
    const pets = petsOf(await listPets(api, `?status=${status}&limit=100`));
    const first = PET_STATUSES.indexOf(status);
    expect(pets.map(({ id }) => id)).toEqual(ids.filter((_, index) => index % 3 === first));
    expect(new Set(pets.map((pet) => pet.status))).toEqual(new Set([status]));
  });

  it('with animals of every status where none is asked for', async () => {
    const pets = petsOf(await listPets(api, '?limit=100'));
    expect(new Set(pets.map(({ status }) => status))).toEqual(new Set(PET_STATUSES));
  });
});

describe('GET /v1/pets?id answers 200', () => {
  const byId = (...wanted: readonly (number | string | undefined)[]) =>
    `?${wanted.map((id) => `id=${String(id)}`).join('&')}&limit=100`;

  it('with the one animal of an id', async () => {
    expect(idsOf(await listPets(api, byId(ids[3])))).toEqual([ids[3]]);
  });

  it('with the animals of many ids, ascending whatever their order', async () => {
    expect(idsOf(await listPets(api, byId(ids[9], ids[2], ids[5])))).toEqual([ids[2], ids[5], ids[9]]);
  });

  it('with the animals of 100 ids', async () => {
    expect(idsOf(await listPets(api, byId(...ids.slice(20))))).toEqual(ids.slice(20));
  });

  it('with an animal once, though its id is given a hundred times', async () => {
    expect(idsOf(await listPets(api, byId(...Array.from({ length: 100 }, () => ids[1]))))).toEqual([ids[1]]);
  });

  it('without an unknown id among known ones', async () => {
    expect(idsOf(await listPets(api, byId(999_999, ids[4])))).toEqual([ids[4]]);
  });

  it.each([
    ['unknown', '999999'],
    ['zero', '0'],
    ['negative', '-1'],
    ['the greatest int64', '9223372036854775807'],
    ['the least int64', '-9223372036854775808'],
  ])('with an empty array for an id that is %s', async (_case, id) => {
    const response = await listPets(api, byId(id));
    expect(response).toMatchObject({ status: 200, body: '[]' });
    expect(response.headers).not.toHaveProperty('link');
  });

  it('with 100 ids of the longest kind', async () => {
    const longest = Array.from({ length: 100 }, (_, index) => String(-(2n ** 63n) + BigInt(index)));
    expect(await listPets(api, byId(...longest))).toMatchObject({ status: 200, body: '[]' });
  });
});

describe('GET /v1/pets with several parameters answers 200', () => {
  it('with what both the status and the ids select', async () => {
    const query = `?status=available&${ids
      .slice(0, 6)
      .map((id) => `id=${id}`)
      .join('&')}`;
    expect(idsOf(await listPets(api, query))).toEqual([ids[0], ids[3]]);
  });

  it('with nothing where the animal of the id has another status', async () => {
    expect(idsOf(await listPets(api, `?status=sold&id=${ids[0] ?? 0}`))).toEqual([]);
  });

  it('with at most the limit of what the status selects', async () => {
    expect(idsOf(await listPets(api, '?limit=2&status=pending'))).toEqual([ids[1], ids[4]]);
  });

  it('with at most the limit of what the ids select', async () => {
    expect(idsOf(await listPets(api, `?limit=1&id=${ids[8] ?? 0}&id=${ids[7] ?? 0}`))).toEqual([ids[7]]);
  });
});
