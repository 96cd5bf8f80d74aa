import { describe, expect, it } from '@jest/globals';
import { ask, connectTo, until } from '@adoption-store/test-support';
import { useApi } from '../support/api.js';
import {
  addPet,
  bearer,
  bodyOf,
  CATEGORIES,
  get,
  MESSAGES,
  orderOf,
  ORDERS,
  PETS,
  placeOrder,
  post as send,
  rawHead,
  sendOnce,
} from '../support/client.js';
import { expectError } from '../support/expectations.js';
import type { RawResponse } from '../support/raw-http.js';

const api = useApi();

let keys = 0;
const newKey = () => `key-${(keys += 1)}`;

type Sent = readonly [path: string, body?: object | string];

const LUNA = '{"name":"Luna","categoryId":9223372036854775807}';
const ANIMAL: Sent = [PETS, LUNA];

/** POST with an Idempotency-Key. */
const post = (key: string, [path, body]: Sent = ANIMAL, headers: Readonly<Record<string, string>> = {}) =>
  send(api, path, body, { 'Idempotency-Key': key, ...headers });

const animals = async () => (await ask(api.databaseUrl, 'SELECT FROM animals')).length;

function expectReplay(again: RawResponse, first: RawResponse): void {
  expect(first.headers).not.toHaveProperty('idempotent-replayed');
  expect(again.headers).toHaveProperty('idempotent-replayed', 'true');
  const lasting = ({ status, body, headers: { location, etag } }: RawResponse) => ({ status, body, location, etag });
  expect(lasting(again)).toEqual(lasting(first));
}

const idOf = ({ body }: RawResponse) => (JSON.parse(body) as { readonly id: string }).id;

/** The path of the suite's only webhook. */
async function webhook(): Promise<string> {
  const [known] = bodyOf(await get(api, '/v1/webhooks')) as readonly { readonly id: string }[];
  const id = known?.id ?? idOf(await send(api, '/v1/webhooks', { url: 'https://shelter.example' }));
  return `/v1/webhooks/${id}`;
}

/** The path of a delivery of it. */
async function delivery(): Promise<string> {
  const path = await webhook();
  return `${path}/deliveries/${idOf(await send(api, `${path}/ping`))}`;
}

const onOrder = async (ending: string): Promise<Sent> => [`${ORDERS}/${(await placeOrder(api)).id}/${ending}`];

/** Each operation that changes something. */
const OPERATIONS: readonly (readonly [name: string, status: number, () => Sent | Promise<Sent>])[] = [
  ['adding an animal', 201, () => ANIMAL],
  ['adding a category', 201, () => [CATEGORIES, { name: newKey() }]],
  ['placing an order', 201, async () => [ORDERS, { petId: await addPet(api) }]],
  ['completing an order', 200, () => onOrder('complete')],
  ['cancelling an order', 200, () => onOrder('cancel')],
  ['pinging a webhook', 202, async () => [`${await webhook()}/ping`]],
  ['retrying a delivery', 202, async () => [`${await delivery()}/retry`]],
  ['queueing a message', 202, () => [MESSAGES, { message: 'Łuna? 🐈\n' }]],
];

describe.each(OPERATIONS)('%s under an Idempotency-Key', (_name, status, prepare) => {
  it('runs once, however many are sent at once, and is answered with the same bytes', async () => {
    const [key, sent] = [newKey(), await prepare()];
    const answers = await Promise.all(Array.from({ length: 10 }, () => post(key, sent)));
    const [first, ...others] = answers.filter(({ headers }) => !('idempotent-replayed' in headers));
    expect(first).toMatchObject({ status });
    expect(others).toEqual([]);
    for (const answer of answers) if (first !== undefined && answer !== first) expectReplay(answer, first);
  });
});

describe('an Idempotency-Key', () => {
  it('belongs to one path and one body', async () => {
    const key = newKey();
    await post(key);
    const others: readonly Sent[] = [
      [MESSAGES, { message: 'Hello' }],
      [PETS, `${LUNA} `],
    ];
    for (const other of others) expectError(await post(key, other), 400, 'idempotency_key_reused');
  });

  it('belongs to one account, all of whose API keys share it', async () => {
    const key = newKey();
    const { account, key: one } = await api.openKey();
    const { text: other } = await api.application.issueKey.execute({ accountId: account.id });
    const first = await post(key, ANIMAL, bearer(one));
    expectReplay(await post(key, ANIMAL, bearer(other)), first);
    const stranger = await post(key, [PETS, { name: 'Milo', categoryId: 1 }]);
    expect(stranger).toMatchObject({ status: 201 });
    expect(stranger.headers).not.toHaveProperty('idempotent-replayed');
  });

  it('keeps the refusal of a message while a thousand of its account wait, though there is room again', async () => {
    const { account, key: apiKey } = await api.openKey();
    const message: Sent = [MESSAGES, { message: 'Hello' }];
    await ask(
      api.databaseUrl,
      `INSERT INTO messages (id, account_id, text, status, due_at, created_at)
       SELECT 'msg_' || n, ${account.id}, 'Hello', 'queued', now(), now() FROM generate_series(1, 999) AS n`,
    );
    const [accepted, refused] = [newKey(), newKey()];
    expect(await post(accepted, message, bearer(apiKey))).toMatchObject({ status: 202 });
    expectError(await send(api, ...message, bearer(apiKey)), 409, 'too_many_messages');
    const first = await post(refused, message, bearer(apiKey));
    expect(expectError(first, 409, 'too_many_messages')).toContain('1000');
    await ask(api.databaseUrl, `UPDATE messages SET status = 'sent' WHERE account_id = ${account.id}`);
    expectReplay(await post(refused, message, bearer(apiKey)), first);
    expect(await post(newKey(), message, bearer(apiKey))).toMatchObject({ status: 202 });
  });

  it('keeps the entity tag of the bytes, which the resource may no longer have, and judges no condition again', async () => {
    const [key, petId] = [newKey(), await addPet(api)];
    const order: Sent = [ORDERS, { petId }];
    const placed = await post(key, order);
    const completion: Sent = [`${ORDERS}/${orderOf(placed, 201).id}/complete`];
    const [late, etag] = [newKey(), placed.headers['etag'] ?? ''];
    expectError(await post(late, completion, { 'If-Match': '"another"' }), 412, 'precondition_failed');
    const completed = await post(late, completion, { 'If-Match': etag });
    expect(completed).toMatchObject({ status: 200 });
    expect(completed.headers['etag']).not.toBe(etag);
    expectReplay(await post(late, completion, { 'If-Match': etag }), completed);
    expectReplay(await post(key, order), placed);
  });

  it.each([
    ['an invalid field', '{"name":"","categoryId":1}', {}, 400, 'invalid_parameter'],
    ['an invalid body', '{', {}, 400, 'invalid_json'],
    ['an unknown API key', LUNA, bearer('x'), 401, 'invalid_api_key'],
  ] as const)('is free again after %s', async (_case, body, headers, status, code) => {
    const key = newKey();
    expectError(await post(key, [PETS, body], headers), status, code);
    expect(await post(key)).toMatchObject({ status: 201 });
  });

  it('saves no quota: each repetition counts, and has its own headers', async () => {
    const key = newKey();
    const { key: apiKey } = await api.openKey('free');
    const answers = [await post(key, ANIMAL, bearer(apiKey)), await post(key, ANIMAL, bearer(apiKey))];
    expect(answers.map(({ headers }) => headers['x-ratelimit-remaining'])).toEqual(['59', '58']);
    expect(new Set(answers.map(({ headers }) => headers['x-request-id'])).size).toBe(2);
  });

  it.each([
    [
      'of 128 characters that have 256 bytes',
      [Buffer.from('é'.repeat(128)).toString('latin1')],
      'Idempotency-Key must have 1 to 255 bytes',
    ],
    ['that is empty', [''], 'Idempotency-Key must have 1 to 255 bytes'],
    ['that is sent twice', ['a', 'b'], 'Idempotency-Key must be sent once'],
  ])('%s is refused, and nothing is done', async (_case, values, message) => {
    const before = await animals();
    const headers = values.map((value) => `Idempotency-Key: ${value}`);
    const body = ['Content-Type: application/json', `Content-Length: ${LUNA.length}`];
    const head = rawHead(api, 'POST /v1/pets HTTP/1.1', [...headers, ...body]);
    expect(expectError(await sendOnce(api, head + LUNA), 400, 'invalid_parameter')).toBe(message);
    expect(await animals()).toBe(before);
  });

  it('is compared byte for byte, its quotes included, whatever its encoding', async () => {
    const before = await animals();
    const values = ['"quoted"', 'quoted', "'quoted'", 'Quoted', 'é', 'e\u0301', '\u200b', `${'é'.repeat(127)}x`];
    const heads = [...values.map((value) => Buffer.from(value)), Buffer.from('é', 'latin1')].map((value) =>
      Buffer.concat([
        Buffer.from('POST /v1/pets HTTP/1.1\r\nIdempotency-Key: '),
        value,
        Buffer.from(rawHead(api, '', ['Content-Type: application/json', `Content-Length: ${LUNA.length}`]) + LUNA),
      ]),
    );
    for (const head of heads) {
      const first = await sendOnce(api, head);
      expectReplay(await sendOnce(api, head), first);
    }
    expect(await animals()).toBe(before + heads.length);
  });
});

it('a request whose Idempotency-Key is in use is refused after a short wait, and one whose 503 was sent is found by it', async () => {
  const [before, key] = [await animals(), newKey()];
  const client = await connectTo(api.databaseUrl);
  await client.query('BEGIN; LOCK TABLE animals IN EXCLUSIVE MODE');
  const first = post(key);
  await until(async () => (await client.query('SELECT FROM pg_locks WHERE NOT granted')).rowCount === 1);
  const second = await post(key);
  expectError(second, 409, 'idempotency_key_in_use');
  expect(second.headers).toHaveProperty('retry-after', '1');
  expectError(await first, 503, 'service_unavailable');
  await client.query('COMMIT');
  await client.end();
  expect(await post(key)).toMatchObject({ status: 201 });
  expect(await animals()).toBe(before + 1);
});
