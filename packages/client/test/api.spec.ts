import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { useApi } from '@adoption-store/api/testing/api';
import { instant, MINUTE } from '@adoption-store/domain';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import {
  AdoptionStore,
  ApiError,
  type ClientOptions,
  type NewPet,
  type StoreEvent,
  type TryInfo,
  verifyWebhook,
} from '../src/index.js';
import { forward } from './support/forward.js';
import { VirtualClock } from './support/virtual-clock.js';

const MAX_INT64 = 2n ** 63n - 1n;

const api = useApi();

// Each test has its own minute, so that no test uses up another's quota.
beforeEach(() => {
  api.clock.advance(MINUTE);
});

const storeOf = (options: Partial<ClientOptions> = {}) =>
  new AdoptionStore({ baseUrl: `${api.origin}/v1`, apiKey: api.key, ...options });

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}

it('has a method for each operation that is not deprecated', () => {
  const folder = join(__dirname, '../src');
  const files = readdirSync(folder).filter((file) => file.endsWith('.ts') && !/spec|generated/.test(file));
  const code = files.map((file) => readFileSync(join(folder, file), 'utf8')).join('\n');
  const { paths } = JSON.parse(readFileSync(join(__dirname, '../../../apps/api/openapi.json'), 'utf8')) as {
    paths: Record<string, Record<string, { deprecated?: boolean }>>;
  };
  const missing = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([method, { deprecated }]) => /^(?:get|post|put|patch|delete)$/.test(method) && deprecated !== true)
      .map(([method]) => [method.toUpperCase(), path] as const)
      .filter(([method, at]) => !code.includes(`'${method}', '${at}'`))
      // A list names only its path.
      .filter(([method, at]) => method !== 'GET' || ![': ', ' = '].some((sign) => code.includes(`path${sign}'${at}'`)))
      .map((operation) => operation.join(' ')),
  );
  expect(missing).toEqual([]);
});

it('an animal is added, changed field by field, and withdrawn', async () => {
  const { pets } = storeOf();
  const added = await pets.create({ name: 'Luna', categoryId: 1n });
  const changed = { ...added, categoryId: MAX_INT64, status: 'pending' };
  expect(await pets.change(added.id, { categoryId: MAX_INT64, status: 'pending' })).toEqual(changed);
  expect(await pets.get(added.id)).toEqual(changed);
  expect(await all(pets.list({ id: [added.id], status: 'pending' }))).toEqual([changed]);
  await pets.remove(added.id);
  const missing = { code: 'not_found', status: 404, requestId: expect.stringMatching(/\S/) };
  await expect(pets.remove(added.id)).rejects.toMatchObject(missing);
});

it('a status and types that were read can be written and asked for', async () => {
  const { pets, webhooks, events } = storeOf();
  const { categoryId, status } = await pets.create({ name: 'Luna', categoryId: 1n, status: 'pending' });
  const copy: NewPet = { name: 'Milo', categoryId, status };
  const { id } = await pets.create(copy);
  expect(await pets.change(id, { status })).toEqual({ id, ...copy });
  expect((await all(pets.list({ id: [id], status }))).length).toBe(1);
  const wrong = { code: 'invalid_parameter', message: 'status must be one of available, pending, sold' };
  await expect(pets.create({ ...copy, status: 'lost' })).rejects.toMatchObject(wrong);
  const { types, ...webhook } = await webhooks.create({ url: 'https://shelter.example/', types: ['pet.added'] });
  expect(await webhooks.change(webhook.id, { types: types ?? null, status: webhook.status })).toMatchObject({ types });
  await webhooks.remove(webhook.id);
  const [event] = await all(events.list());
  if (event !== undefined) expect((await all(events.list({ types: [event.type] })))[0]).toEqual(event);
});

it('an entity tag comes with a new animal, with one that was read, and with the error of a failed condition', async () => {
  const { pets } = storeOf();
  const { data, response } = await pets.create({ name: 'Luna', categoryId: 1n }).withResponse();
  const change = (ifMatch?: string) => pets.change(data.id, { name: 'Milo' }, { ifMatch }).withResponse();
  const { etag } = (await change(response.etag)).response;
  await expect(change(response.etag)).rejects.toMatchObject({ kind: 'precondition', etag });
  expect((await change(etag)).response.etag).toBe(etag);
  const { etag: ifMatch } = (await pets.get(data.id).withResponse()).response;
  await pets.change(data.id, { name: 'Coco' });
  await expect(pets.remove(data.id, { ifMatch })).rejects.toMatchObject({ kind: 'precondition' });
  await pets.remove(data.id, { ifMatch: (await pets.get(data.id).withResponse()).response.etag });
});

it('categories are added, named, listed and removed, and animals are found by them', async () => {
  const { categories, pets } = storeOf();
  const id = MAX_INT64 - 1n;
  const cats = await categories.create({ name: 'Cats' });
  const otters = await categories.put(id, { name: 'Otters' });
  expect(await categories.get(id)).toEqual(otters);
  expect(await all(categories.list({ limit: 1 }))).toEqual([cats, otters]);
  const pet = await pets.create({ name: 'Luna', categoryId: cats.id });
  expect(await all(pets.list({ categoryId: [cats.id] }))).toEqual([pet]);
  await categories.remove(id);
  expect(await all(categories.list())).toEqual([cats]);
});

it('orders are placed, got, completed and cancelled', async () => {
  const { orders, pets } = storeOf();
  const { id: petId } = await pets.create({ name: 'Luna', categoryId: 1n });
  const placed = await orders.create({ petId });
  expect(placed).toMatchObject({ petId, status: 'placed' });
  expect(await orders.get(placed.id)).toEqual(placed);
  expect(await orders.cancel(placed.id)).toMatchObject({ id: placed.id, status: 'cancelled' });
  const again = await orders.create({ petId });
  expect(await orders.complete(again.id)).toMatchObject({ id: again.id, status: 'completed' });
});

it('events of a type that is added later are typed as that', () => {
  const said = (event: StoreEvent): string => {
    switch (event.type) {
      case 'pet.added':
        return `${event.data.name} is new`;
      case 'order.placed':
        return `order of ${event.data.petId}`;
      case 'message.sent':
        return event.data.message;
      case 'pet.changed':
      case 'pet.removed':
      case 'order.completed':
      case 'order.cancelled':
      case 'order.expired':
      case 'message.failed':
        return `${event.data.id} is ${event.data.status}`;
      default:
        return `${event.type} of ${Object.keys(event.data).join(' and ')}`;
    }
  };
  const later: unknown = { id: 'evt_1', type: 'pet.praised', createdAt: '', data: { by: 'Bella' } };
  expect(said(later as StoreEvent)).toBe('pet.praised of by');
});

it('events are typed by their type, listed, and followed from now on', async () => {
  const { events, orders, pets } = storeOf();
  // What waits to be published comes behind now.
  await all(events.list());
  const cursor = await events.now();
  const added = await pets.create({ name: 'Luna', categoryId: MAX_INT64 });
  const order = await orders.create({ petId: added.id });
  const seen = (await all(events.list())).slice(-3);
  expect(seen).toMatchObject([
    { type: 'pet.added', data: added },
    { type: 'order.placed', data: order },
    { type: 'pet.changed', data: { ...added, status: 'pending' } },
  ]);
  for (const event of seen) {
    if (event.type === 'pet.added') expect(event.data.categoryId).toBe(MAX_INT64);
    if (event.type === 'order.placed') expect(event.data.petId).toBe(added.id);
  }
  const followed = events.follow({ types: ['order.placed'], cursor })[Symbol.asyncIterator]();
  expect(await followed.next()).toMatchObject({ value: { type: 'order.placed', data: order } });
});

describe('webhooks', () => {
  it('are created, changed, given another secret, and removed', async () => {
    const { webhooks } = storeOf();
    const { secret, ...created } = await webhooks.create({ url: 'https://shelter.example/', types: ['pet.added'] });
    expect(await all(webhooks.list())).toEqual([created]);
    const changed = await webhooks.change(created.id, { types: null, description: 'Ours' });
    expect(changed).toEqual({ ...created, types: undefined, description: 'Ours', updatedAt: changed.updatedAt });
    expect(await webhooks.get(created.id)).toEqual(changed);
    expect((await webhooks.rotateSecret(created.id)).secret).not.toBe(secret);
    await webhooks.remove(created.id);
    expect(await all(webhooks.list())).toEqual([]);
  });

  it('are sent what verifyWebhook takes, and what has failed is sent again', async () => {
    api.clock.set(instant(Date.now()));
    const { webhooks } = storeOf();
    const { id, secret } = await webhooks.create({ url: 'https://shelter.example/' });
    api.webhookSender.answer = () => 410;
    const ping = await webhooks.ping(id);
    await api.application.deliverWebhooks.execute();
    const [{ id: eventId, body } = { id: '', body: '' }] = api.webhookSender.requests;
    const at = new Date();
    const headers = {
      'webhook-id': eventId,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': new Webhook(secret).sign(eventId, at, body),
    };
    const received = verifyWebhook({ body, headers, secret });
    expect(received).toMatchObject({ id: ping.id, type: 'webhook.ping', data: { id } });

    await webhooks.change(id, { status: 'enabled' });
    const [failed] = await all(webhooks.deliveries(id));
    expect(failed).toMatchObject({ id: ping.id, status: 'failed', attempts: 1, responseStatus: 410 });
    expect(await webhooks.retry(id, ping.id)).toMatchObject({ id: ping.id, status: 'queued', attempts: 0 });
    const since = new Date(at.getTime() - MINUTE);
    expect(await webhooks.recover(id, since)).toMatchObject({ id, recoveringSince: since.toISOString() });
  });
});

it.each([
  // A client never asks for more than it knows to be left.
  { calls: 80, clients: 1, answered: 80, refused: 0 },
  // Those of the first minute, and of the one that begins before maxWait is over. 50 refusals in a minute are a ban.
  { calls: 400, clients: 3, answered: 120, refused: 98 },
])('$calls calls at once by $clients on the free plan: answered, or given up in time, without a ban', async (its) => {
  const { key: apiKey } = await api.openKey('free');
  const from = api.clock.now();
  const clock = new VirtualClock(() => {
    api.clock.set(instant(from + Math.floor(clock.now())));
  });
  let refused = 0;
  const onResponse = ({ status }: TryInfo) => {
    if (status === 429) refused += 1;
  };
  const stores = Array.from({ length: its.clients }, () => storeOf({ apiKey, clock, onResponse }));
  const call = async (index: number) => stores[index % its.clients]?.pets.list({ limit: 1 }).page();
  const ends = await Promise.allSettled(Array.from({ length: its.calls }, (_, index) => call(index)));
  const errors = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason as unknown] : []));
  expect(its.calls - errors.length).toBeGreaterThanOrEqual(its.answered);
  expect(refused).toBeLessThanOrEqual(its.refused);
  for (const error of errors) expect(error).toMatchObject({ kind: 'rate_limit', retryAfter: expect.any(Number) });
  // The default of maxWait.
  expect(clock.now()).toBeLessThanOrEqual(65_000);
  expect(await stores[0]?.getRateLimit()).toMatchObject({ ban: null });
});

it('200 POSTs whose requests and answers are lost at random, repeated with the error’s key, make 200 animals', async () => {
  let lost = 0;
  const isLost = () => {
    const isOne = Math.random() < 0.2;
    if (isOne) lost += 1;
    return isOne;
  };
  const fetchOrLose = async (url: URL, init: RequestInit) => {
    if (isLost()) throw new TypeError('the request was lost');
    const response = await fetch(url, init);
    if (isLost()) throw new TypeError('the answer was lost');
    return response;
  };
  const store = storeOf({ fetch: fetchOrLose, clock: new VirtualClock(), maxTries: 2 });
  /** Adds the animal, however often its caller has to repeat that with the key of the error. */
  const add = async (name: string, idempotencyKey?: string): Promise<unknown> => {
    const caller = new AbortController();
    const abort = () => {
      caller.abort();
    };
    if (isLost()) setImmediate(abort);
    const call = store.pets.create({ name, categoryId: 1n }, { idempotencyKey, signal: caller.signal });
    return call.catch((error: unknown) => {
      if (!(error instanceof ApiError)) throw error;
      return add(name, error.idempotencyKey);
    });
  };
  const names = Array.from({ length: 200 }, (_, index) => `Lost ${index}`);
  await Promise.all(names.map((name) => add(name)));
  expect(lost).toBeGreaterThan(50);
  const found = (await all(storeOf().pets.list())).map(({ name }) => name).filter((name) => name.startsWith('Lost'));
  expect(found.sort()).toEqual(names.sort());
});

describe.each([
  ['without PUBLIC_URL', undefined],
  ['with PUBLIC_URL', 'https://store.example'],
])('a server %s', (_what, publicUrl) => {
  const named = useApi({ publicUrl });
  const proxy = createServer((request, response) => {
    forward(request, response, named.origin, request.url?.replace('/store/', '/'));
  });
  const names: string[] = [];

  beforeAll(async () => {
    await once(proxy.listen(0, '127.0.0.1'), 'listening');
    const { port } = proxy.address() as AddressInfo;
    names.push(`${named.origin}/v1`, `http://localhost:${named.port}/v1/`, `http://127.0.0.1:${port}/store/v1`);
  });
  afterAll(() => {
    proxy.close();
    proxy.closeAllConnections();
  });

  const storeAt = (baseUrl: string) => new AdoptionStore({ baseUrl, apiKey: named.key });
  /** Each list, with pages of one item, but for that which the API returns at once. */
  const listsOf = ({ categories, events, orders, pets, webhooks }: AdoptionStore, webhookId: string) => [
    pets.list({ limit: 1 }),
    categories.list({ limit: 1 }),
    orders.list({ limit: 1 }),
    webhooks.list(),
    webhooks.deliveries(webhookId, { limit: 1 }),
    events.list({ limit: 1, types: ['pet.added', 'order.placed'] }),
  ];

  it('has the same lists, followers and stored places through each of its names', async () => {
    const [first = ''] = names;
    const writer = storeAt(first);
    const webhook = await writer.webhooks.create({ url: 'https://shelter.example/' });
    for (const name of ['Luna', 'Lucy', 'Luca']) {
      const { id: petId } = await writer.pets.create({ name, categoryId: 1n });
      await writer.categories.create({ name });
      await writer.orders.create({ petId });
      await writer.webhooks.ping(webhook.id);
    }
    const expected = await Promise.all(listsOf(writer, webhook.id).map(all<{ readonly id: unknown }>));
    expect(expected.map(({ length }) => length)).toEqual([3, 3, 3, 1, 3, 6]);
    const everything = await all(writer.events.list());
    for (const [index, name] of names.entries()) {
      const store = storeAt(name);
      const other = storeAt(names[(index + 1) % names.length] ?? '');
      const others = listsOf(other, webhook.id);
      for (const [place, list] of listsOf(store, webhook.id).entries()) {
        expect(await all<{ readonly id: unknown }>(list)).toEqual(expected[place]);
        const { next } = await list.page();
        if (next === undefined) continue;
        expect(next).toMatch(new RegExp(`^${name.replace(/\/$/, '')}/`));
        expect(await all<{ readonly id: unknown }>(others[place]?.from(next) ?? list)).toEqual(
          expected[place]?.slice(1),
        );
      }
      const followed = store.events.follow();
      for await (const event of followed) if (event.id === everything[1]?.id) break;
      const { cursor = '' } = followed;
      for (const rest of [other.events.catchUp({ cursor }), other.events.list({ limit: 2 }).from(cursor)])
        expect(await all(rest)).toEqual(everything.slice(2));
      const { next = '' } = await store.events.list({ limit: 3 }).page();
      expect(await all(other.events.catchUp({ cursor: next }))).toEqual(everything.slice(3));
      const now = await store.events.now();
      expect(await all(other.events.list().from(now))).toEqual([]);
    }
  });
});
