import { describe, expect, it } from '@jest/globals';
import { BASE, clientOf, errorOf, pet, refusal } from '../test/support/scripted-client.js';
import type { AdoptionStore } from './index.js';

async function namesOf(store: AdoptionStore): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const { name } of store.pets.list()) names.push(name);
  return names;
}

describe('pages', () => {
  it.each([
    ...['', ' \n', 'https://', 'a b', '{"id":1}', 'https://api.example/', 'https://api.example/v1/orders?cursor=b'],
    ...['https://api.example/v1/pets?cursor=', 'pet.added~b~evt_1', undefined, null, 7, {}],
  ])('never begin at %j, which is no place of theirs', (page) => {
    const { store, sent } = clientOf([pet()]);
    expect(() => store.pets.list().from(page as string)).toThrow(TypeError);
    expect(sent).toEqual([]);
  });

  it.each([
    'b',
    'https://api.example/v1/pets?cursor=b',
    'http://10.0.0.1:3000/store/v1/pets?status=sold&cursor=b&limit=3#here',
    'https://evil.example/v1/pets?cursor=b',
  ])('begin at %s with their own filters and at their own server', async (page) => {
    const { store, sent } = clientOf([pet()]);
    await store.pets.list({ status: 'available' }).from(page).page();
    await store.pets.list({ cursor: 'a', limit: 2 }).from(page).page();
    expect(sent.map(({ url }) => url)).toEqual([
      `${BASE}/pets?status=available&cursor=b`,
      `${BASE}/pets?cursor=b&limit=2`,
    ]);
  });

  it('repeat a list in the query, and leave out what is undefined', async () => {
    const { store, sent } = clientOf([pet()]);
    await store.pets.list({ id: [1n, 2n ** 63n - 1n], limit: 1, status: undefined }).page();
    expect(sent[0]?.url).toBe(`${BASE}/pets?id=1&id=9223372036854775807&limit=1`);
  });

  it('have at most 100 ids in a filter, and say so', () => {
    const { store } = clientOf([pet()]);
    const ids = Array.from({ length: 101 }, (_, index) => BigInt(index));
    const rule = new RangeError('categoryId must have at most 100 ids, and has 101');
    expect(() => store.pets.list({ categoryId: ids })).toThrow(rule);
    expect(() => store.categories.list({ id: ids })).toThrow(RangeError);
    expect(() => store.pets.list({ id: ids.slice(1) })).not.toThrow();
  });

  it('are fetched only when they are needed', async () => {
    const { store, sent } = clientOf([pet({ Link: '<?cursor=a>; rel="next"' })]);
    const pets = store.pets.list();
    expect(sent).toHaveLength(0);
    for await (const { id } of pets) if (id > 0n) break;
    expect(sent).toHaveLength(1);
  });
});

describe('a walk', () => {
  const page = (id: number, next?: string) =>
    new Response(`[{"id":${id},"name":"Luna","categoryId":1,"status":"sold"}]`, {
      headers: next === undefined ? {} : { Link: `<?cursor=${next}>; rel="next"` },
    });

  it('fetches 100 items a page, unless the query says otherwise', async () => {
    const { store, sent } = clientOf([page(1)]);
    for await (const { id } of store.pets.list()) expect(id).toBe(1n);
    for await (const { id } of store.pets.list({ limit: 7 })) expect(id).toBe(1n);
    await store.pets.list().page();
    expect(sent.map(({ url }) => url)).toEqual([`${BASE}/pets?limit=100`, `${BASE}/pets?limit=7`, `${BASE}/pets`]);
  });

  it('can go on after a failure, at the page that failed', async () => {
    const { store, sent } = clientOf([page(1, 'b'), refusal(404), page(2)]);
    const { page: failed } = await errorOf(namesOf(store));
    for await (const { id } of store.pets.list().from(failed ?? '')) expect(id).toBe(2n);
    expect(sent.at(-1)?.url).toBe(`${BASE}/pets?limit=100&cursor=b`);
  });

  it('goes on behind a page without items, for only the Link says whether more follow', async () => {
    const empty = new Response('[]', { headers: { Link: '<?cursor=b>; rel="next"' } });
    expect(await namesOf(clientOf([empty, page(1)]).store)).toEqual(['Luna']);
  });

  it.each([1, 17])('ends with an error if the pages go round in a circle of %i', async (length) => {
    let count = 0;
    const { store, sent } = clientOf([() => page(1, String((count += 1) % length))]);
    const error = await errorOf(namesOf(store));
    expect(error).toMatchObject({ code: 'unexpected_response', page: expect.stringContaining('cursor=') });
    expect(sent.length).toBeLessThan(2 * length + 2);
  });

  const luna = (link: string) => pet({ Link: link });
  const milo = () => new Response('[{"id":2,"name":"Milo","categoryId":1,"status":"sold"}]');

  it.each([
    '<?cursor=2>; rel="next"',
    '</v1/pets?cursor=2>; title="<a>, b; rel=\\"prev\\""; rel="next"',
    '<https://api.example/v1/pets?cursor=0>; rel="prev", <https://api.example/v1/pets?cursor=2>; rel="next"',
    '<http://10.0.0.1:3000/v1/pets?status=sold&cursor=2>; rel="next"',
    '<https://user:password@evil.example/v1/orders?cursor=2>; rel="next"',
    '</store/v1/pets/../../admin?cursor=2>; rel="next"',
  ])('takes the cursor alone of the Link %s', async (link) => {
    const { store, sent } = clientOf([luna(link), milo()]);
    expect(await namesOf(store)).toEqual(['Luna', 'Milo']);
    expect(sent[1]?.url).toBe(`${BASE}/pets?limit=100&cursor=2`);
  });

  it.each(['', '<?cursor=2>; rel="nextish"', '<?cursor=2>; title="a, <b>; rel=next"; rel="prev"'])(
    'ends at the Link %s, which is none to a next page',
    async (link) => {
      expect(await namesOf(clientOf([luna(link), milo()]).store)).toEqual(['Luna']);
    },
  );

  it.each([
    '</v1/pets>; rel="next"',
    '</v1/pets?cursor=>; rel="next"',
    '<http://[/v1/pets>; rel="next"',
    '<?cursor=2; rel="next"',
    '<>; rel="next"',
    'next',
    ',, <?cursor=2>; rel="next"',
  ])('never follows the Link %s', async (link) => {
    const { store, sent } = clientOf([luna(link), milo()]);
    expect(await errorOf(namesOf(store))).toMatchObject({ code: 'unexpected_response', status: 200 });
    expect(sent).toHaveLength(1);
  });

  it.each([{ id: [] }, { categoryId: [], limit: 5 }])('of %j is over without a request', async (query) => {
    const { store, sent } = clientOf([page(1)]);
    for await (const pet of store.pets.list(query)) expect(pet).toBeUndefined();
    expect(await store.pets.list(query).page()).toEqual({ items: [], next: undefined });
    expect(sent).toEqual([]);
  });
});
