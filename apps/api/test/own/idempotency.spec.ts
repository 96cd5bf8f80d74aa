import { describe, expect, it } from '@jest/globals';
import { ask, connectTo, until } from '@adoption-store/test-support';
import { useApi } from '../support/api.js';
import { expectError, JSON_CONTENT_TYPE } from '../support/expectations.js';
import { bearer, get, rawHead, sendOnce } from '../support/pets-client.js';
import { type RawResponse, request } from '../support/raw-http.js';
import { addPet, CATEGORIES, MESSAGES, ORDERS, orderOf, petStatus, placeOrder } from '../support/store-client.js';

const api = useApi();

let keys = 0;
const newKey = () => `key-${(keys += 1)}`;

interface Sent {
  readonly path?: string;
  readonly body?: string;
  readonly apiKey?: string;
  readonly ifMatch?: string | undefined;
}

/** POST with an Idempotency-Key. Default: a new animal. */
function post(
  key: string,
  { path = '/v1/pets', body = LUNA, apiKey = api.key, ifMatch }: Sent = {},
): Promise<RawResponse> {
  const headers = {
    ...bearer(apiKey),
    'Content-Type': 'application/json',
    'Idempotency-Key': key,
    ...(ifMatch !== undefined && { 'If-Match': ifMatch }),
  };
  return request(api, path, { method: 'POST', headers, body });
}

const LUNA = '{"name":"Luna","categoryId":9223372036854775807}';
const MILO = '{"name":"Milo","categoryId":9223372036854775807}';

const animals = async () => (await ask(api.databaseUrl, 'SELECT FROM animals')).length;

/** The parts of a response that must be the same each time. */
function lasting({ status, body, headers }: RawResponse) {
  return { status, body, location: headers['location'], type: headers['content-type'], tag: headers['etag'] };
}

function expectReplay(again: RawResponse, first: RawResponse): void {
  expect(first.headers).not.toHaveProperty('idempotent-replayed');
  expect(again.headers).toHaveProperty('idempotent-replayed', 'true');
  expect(lasting(again)).toEqual(lasting(first));
}

/** The path of the suite's only webhook. */
async function webhook(): Promise<string> {
  const [known] = JSON.parse((await get(api, '/v1/webhooks')).body) as readonly { readonly id: string }[];
  if (known !== undefined) return `/v1/webhooks/${known.id}`;
  const headers = { ...bearer(api.key), 'Content-Type': 'application/json' };
  await request(api, '/v1/webhooks', { method: 'POST', headers, body: '{"url":"https://shelter.example"}' });
  return webhook();
}

/** The id of a delivery of it. */
async function ping(): Promise<string> {
  const { body } = await post(newKey(), { path: `${await webhook()}/ping`, body: '' });
  return (JSON.parse(body) as { readonly id: string }).id;
}

/** Each operation that changes something, with its path and body. */
const OPERATIONS: readonly (readonly [name: string, status: number, () => Promise<Sent>])[] = [
  ['adding an animal', 201, () => Promise.resolve({})],
  ['adding a category', 201, () => Promise.resolve({ path: CATEGORIES, body: `{"name":"${newKey()}"}` })],
  ['placing an order', 201, async () => ({ path: ORDERS, body: `{"petId":${await addPet(api)}}` })],
  ['completing an order', 200, async () => ({ path: `${ORDERS}/${(await placeOrder(api)).id}/complete`, body: '' })],
  ['cancelling an order', 200, async () => ({ path: `${ORDERS}/${(await placeOrder(api)).id}/cancel`, body: '' })],
  ['pinging a webhook', 202, async () => ({ path: `${await webhook()}/ping`, body: '' })],
  ['retrying a delivery', 202, async () => ({ path: `${await webhook()}/deliveries/${await ping()}/retry`, body: '' })],
  ['queueing a message', 202, () => Promise.resolve({ path: MESSAGES, body: '{"message":"Łuna? 🐈\\n"}' })],
];

describe.each(OPERATIONS)('%s under an Idempotency-Key', (_name, status, prepare) => {
  it('runs once, and is answered with the same bytes', async () => {
    const [key, sent] = [newKey(), await prepare()];
    const first = await post(key, sent);
    expect(first).toMatchObject({ status, headers: { 'content-type': JSON_CONTENT_TYPE } });
    expectReplay(await post(key, sent), first);
  });

  it('runs once, however many are sent at once', async () => {
    const [key, sent] = [newKey(), await prepare()];
    const answers = await Promise.all(Array.from({ length: 10 }, () => post(key, sent)));
    const [one] = answers.map(lasting);
    expect(answers.map(lasting)).toEqual(answers.map(() => ({ ...one, status })));
    expect(answers.filter(({ headers }) => !('idempotent-replayed' in headers))).toHaveLength(1);
  });

  it('is refused if the key was used with another body', async () => {
    const [key, sent] = [newKey(), await prepare()];
    await post(key, sent);
    const body = sent.path === MESSAGES ? '{"message":"another"}' : '{"name":"Milo","categoryId":1,"petId":1}';
    expectError(await post(key, { ...sent, body }), 400, 'idempotency_key_reused');
  });
});

describe('an Idempotency-Key', () => {
  it('belongs to one path', async () => {
    const key = newKey();
    await post(key);
    expectError(await post(key, { path: MESSAGES, body: '{"message":"Hello"}' }), 400, 'idempotency_key_reused');
  });

  it('belongs to one account, all of whose API keys share it', async () => {
    const key = newKey();
    const { account, key: one } = await api.openKey();
    const { text: other } = await api.application.issueKey.execute({ accountId: account.id });
    const first = await post(key, { apiKey: one });
    expectReplay(await post(key, { apiKey: other }), first);
    const stranger = await post(key, { body: MILO });
    expect(stranger).toMatchObject({ status: 201 });
    expect(stranger.headers).not.toHaveProperty('idempotent-replayed');
  });

  it('keeps the entity tag of the bytes, which the resource may no longer have, and judges no condition again', async () => {
    const [key, petId] = [newKey(), await addPet(api)];
    const order = { path: ORDERS, body: `{"petId":${petId}}` };
    const placed = await post(key, order);
    const path = `${ORDERS}/${orderOf(placed, 201).id}/complete`;
    const [late, ifMatch] = [newKey(), placed.headers['etag']];
    expectError(await post(late, { path, body: '', ifMatch: '"another"' }), 412, 'precondition_failed');
    const completed = await post(late, { path, body: '', ifMatch });
    expect(completed).toMatchObject({ status: 200 });
    expect(completed.headers['etag']).not.toBe(ifMatch);
    expectReplay(await post(late, { path, body: '', ifMatch }), completed);
    expectReplay(await post(key, order), placed);
  });

  it('stores the use case’s refusal', async () => {
    const [key, petId] = [newKey(), await addPet(api)];
    const { id } = orderOf(await post(newKey(), { path: ORDERS, body: `{"petId":${petId}}` }), 201);
    const late = await post(key, { path: ORDERS, body: `{"petId":${petId}}` });
    expectError(late, 409, 'pet_not_available');
    await post(newKey(), { path: `${ORDERS}/${id}/cancel`, body: '' });
    expectReplay(await post(key, { path: ORDERS, body: `{"petId":${petId}}` }), late);
    expect(await petStatus(api, petId)).toBe('available');
  });

  it.each([
    ['an invalid field', { body: '{"name":"","categoryId":1}' }, 400, 'invalid_parameter'],
    ['an invalid body', { body: '{' }, 400, 'invalid_json'],
    ['an unknown API key', { apiKey: 'x' }, 401, 'invalid_api_key'],
  ] as const)('is free again after %s', async (_case, sent, status, code) => {
    const key = newKey();
    const refused = await post(key, sent);
    expectError(refused, status, code);
    expect(refused.headers).not.toHaveProperty('idempotent-replayed');
    expect(await post(key)).toMatchObject({ status: 201 });
  });

  it('saves no quota: each repetition counts, and has its own headers', async () => {
    const key = newKey();
    const { key: apiKey } = await api.openKey('free');
    const answers = [await post(key, { apiKey }), await post(key, { apiKey })];
    expect(answers.map(({ headers }) => headers['x-ratelimit-remaining'])).toEqual(['59', '58']);
    expect(new Set(answers.map(({ headers }) => headers['x-request-id'])).size).toBe(2);
  });

  it.each([
    ['of 256 characters', ['x'.repeat(256)], 'Idempotency-Key must have 1 to 255 characters'],
    ['that is empty', [''], 'Idempotency-Key must have 1 to 255 characters'],
    ['that is sent twice', ['a', 'b'], 'Idempotency-Key must be sent once'],
  ])('%s is refused, and nothing is done', async (_case, values, message) => {
    const before = await animals();
    const headers = values.map((value) => `Idempotency-Key: ${value}`);
    const body = ['Content-Type: application/json', `Content-Length: ${LUNA.length}`];
    const head = rawHead(api, 'POST /v1/pets HTTP/1.1', [...headers, ...body]);
    expect(expectError(await sendOnce(api, head + LUNA), 400, 'invalid_parameter')).toBe(message);
    expect(await animals()).toBe(before);
  });

  it.each([
    ['255 characters', 'x'.repeat(255)],
    ['what SQL would take for its own', `'; DROP TABLE animals; --`],
    ['Latin-1 letters', 'clé-é'],
  ])('may be %s', async (_case, key) => {
    const first = await post(key);
    expectReplay(await post(key), first);
  });
});

/** Runs the work while nothing can be written to the animals. */
async function whileLocked(work: (waits: () => Promise<void>) => Promise<void>): Promise<void> {
  const client = await connectTo(api.databaseUrl);
  const isWaiting = async () => (await client.query('SELECT FROM pg_locks WHERE NOT granted')).rowCount === 1;
  await client.query('BEGIN');
  await client.query('LOCK TABLE animals IN EXCLUSIVE MODE');
  try {
    await work(() => until(isWaiting));
  } finally {
    await client.query('COMMIT');
    await client.end();
  }
}

describe('a request whose Idempotency-Key another one has in use', () => {
  it('is refused after a short wait, with Retry-After, and may be sent again', async () => {
    const before = await animals();
    const key = newKey();
    await whileLocked(async (waits) => {
      void post(key);
      await waits();
      const second = await post(key);
      expectError(second, 409, 'idempotency_key_in_use');
      expect(second.headers).toHaveProperty('retry-after', '1');
    });
    expect(await post(key)).toMatchObject({ status: 201 });
    expect(await animals()).toBe(before + 1);
  });
});

describe('a write in progress when its 503 is sent', () => {
  it('is found by its Idempotency-Key, and runs once', async () => {
    const before = await animals();
    const key = newKey();
    await whileLocked(async () => {
      expectError(await post(key), 503, 'service_unavailable');
    });
    expect(await post(key)).toMatchObject({ status: 201 });
    expect(await animals()).toBe(before + 1);
  });
});
