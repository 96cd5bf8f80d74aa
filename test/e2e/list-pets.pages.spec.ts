import { MINUTE, PET_STATUSES } from '@adoption-store/domain';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { useApi } from '../support/api.js';
import { createPet, get, idsOf, listPets, nextPageOf, petsOf, walkPages } from '../support/pets-client.js';
import { request, sendRaw } from '../support/raw-http.js';

const ANIMALS = 60;

const api = useApi();
let ids: readonly number[];

beforeAll(async () => {
  for (let index = 0; index < ANIMALS; index += 1) {
    const status = PET_STATUSES[index % 3];
    await api.application.addAnimal.execute({ name: `Animal ${index}`, categoryId: 7n, status });
  }
  const { items } = await api.application.listAnimals.execute({ limit: 100 });
  ids = items.map(({ id }) => Number(id));
});

// Each test has its own minute, so that no test uses up another's quota.
beforeEach(() => {
  api.clock.advance(MINUTE);
});

describe('the Link header of GET /v1/pets', () => {
  it('names the next page by an absolute URL on the host that was asked', async () => {
    const next = nextPageOf(await listPets(api, '?limit=5'));
    expect(next).toMatchObject({ origin: api.origin, pathname: '/v1/pets' });
    expect(next?.searchParams.get('cursor')).toMatch(/^[A-Za-z0-9._~-]+$/);
  });

  it('is built on the name the client calls the service by', async () => {
    const headers = [`Host: pets.example:8443`, `Authorization: Bearer ${api.key}`].join('\r\n');
    const [response] = await sendRaw(api, `GET /v1/pets?limit=5 HTTP/1.1\r\n${headers}\r\n\r\n`);
    expect(response && nextPageOf(response)?.origin).toBe('http://pets.example:8443');
  });

  it('is usable where HTTP/1.0 needs no Host', async () => {
    const [response] = await sendRaw(api, `GET /v1/pets?limit=5 HTTP/1.0\r\nAuthorization: Bearer ${api.key}\r\n\r\n`);
    expect(response && nextPageOf(response)?.origin).toBe(api.origin);
  });

  it('leads to the page that follows', async () => {
    const next = nextPageOf(await listPets(api, '?limit=5'));
    expect(idsOf(await get(api, `/v1/pets${next?.search ?? ''}`))).toEqual(ids.slice(5, 10));
  });

  it('leads to the same page each time it is followed', async () => {
    const next = nextPageOf(await listPets(api, '?limit=5'))?.search ?? '';
    expect((await listPets(api, next)).body).toBe((await listPets(api, next)).body);
  });

  it('is absent on the last page', async () => {
    expect((await listPets(api, '?limit=100')).headers).not.toHaveProperty('link');
  });

  it('is absent on a last page that is exactly full', async () => {
    expect((await listPets(api, `?limit=${ANIMALS}`)).headers).not.toHaveProperty('link');
  });

  it('is there where a single animal is left', async () => {
    expect((await listPets(api, `?limit=${ANIMALS - 1}`)).headers).toHaveProperty('link');
  });

  it('is absent where nothing matches', async () => {
    expect((await listPets(api, '?id=999999&limit=1')).headers).not.toHaveProperty('link');
  });

  it('keeps limit, status and ids', async () => {
    const wanted = ids.slice(0, 30);
    const query = `?limit=2&status=sold&${wanted.map((id) => `id=${id}`).join('&')}`;
    const parameters = nextPageOf(await listPets(api, query))?.searchParams;
    expect(parameters?.getAll('limit')).toEqual(['2']);
    expect(parameters?.getAll('status')).toEqual(['sold']);
    expect(parameters?.getAll('id')).toEqual(wanted.map(String));
    expect(parameters?.getAll('cursor')).toHaveLength(1);
  });

  it('adds no limit, status or id that was not asked for', async () => {
    const parameters = nextPageOf(await listPets(api))?.searchParams;
    expect([...(parameters?.keys() ?? [])]).toEqual(['cursor']);
  });

  it('replaces the cursor on every further page', async () => {
    const second = nextPageOf(await listPets(api, '?limit=5'));
    const third = nextPageOf(await listPets(api, second?.search));
    expect(third?.searchParams.getAll('cursor')).toHaveLength(1);
    expect(third?.searchParams.get('cursor')).not.toBe(second?.searchParams.get('cursor'));
  });

  it('is the same in the answer to HEAD', async () => {
    const headers = { Authorization: `Bearer ${api.key}` };
    const head = await request(api, '/v1/pets?limit=5', { method: 'HEAD', headers });
    expect(head.headers['link']).toBe((await listPets(api, '?limit=5')).headers['link']);
  });
});

describe('a cursor', () => {
  it('may be used with another limit', async () => {
    const cursor = nextPageOf(await listPets(api, '?limit=5'))?.searchParams.get('cursor') ?? '';
    expect(idsOf(await listPets(api, `?limit=3&cursor=${cursor}`))).toEqual(ids.slice(5, 8));
  });

  it('may be used with a status', async () => {
    const cursor = nextPageOf(await listPets(api, '?limit=5'))?.searchParams.get('cursor') ?? '';
    expect(idsOf(await listPets(api, `?limit=2&status=sold&cursor=${cursor}`))).toEqual([ids[5], ids[8]]);
  });

  it('works for another key than it was given to', async () => {
    const next = nextPageOf(await listPets(api, '?limit=5'))?.search ?? '';
    const { key } = await api.openKey();
    const response = await request(api, `/v1/pets${next}`, { headers: { Authorization: `Bearer ${key}` } });
    expect(idsOf(response)).toEqual(ids.slice(5, 10));
  });
});

describe('a walk of all pages', () => {
  it.each([1, 2, 7, 19, 20, 30, 59, 60, 61, 100])('by %i meets every animal exactly once, in order', async (limit) => {
    const pages = await walkPages(api, `?limit=${limit}`);
    expect(pages.flat().map(({ id }) => id)).toEqual(ids);
    expect(pages).toHaveLength(Math.ceil(ANIMALS / limit));
  });

  it.each([...PET_STATUSES])('of %s meets exactly the animals of that status', async (status) => {
    const pages = await walkPages(api, `?limit=3&status=${status}`);
    const first = PET_STATUSES.indexOf(status);
    expect(pages.flat().map(({ id }) => id)).toEqual(ids.filter((_, index) => index % 3 === first));
  });

  it('of chosen ids meets exactly those', async () => {
    const wanted = ids.filter((_, index) => index % 2 === 1);
    const pages = await walkPages(api, `?limit=7&${wanted.map((id) => `id=${id}`).join('&')}`);
    expect(pages.flat().map(({ id }) => id)).toEqual(wanted);
  });

  it('meets every animal exactly once while their statuses change', async () => {
    const client = new pg.Client(api.databaseUrl);
    await client.connect();
    const found: number[] = [];
    for (let query: string | undefined = '?limit=6'; query !== undefined;) {
      const response = await listPets(api, query);
      found.push(...petsOf(response).map(({ id }) => id));
      await client.query(`UPDATE animals SET status = 'sold' WHERE id % 5 = $1`, [found.length % 5]);
      query = nextPageOf(response)?.search;
    }
    await client.end();
    expect(found).toEqual(ids);
  });

  it.each([7, 20])('by %i meets every animal exactly once while four writers add others', async (limit) => {
    const before = (await walkPages(api, '?limit=100')).flat().map(({ id }) => id);
    const writer = async () => {
      for (let index = 0; index < 15; index += 1) {
        expect(await createPet(api, '{"name":"Newcomer","categoryId":8}')).toMatchObject({ status: 201 });
      }
    };
    const writers = [writer(), writer(), writer(), writer()];
    const met = (await walkPages(api, `?limit=${limit}`)).flat().map(({ id }) => id);
    await Promise.all(writers);
    expect(met.filter((id) => before.includes(id))).toEqual(before);
    expect(met).toEqual([...new Set(met)].sort((one, other) => one - other));
  });

  it('that has begun meets an animal that was added on a later page', async () => {
    const first = await listPets(api, '?limit=100');
    const added = JSON.parse((await createPet(api, '{"name":"Late","categoryId":8}')).body) as { id: number };
    const rest = await walkPages(api, nextPageOf(first)?.search ?? '');
    expect(rest.flat().map(({ id }) => id)).toContain(added.id);
  });
});
