import { describe, expect, it } from '@jest/globals';
import {
  addPet,
  CATEGORIES,
  changePet,
  end,
  get,
  MESSAGES,
  ORDERS,
  petOf,
  placeOrder,
  post,
  rawHead,
  send,
  sendOnce,
  withdrawPet,
} from '../support/client.js';
import { expectError, expectHeadError } from '../support/expectations.js';
import { newCategoryId, useSharedApi } from '../support/shared-api.js';

const api = useSharedApi();
const newName = () => ({ name: `Kind ${newCategoryId()}` });
/** The path of a new resource. */
async function added(collection: string, body: object): Promise<string> {
  const response = await post(api, collection, body);
  return `${collection}/${(JSON.parse(response.body) as { readonly id: number | string }).id}`;
}

/** A path of each kind of resource. */
const READABLE: Readonly<Record<string, () => Promise<string>>> = {
  'a list': async () => `/v1/pets?id=${await addPet(api)}`,
  'an animal': async () => `/v1/pets/${await addPet(api)}`,
  'a list of orders': () => Promise.resolve(ORDERS),
  'an order': async () => `${ORDERS}/${(await placeOrder(api)).id}`,
  'a list of categories': () => Promise.resolve(`${CATEGORIES}?id=1`),
  'a category': () => added(CATEGORIES, newName()),
  'a message': () => added(MESSAGES, { message: 'Hello' }),
};
const readable = Object.entries(READABLE);

type Headers = Readonly<Record<string, string>>;

const ask = (method: 'GET' | 'HEAD', path: string, headers: Headers) => send(api, method, path, undefined, headers);

async function tagOf(path: string): Promise<string> {
  return (await get(api, path)).headers['etag'] ?? '';
}

const MALFORMED = ['', ',', 'tag', '"tag', 'w/"tag"', '*, "tag"', '"a" "b"', '"a"b'];
const malformed = ['If-Match', 'If-None-Match'].flatMap((name) => MALFORMED.map((value) => ({ [name]: value })));

const failing = (tag: string): readonly Headers[] => [
  { 'If-Match': '"another"' },
  { 'If-Match': '""' },
  { 'If-Match': tag.toUpperCase() },
  { 'If-Match': `W/${tag}` },
  { 'If-Match': '"another"', 'If-None-Match': tag },
];
const failingAChange = (tag: string): readonly Headers[] => [
  ...failing(tag),
  { 'If-None-Match': '*' },
  { 'If-None-Match': `"another", ${tag}` },
  { 'If-None-Match': `W/${tag}` },
  { 'If-Match': tag, 'If-None-Match': tag },
];

/** An operation that changes a resource which is there. Default path: the resource's own. */
interface Change {
  readonly resource: string;
  readonly path?: string;
  readonly body?: object | undefined;
}

const onOrder = async (ending: string): Promise<Change> => {
  const resource = `${ORDERS}/${(await placeOrder(api)).id}`;
  return { resource, path: `${resource}/${ending}` };
};
const onAnimal = async (body?: object): Promise<Change> => ({ resource: `/v1/pets/${await addPet(api)}`, body });
const onCategory = async (body?: object): Promise<Change> => ({ resource: await added(CATEGORIES, newName()), body });

describe('a condition (RFC 9110 §13.2.2)', () => {
  it.each<[string, string, number, () => Promise<Change>]>([
    ['change of an animal', 'PATCH', 200, () => onAnimal({ name: 'Milo' })],
    ['withdrawal of an animal', 'DELETE', 204, () => onAnimal()],
    ['renaming of a category', 'PUT', 200, () => onCategory(newName())],
    ['removal of a category', 'DELETE', 204, () => onCategory()],
    ['completion of an order', 'POST', 200, () => onOrder('complete')],
    ['cancellation of an order', 'POST', 200, () => onOrder('cancel')],
  ])(
    'that fails for the %s is 412 with the current ETag and changes nothing',
    async (_case, method, status, prepare) => {
      const { resource, path = resource, body } = await prepare();
      const before = await get(api, resource);
      const etag = before.headers['etag'] ?? '';
      for (const conditions of failingAChange(etag)) {
        const response = await send(api, method, path, body, conditions);
        expectError(response, 412, 'precondition_failed');
        expect([conditions, response.headers['etag']]).toEqual([conditions, etag]);
      }
      for (const conditions of malformed)
        expectError(await send(api, method, path, body, conditions), 400, 'invalid_parameter');
      expect((await get(api, resource)).body).toBe(before.body);
      const holding = { 'If-Match': `"another" ,, W/"b",${etag}`, 'If-None-Match': '"another", W/"third"' };
      const response = await send(api, method, path, body, holding);
      expect(response).toMatchObject({ status });
      const next = await tagOf(resource);
      if (status === 200) expect(response.headers).toMatchObject({ etag: next });
      expect(next).not.toBe(etag);
    },
  );

  it.each(readable)('that fails for the GET of %s is 412 with its ETag, to HEAD too', async (_name, prepare) => {
    const path = await prepare();
    const etag = await tagOf(path);
    for (const conditions of failing(etag)) {
      const response = await ask('GET', path, conditions);
      expectError(response, 412, 'precondition_failed');
      expect(response.headers).toMatchObject({ etag });
      const head = await ask('HEAD', path, conditions);
      expectHeadError(head, 412);
      expect(head.headers).toMatchObject({ etag, 'content-length': response.headers['content-length'] });
    }
  });

  it('is judged by none for a POST to a collection, whose 201 has the ETag of its GET', async () => {
    const conditions = [...failingAChange('"tag"'), ...malformed, { 'If-Match': '*' }];
    for (const [path, body] of [
      ['/v1/pets', () => ({ name: 'Luna', categoryId: 1 })],
      [CATEGORIES, newName],
      [ORDERS, async () => ({ petId: await addPet(api) })],
    ] as const) {
      for (const each of conditions) {
        const response = await post(api, path, await body(), each);
        expect(response).toMatchObject({ status: 201 });
        const added = response.headers['location']?.slice(api.origin.length) ?? '';
        expect([path, response.headers['etag']]).toEqual([path, await tagOf(added)]);
      }
    }
  });
});

describe("the tag of an animal's page, GET /v1/pets?id=N, in If-Match", () => {
  const CHANGES = [
    ['PATCH', { name: 'Milo' }, 200],
    ['DELETE', undefined, 204],
  ] as const;
  const QUERIES = ['', '&limit=1', '&status=available', '&categoryId=1', '&id=999999999'];

  it.each(CHANGES)('lets a %s of the animal through, whatever else the query has', async (method, body, status) => {
    for (const query of QUERIES) {
      const id = await addPet(api);
      const tag = await tagOf(`/v1/pets?id=${id}${query}`);
      const response = await send(api, method, `/v1/pets/${id}`, body, { 'If-Match': `"another", ${tag}` });
      expect([query, response.status]).toEqual([query, status]);
      if (status === 200) expect(response.headers['etag']).toBe(await tagOf(`/v1/pets/${id}`));
    }
  });

  it.each(CHANGES.map(([method, body]) => [method, body] as const))(
    'of something else is 412 to a %s, with the ETag of the kind that was sent',
    async (method, body) => {
      const [id, other] = [await addPet(api), await addPet(api)];
      const [own, page] = [`/v1/pets/${id}`, `/v1/pets?id=${id}`];
      const former = await tagOf(page);
      await changePet(api, id, { name: 'Nala' });
      const current = await tagOf(page);
      const wrong = [former, `W/${current}`, await tagOf(`${page}&id=${other}`), await tagOf(`/v1/pets?id=${other}`)];
      wrong.push(await tagOf(`${page}&status=sold`), await tagOf(`/v1/pets?id=${id}&id=${other}&limit=1`));
      for (const each of wrong) {
        const response = await send(api, method, own, body, { 'If-Match': each });
        expectError(response, 412, 'precondition_failed');
        expect([each, response.headers['etag']]).toEqual([each, current]);
      }
      const response = await send(api, method, own, body, { 'If-Match': current, 'If-None-Match': current });
      expectError(response, 412, 'precondition_failed');
      expect(petOf(await get(api, own)).name).toBe('Nala');
    },
  );

  it('lets one of several changes through that are made at the same time', async () => {
    const id = await addPet(api);
    const condition = { 'If-Match': await tagOf(`/v1/pets?id=${id}`) };
    const names = Array.from({ length: 8 }, (_, index) => ({ name: `Luna ${index}` }));
    const responses = await Promise.all(names.map((name) => changePet(api, id, name, condition)));
    // On a busy machine some may be 429.
    expect(responses.filter(({ status }) => status < 400)).toHaveLength(1);
  });
});

describe('an entity tag', () => {
  it.each(readable)('of %s is the same for the same content, which is sent once', async (_name, prepare) => {
    const path = await prepare();
    const whole = await get(api, path);
    const etag = whole.headers['etag'] ?? '';
    expect(etag).toMatch(/^"(page-)?[0-9a-f]{64}"$/);
    expect((await ask('HEAD', path, {})).headers['etag']).toBe(etag);
    for (const method of ['GET', 'HEAD'] as const) {
      const response = await ask(method, path, { 'If-None-Match': etag });
      expect(response).toMatchObject({ status: 304, body: '', headers: { etag } });
      for (const absent of ['transfer-encoding', ...(method === 'GET' ? ['content-length'] : [])])
        expect(response.headers).not.toHaveProperty(absent);
    }
    expect(await ask('GET', path, { 'If-None-Match': '"another"' })).toMatchObject({ status: 200, body: whole.body });
  });

  it.each<[number, string, (tag: string) => Headers]>([
    [304, 'a weak one', (tag) => ({ 'If-None-Match': `W/${tag}` })],
    [304, 'among others', (tag) => ({ 'If-None-Match': `"a", ${tag} , "b"` })],
    [304, 'any', () => ({ 'If-None-Match': '*' })],
    [304, 'one that If-Match names too', (tag) => ({ 'If-Match': `W/"a", ${tag}`, 'If-None-Match': tag })],
    [200, 'another, and If-Match any', () => ({ 'If-Match': '*', 'If-None-Match': '"another"' })],
    [200, 'in part', (tag) => ({ 'If-None-Match': `${tag.slice(0, 20)}"` })],
    [200, 'an empty one', () => ({ 'If-None-Match': '""' })],
    [200, 'within another', (tag) => ({ 'If-None-Match': `"a,${tag.replaceAll('"', '')}"` })],
  ])('makes the answer %i if the client has %s', async (status, _case, headersOf) => {
    const path = `/v1/pets/${await addPet(api)}`;
    expect(await ask('GET', path, headersOf(await tagOf(path)))).toMatchObject({ status });
  });

  it('is another one once a page is the last, an animal has changed or gone, or an order has ended', async () => {
    const categoryId = newCategoryId();
    const [id, next] = [await addPet(api, 'available', categoryId), await addPet(api, 'available', categoryId)];
    const path = `/v1/pets?categoryId=${categoryId}&limit=1`;
    const tags = [await tagOf(path)];
    const known = await ask('GET', path, { 'If-None-Match': tags[0] ?? '' });
    expect(known).toMatchObject({ status: 304 });
    expect(known.headers).not.toHaveProperty('link');
    await withdrawPet(api, next);
    tags.push(await tagOf(path));
    await changePet(api, id, { name: 'Milo' });
    tags.push(await tagOf(path));
    await withdrawPet(api, id);
    tags.push(await tagOf(path));
    expect(new Set(tags).size).toBe(4);
    const order = await placeOrder(api);
    const before = await tagOf(`${ORDERS}/${order.id}`);
    await end(api, 'cancel', order.id);
    expect(await tagOf(`${ORDERS}/${order.id}`)).not.toBe(before);
  });

  it.each(['/v1/rate_limit', '/v1/pets/999999999'])('is not on %s, and no condition changes that', async (path) => {
    const response = await ask('GET', path, { 'If-None-Match': '*' });
    expect([200, 404]).toContain(response.status);
    expect(response.headers).not.toHaveProperty('etag');
  });

  it.each(['a list', 'a category'])('is not on %s for a request that turns out not to be HTTP', async (name) => {
    const path = (await READABLE[name]?.()) ?? '';
    const head = rawHead(api, `GET ${path} HTTP/1.1`, ['If-None-Match: *', 'Transfer-Encoding: chunked']);
    const refused = await sendOnce(api, `${head}zz\r\n`);
    expectError(refused, 400, 'bad_request');
    expect(refused.headers).not.toHaveProperty('etag');
  });
});
