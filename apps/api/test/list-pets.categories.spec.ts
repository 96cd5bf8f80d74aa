import { MINUTE, PET_STATUSES } from '@adoption-store/domain';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { useApi } from './support/api.js';
import { expectError } from './support/expectations.js';
import { listPets, nextPageOf, type Pet, petsOf, walkPages } from './support/pets-client.js';

const CATEGORIES = [-5n, 1n, 2n] as const;
const GREATEST = 9223372036854775807n;

const api = useApi();
let pets: readonly Pet[];

beforeAll(async () => {
  for (let index = 0; index < 45; index += 1) {
    const categoryId = CATEGORIES[index % 3] ?? 0n;
    await api.application.addAnimal.execute({ name: 'Luna', categoryId, status: PET_STATUSES[(index >> 1) % 3] });
  }
  pets = petsOf(await listPets(api, '?limit=100'));
});

// Each test has its own minute, so that no test uses up another's quota.
beforeEach(() => {
  api.clock.advance(MINUTE);
});

const list = async (query: string) => petsOf(await listPets(api, `?limit=100&${query}`));
const of = (...categories: readonly number[]) => pets.filter(({ categoryId }) => categories.includes(categoryId));

describe('GET /v1/pets?categoryId=… answers 200', () => {
  it.each([-5, 1, 2])('with every animal of the category %i and no other', async (category) => {
    expect(of(category)).toHaveLength(15);
    expect(await list(`categoryId=${category}`)).toEqual(of(category));
  });

  it('with those of each category that is given, ascending by id, each once', async () => {
    expect(await list('categoryId=2&categoryId=-5&categoryId=2&categoryId=4711')).toEqual(of(2, -5));
  });

  it('with none of a category that no animal has', async () => {
    expect(await list('categoryId=4711')).toEqual([]);
  });

  it.each([...PET_STATUSES])('and %s: both must fit', async (status) => {
    const expected = of(1, 2).filter((pet) => pet.status === status);
    expect(expected).not.toEqual([]);
    expect(await list(`status=${status}&categoryId=1&categoryId=2`)).toEqual(expected);
  });

  it('and ids: both must fit', async () => {
    const ids = pets.slice(0, 10).map(({ id }) => id);
    const query = ids.map((id) => `id=${id}`).join('&');
    expect(await list(`${query}&categoryId=1`)).toEqual(of(1).filter(({ id }) => ids.includes(id)));
    expect(await list(`${query}&categoryId=1&status=sold`)).toEqual(
      of(1).filter(({ id, status }) => ids.includes(id) && status === 'sold'),
    );
  });

  it('for 100 of them, with every digit', async () => {
    await api.application.addAnimal.execute({ name: 'Luna', categoryId: GREATEST });
    const some = Array.from({ length: 99 }, (_, index) => `categoryId=${1_000 + index}`).join('&');
    const response = await listPets(api, `?${some}&categoryId=${GREATEST}`);
    expect(response.body).toMatch(new RegExp(`^\\[{"id":\\d+,"name":"Luna","categoryId":${GREATEST},`));
  });

  it.each([1, 4, 30])('in pages of %i, in which every animal is met once', async (limit) => {
    const pages = await walkPages(api, `?limit=${limit}&categoryId=1&categoryId=2`);
    expect(pages.flat()).toEqual(of(1, 2));
    expect(pages).toHaveLength(Math.ceil(30 / limit));
  });

  it('in pages whose links keep every filter', async () => {
    const query = `?limit=1&status=sold&${of(1, 2)
      .map(({ id }) => `id=${id}`)
      .join('&')}&categoryId=1&categoryId=2`;
    const next = nextPageOf(await listPets(api, query))?.search;
    expect(next).toMatch(new RegExp(`^${query.replaceAll('?', '\\?')}&cursor=[\\w-]+$`));
  });
});

describe('GET /v1/pets answers 400 invalid_parameter to a categoryId', () => {
  it.each(['', 'x', '1.0', '01', '+1', '1e3', '9223372036854775808', '-9223372036854775809', '1,2', '1%00'])(
    'of "%s"',
    async (id) => {
      const message = expectError(await listPets(api, `?categoryId=1&categoryId=${id}`), 400, 'invalid_parameter');
      expect(message).toMatch(/^categoryId must be an integer from -9223372036854775808 to 9223372036854775807$/);
    },
  );

  it('that is given 101 times', async () => {
    const query = Array.from({ length: 101 }, (_, index) => `categoryId=${index}`).join('&');
    const message = expectError(await listPets(api, `?${query}`), 400, 'invalid_parameter');
    expect(message).toBe('categoryId must be given at most 100 times');
  });
});
