import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { useApi } from '@adoption-store/api/testing/api';
import { DAY, instant, MINUTE } from '@adoption-store/domain';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { AdoptionStore, ApiError, type ClientOptions, type TryInfo, verifyWebhook } from '../src/index.js';
import { VirtualClock } from './support/virtual-clock.js';

const CLIENT = join(__dirname, '..');
const read = (path: string) => readFileSync(path, 'utf8');

const api = useApi();

// Each test has its own minute, so that no test uses up another's quota.
beforeEach(() => {
  api.clock.advance(MINUTE);
});

const MAX_INT64 = 2n ** 63n - 1n;

const storeOf = (options: Partial<ClientOptions> = {}) =>
  new AdoptionStore({ baseUrl: `${api.origin}/v1`, apiKey: api.key, ...options });

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}

it("the client's version is its package's", () => {
  const { version } = JSON.parse(read(join(CLIENT, 'package.json'))) as { version: string };
  expect(read(join(CLIENT, 'src/version.ts'))).toContain(`'${version}'`);
});

describe('an animal', () => {
  it('is changed field by field, and withdrawn', async () => {
    const store = storeOf();
    const added = await store.pets.create({ name: 'Luna', categoryId: 1n });
    const changed = { ...added, categoryId: MAX_INT64, status: 'pending' };
    expect(await store.pets.change(added.id, { categoryId: MAX_INT64, status: 'pending' })).toEqual(changed);
    expect(await store.pets.get(added.id)).toEqual(changed);
    const { status } = await store.pets.get(added.id);
    expect(await all(store.pets.list({ id: [added.id], status }))).toEqual([changed]);
    await store.pets.remove(added.id);
    expect(await all(store.pets.list({ id: [added.id] }))).toEqual([]);
    await expect(store.pets.remove(added.id)).rejects.toMatchObject({
      code: 'not_found',
      status: 404,
      requestId: expect.stringMatching(/\S/),
    });
  });
});

describe('an entity tag', () => {
  it('comes with a new animal and with a failed condition, also once no GET shows one', async () => {
    const store = storeOf();
    const added = await store.pets.create({ name: 'Luna', categoryId: 1n }).withResponse();
    const change = (ifMatch?: string) => store.pets.change(added.data.id, { name: 'Milo' }, { ifMatch }).withResponse();
    const { etag } = (await change(added.response.etag)).response;
    const refused = change(added.response.etag);
    await expect(refused).rejects.toMatchObject({ kind: 'precondition', etag });
    expect((await change(etag)).response.etag).toBe(etag);
  });
});

describe('categories', () => {
  it('are added, named, listed and removed, and animals are found by them', async () => {
    const store = storeOf();
    const id = MAX_INT64 - 1n;
    const cats = await store.categories.create({ name: 'Cats' });
    expect(cats).toEqual({ id: expect.any(BigInt), name: 'Cats' });
    const otters = await store.categories.put(id, { name: 'Otters' });
    expect(otters).toEqual({ id, name: 'Otters' });
    expect(await store.categories.get(id)).toEqual(otters);
    expect(await all(store.categories.list({ limit: 1 }))).toEqual([cats, otters]);
    const pet = await store.pets.create({ name: 'Luna', categoryId: cats.id });
    expect(await all(store.pets.list({ categoryId: [cats.id] }))).toEqual([pet]);
    await store.categories.remove(id);
    expect(await all(store.categories.list())).toEqual([cats]);
  });
});

describe('orders', () => {
  it('are placed, got, completed and cancelled', async () => {
    const store = storeOf();
    const { id: petId } = await store.pets.create({ name: 'Luna', categoryId: 1n });
    const placed = await store.orders.create({ petId });
    expect(placed).toMatchObject({ id: expect.any(BigInt), petId, status: 'placed' });
    expect(await store.orders.get(placed.id)).toEqual(placed);
    expect(await store.orders.cancel(placed.id)).toMatchObject({ id: placed.id, status: 'cancelled' });
    const again = await store.orders.create({ petId });
    expect(await store.orders.complete(again.id)).toMatchObject({ id: again.id, status: 'completed' });
    expect(await all(store.pets.list({ id: [petId] }))).toMatchObject([{ status: 'sold' }]);
  });
});

describe('events', () => {
  it('are of the changes, typed by their type, and those of orders come to their own account alone', async () => {
    const store = storeOf();
    const other = storeOf({ apiKey: (await api.openKey()).key });
    const before = await all(store.events.list());
    const added = await store.pets.create({ name: 'Luna', categoryId: MAX_INT64 });
    const order = await store.orders.create({ petId: added.id });
    const seen = async (by: AdoptionStore) => (await all(by.events.list())).slice(-3);
    expect(await seen(store)).toMatchObject([
      { type: 'pet.added', data: added },
      { type: 'order.placed', data: order },
      { type: 'pet.changed', data: { ...added, status: 'pending' } },
    ]);
    expect((await seen(other)).map(({ type }) => type)).not.toContain('order.placed');
    expect(await all(store.events.list({ types: ['order.placed'] }))).toHaveLength(
      before.filter(({ type }) => type === 'order.placed').length + 1,
    );
    for (const event of await seen(store)) {
      if (event.type === 'pet.added') expect(event.data.categoryId).toBe(MAX_INT64);
      if (event.type === 'order.placed') expect(event.data.petId).toBe(added.id);
    }
  });

  it('are followed from now on, without those before', async () => {
    const store = storeOf();
    await store.pets.create({ name: 'Luna', categoryId: 1n });
    await all(store.events.list());
    const cursor = await store.events.now();
    const data = await store.pets.create({ name: 'Milo', categoryId: 1n });
    const followed = store.events.follow({ types: ['pet.added'], cursor })[Symbol.asyncIterator]();
    expect(await followed.next()).toMatchObject({ value: { type: 'pet.added', data } });
  });

  it('are each seen once by a reader that is stopped at random while others write', async () => {
    const store = storeOf({ apiKey: (await api.openKey()).key, clock: new VirtualClock() });
    const names = Array.from({ length: 300 }, (_, index) => `Followed ${index}`);
    const written = Promise.all(names.map((name) => storeOf().pets.create({ name, categoryId: 1n })));
    const seen: string[] = [];
    let cursor: string | undefined;
    while (seen.length < names.length) {
      const events = store.events.follow({ types: ['pet.added'], cursor });
      for await (const { data } of events)
        if (data.name.startsWith('Followed') && (seen.push(data.name) === names.length || Math.random() < 0.05)) break;
      ({ cursor } = events);
    }
    await written;
    expect(seen.sort()).toEqual(names.sort());
  });
});

describe('webhooks', () => {
  it('are created, changed, given another secret, and removed', async () => {
    const { webhooks } = storeOf();
    const { secret, ...created } = await webhooks.create({ url: 'https://shelter.example/', types: ['pet.added'] });
    expect(created).toMatchObject({ types: ['pet.added'], status: 'enabled' });
    expect(await all(webhooks.list())).toEqual([created]);
    const changed = await webhooks.change(created.id, { types: null, description: 'Ours' });
    expect(changed).toEqual({ ...created, types: undefined, description: 'Ours', updatedAt: changed.updatedAt });
    expect(await webhooks.get(created.id)).toEqual(changed);
    const rotated = await webhooks.rotateSecret(created.id);
    expect(rotated.secret).toMatch(/^whsec_/);
    expect(rotated.secret).not.toBe(secret);
    await webhooks.remove(created.id);
    expect(await all(webhooks.list())).toEqual([]);
  });

  it('are sent what verifies with either secret, and what has failed is sent again', async () => {
    // By PostgreSQL's clock the former secret signs for a day.
    api.clock.set(instant(Date.now()));
    const store = storeOf();
    const { id, secret } = await store.webhooks.create({ url: 'https://shelter.example/', types: ['pet.added'] });
    const secrets = [secret, (await store.webhooks.rotateSecret(id)).secret];
    const { requests } = api.webhookSender;
    const deliver = async (answer: number) => {
      requests.length = 0;
      api.webhookSender.answer = () => answer;
      await api.application.publishEvents.execute();
      await api.application.wakeWebhooks.execute();
      while ((await api.application.deliverWebhooks.execute()).mayHaveMore);
      return requests.map(({ id: eventId, body, secrets: signing }) => {
        const stamp = new Date(Math.floor(Date.now() / 1000) * 1000);
        const headers = {
          'webhook-id': eventId,
          'webhook-timestamp': String(stamp.getTime() / 1000),
          'webhook-signature': signing.map((each) => new Webhook(each).sign(eventId, stamp, body)).join(' '),
        };
        return secrets.map((each) => verifyWebhook({ body, headers, secret: each }));
      });
    };
    const ping = await store.webhooks.ping(id);
    const pinged = { id: ping.id, type: 'webhook.ping', data: { id } };
    expect(await deliver(204)).toMatchObject([[pinged, pinged]]);
    const added = await store.pets.create({ name: 'Luna', categoryId: MAX_INT64 });
    const [event] = (await all(store.events.list({ types: ['pet.added'] }))).slice(-1);
    expect(event).toMatchObject({ type: 'pet.added', data: added });
    expect(await deliver(410)).toEqual([[event, event]]);
    await store.webhooks.change(id, { status: 'enabled' });
    const [failed] = await all(store.webhooks.deliveries(id));
    expect(failed).toMatchObject({ eventId: event?.id, status: 'failed', attempts: 1, responseStatus: 410 });
    const queued = { status: 'queued', attempts: 0, nextAttemptAt: expect.stringMatching(/Z$/) };
    expect(await store.webhooks.retry(id, failed?.id ?? '')).toEqual({ ...failed, ...queued });
    api.clock.advance(MINUTE);
    expect(await deliver(410)).toEqual([[event, event]]);
    await store.webhooks.change(id, { status: 'enabled' });
    const since = new Date(Date.parse(event?.createdAt ?? '') - 1);
    expect(await store.webhooks.recover(id, since)).toMatchObject({ id, recoveringSince: since.toISOString() });
  });
});

// After the webhooks, because they send no events of over a month ago.
describe('events that are no longer kept', () => {
  it('are said to be lost to a reader that stopped before them, also on its first page', async () => {
    const store = storeOf({ apiKey: (await api.openKey()).key });
    for (const name of ['Luna', 'Bella']) await store.pets.create({ name, categoryId: 1n });
    const followed = store.events.follow();
    await followed[Symbol.asyncIterator]().next();
    // The database's own clock says when an event was stored.
    api.clock.set(instant(Date.now() + 31 * DAY));
    await api.application.publishEvents.execute();
    await api.application.purgeExpired.execute('events');
    const kept = await store.pets.create({ name: 'Milo', categoryId: 1n });
    expect(await all(store.events.list())).toMatchObject([{ data: kept }]);
    const again = store.events.follow({ cursor: followed.cursor })[Symbol.asyncIterator]().next();
    await expect(again).rejects.toMatchObject({ name: 'ApiError', code: 'cursor_expired', status: 410 });
  });
});

const CALLS = 400;
const PER_MINUTE = 60;
const DEFAULT_MAX_WAIT = 65_000;

/** Clients of one new account of the free plan, whose clock is the API's too. */
async function clientsOf(count: number, options: ClientOptions) {
  const { key: apiKey } = await api.openKey('free');
  const from = api.clock.now();
  const clock = new VirtualClock(() => {
    api.clock.set(instant(from + Math.floor(clock.now())));
  });
  const tries: TryInfo[] = [];
  const onResponse = (outcome: TryInfo) => {
    tries.push(outcome);
  };
  const all = { baseUrl: `${api.origin}/v1`, apiKey, clock, onResponse, ...options };
  return { stores: Array.from({ length: count }, () => new AdoptionStore(all)), clock, tries };
}

describe.each([
  [1, DEFAULT_MAX_WAIT],
  [1, 150_000],
  [3, DEFAULT_MAX_WAIT],
])('400 calls at once on the free plan, by %i clients with maxWait %i ms', (count, maxWait) => {
  it('are answered, or given up within maxWait with an error that says when, and nobody is banned', async () => {
    const { stores, clock, tries } = await clientsOf(count, { maxWait });
    const ends = await Promise.all(
      Array.from({ length: CALLS }, async (_, index) => {
        const page = stores[index % count]?.pets.list({ limit: 1 }).page();
        const error: unknown = await page?.then(
          () => undefined,
          (reason: unknown) => reason,
        );
        return { error, after: clock.now() };
      }),
    );
    const answered = ends.filter(({ error }) => error === undefined);
    const refused = tries.filter(({ status }) => status === 429);
    // Those of the first minute, and of each minute that begins before maxWait is over.
    expect(answered.length).toBeGreaterThanOrEqual(PER_MINUTE * (1 + Math.floor(maxWait / 61_000)));
    for (const { error } of ends)
      if (error !== undefined) expect(error).toMatchObject({ kind: 'rate_limit', retryAfter: expect.any(Number) });
    expect(Math.max(...ends.map(({ after }) => after))).toBeLessThanOrEqual(maxWait);
    // One client knows what is left. Several learn it by at most as many refusals as each has requests under way.
    if (count === 1) expect(refused).toEqual([]);
    expect(await stores[0]?.getRateLimit()).toMatchObject({ ban: null });
  });
});

const POSTS = 200;
const LOSSES = ['request not sent', 'headers lost', 'body cut', 'connection reset'] as const;

const lost: Record<string, number> = {};

/** A proxy before the API that loses some requests and some answers. */
const proxy = createServer((client) => {
  const server = connect(api.port, api.host);
  for (const [one, other] of [
    [client, server],
    [server, client],
  ] as const) {
    one.on('error', () => other.destroy());
    one.on('close', () => other.destroy());
  }
  client.on('data', (request) => {
    if (isLost('request not sent')) client.destroy();
    else server.write(request);
  });
  server.on('data', (answer: Buffer) => {
    if (isLost('headers lost')) client.destroy();
    else if (isLost('body cut')) client.end(answer.subarray(0, answer.length - 10));
    else if (isLost('connection reset')) reset(client, answer);
    else client.write(answer);
  });
});

function isLost(how: (typeof LOSSES)[number] | 'aborted by the caller'): boolean {
  if (Math.random() > 0.15) return false;
  lost[how] = (lost[how] ?? 0) + 1;
  return true;
}

function reset(client: Socket, answer: Buffer): void {
  client.write(answer.subarray(0, Math.floor(Math.random() * answer.length)), () => client.resetAndDestroy());
}

beforeAll(() => once(proxy.listen(0, '127.0.0.1'), 'listening'));
afterAll(() => {
  proxy.close();
});

/** Adds the animal, however often its caller has to repeat that with the key of the error. */
async function add(store: AdoptionStore, name: string): Promise<number> {
  let idempotencyKey: string | undefined;
  for (let calls = 1; ; calls += 1) {
    const caller = new AbortController();
    if (isLost('aborted by the caller')) abortLater(caller, Math.floor(Math.random() * 20));
    try {
      await store.pets.create({ name, categoryId: 1n }, { idempotencyKey, signal: caller.signal });
      return calls;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      ({ idempotencyKey } = error);
    }
  }
}

/** Aborts after some turns of the event loop, so that each stage of a request is met. */
function abortLater(caller: AbortController, turns: number): void {
  if (turns === 0) caller.abort();
  else
    setImmediate(() => {
      abortLater(caller, turns - 1);
    });
}

it('200 POSTs whose answers are lost at random places, repeated with the error’s key, make 200 animals', async () => {
  const { port } = proxy.address() as AddressInfo;
  const options = { baseUrl: `http://127.0.0.1:${port}/v1`, apiKey: api.key, clock: new VirtualClock(), maxTries: 2 };
  const store = new AdoptionStore(options);
  const names = Array.from({ length: POSTS }, (_, index) => `Lost ${index}`);
  const calls = await Promise.all(names.map((name) => add(store, name)));

  const found = (await all(storeOf().pets.list())).map(({ name }) => name).filter((name) => name.startsWith('Lost'));
  expect(found.sort()).toEqual(names.sort());
  for (const how of [...LOSSES, 'aborted by the caller']) expect(lost[how]).toBeGreaterThan(POSTS / 50);
  expect(calls.filter((count) => count > 1).length).toBeGreaterThan(POSTS / 50);
});
