import { generateKeyText, instant, later, MINUTE, plan } from '@adoption-store/domain';
import { PredictableCryptography } from '@adoption-store/domain/testing';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { type ErrorCode, errorStatuses } from '../src/errors/error-codes.js';
import { useApi } from './support/api.js';
import { expectError, expectLimitHeaders, JSON_CONTENT_TYPE } from './support/expectations.js';
import { messageOf, MESSAGES, writeMessage } from './support/messages-client.js';
import { addCategory, categoryOf, removeCategory } from './support/categories-client.js';
import { bearer, createPet, get, rawHead, sendOnce, changePet, withdrawPet } from './support/pets-client.js';
import { type RawResponse, request } from './support/raw-http.js';
import { addPet, end, orderPet, ORDERS, placeOrder } from './support/store-client.js';

const LUNA = '{"name":"Luna","categoryId":1}';
const JSON_TYPE = 'Content-Type: application/json';
const TOO_LARGE = 'Content-Length: 65537';
const CHUNKED = 'Transfer-Encoding: chunked';
const SUNSET = instant(Date.UTC(2030, 11, 5));

const api = useApi();
let petId: bigint;
let orderId: number;
let messageId: string;
let unfinished: Promise<RawResponse>;

beforeAll(async () => {
  ({ id: petId } = await api.application.addAnimal.execute({ name: 'Luna', categoryId: 1n }));
  ({ id: orderId } = await placeOrder(api));
  ({ id: messageId } = messageOf(await writeMessage(api, 'Hello'), 202));
  // This takes seconds, so the other tests run meanwhile.
  unfinished = sendOnce(api, 'GET /v1/pets HTTP/1.1\r\nHost: localhost\r\nX-Unfinis');
});

// Each test has its own minute, so that no test uses up another's quota.
beforeEach(() => {
  api.clock.advance(MINUTE);
});

const send = (requestLine: string, ...headers: readonly string[]) =>
  sendOnce(api, rawHead(api, `${requestLine} HTTP/1.1`, headers));
const sendWithoutKey = (requestLine: string, ...headers: readonly string[]) =>
  sendOnce(api, rawHead(api, `${requestLine} HTTP/1.1`, headers, ['Host: localhost']));

/** A response of each kind. The request may have one more header. */
const RESPONSES: readonly (readonly [string, number, (header: string) => Promise<RawResponse>])[] = [
  ['a list', 200, (header) => send('GET /v1/pets', header)],
  ['an animal', 200, (header) => send(`GET /v1/pets/${petId}`, header)],
  ['a new animal', 201, (header) => post(LUNA, header, JSON_TYPE)],
  ['a replayed answer', 201, (header) => post(LUNA, header, JSON_TYPE, 'Idempotency-Key: replayed')],
  ['a list of orders', 200, (header) => send(`GET ${ORDERS}`, header)],
  ['an order', 200, (header) => send(`GET ${ORDERS}/${orderId}`, header)],
  ['a new order', 201, async (header) => postTo(ORDERS, `{"petId":${await addPet(api)}}`, header, JSON_TYPE)],
  ['completing', 200, async (header) => postTo(`${ORDERS}/${(await placeOrder(api)).id}/complete`, '', header)],
  ['cancelling', 200, async (header) => postTo(`${ORDERS}/${(await placeOrder(api)).id}/cancel`, '', header)],
  ['a new message', 202, (header) => postTo(MESSAGES, '{"message":"Hello"}', header, JSON_TYPE)],
  ['a message', 200, (header) => send(`GET ${MESSAGES}/${messageId}`, header)],
  ['how the caller stands', 200, (header) => send('GET /v1/rate_limit', header)],
  ['the allowed methods', 204, (header) => send('OPTIONS /v1/pets', header)],
  ['a bad parameter', 400, (header) => send('GET /v1/pets?limit=0', header)],
  ['a bad body', 400, (header) => post('{', header, JSON_TYPE)],
  ['a bad media type', 400, (header) => post(LUNA, header)],
  ['a bad percent-encoding', 400, (header) => send('GET /v1/pets/%zz', header)],
  ['a bad Host', 400, (header) => sendOnce(api, rawHead(api, 'GET / HTTP/1.1', [header], ['Host: a b']))],
  ['a missing Host', 400, (header) => sendOnce(api, rawHead(api, 'GET / HTTP/1.1', [header], []))],
  ['a missing key', 401, (header) => sendWithoutKey('GET /v1/pets', header)],
  ['a bad key', 401, (header) => sendWithoutKey('GET /v1/pets', header, 'Authorization: Bearer x')],
  ['an unknown path', 404, (header) => send('GET /cats', header)],
  ['an unknown animal', 404, (header) => send('GET /v1/pets/999999', header)],
  ['an unknown order', 404, (header) => send(`GET ${ORDERS}/999999`, header)],
  ['an unknown message', 404, (header) => send(`GET ${MESSAGES}/msg_x`, header)],
  ['a wrong method', 405, (header) => send('DELETE /v1/pets', header)],
  ['an animal that is ordered', 409, async (header) => postTo(ORDERS, await orderedPet(), header, JSON_TYPE)],
  ['CONNECT', 405, (header) => send('CONNECT x:443', header)],
  ['too large a body', 413, (header) => send('POST /v1/pets', header, JSON_TYPE, TOO_LARGE)],
  ['too long a URL', 414, (header) => send(`GET /${'x'.repeat(9_000)}`, header)],
  ['an odd Expect', 417, (header) => send('GET /v1/pets', header, 'Expect: x')],
  ['a bad chunk', 400, (header) => sendOnce(api, `${rawHead(api, 'GET / HTTP/1.1', [header, CHUNKED])}zz\r\n`)],
];

function post(body: string, ...headers: readonly string[]): Promise<RawResponse> {
  return postTo('/v1/pets', body, ...headers);
}

function postTo(path: string, body: string, ...headers: readonly string[]): Promise<RawResponse> {
  const head = rawHead(api, `POST ${path} HTTP/1.1`, [...headers, `Content-Length: ${body.length}`]);
  return sendOnce(api, `${head}${body}`);
}

/** The body of an order for an animal that is already ordered. */
async function orderedPet(): Promise<string> {
  return `{"petId":${(await placeOrder(api)).petId}}`;
}

describe.each(RESPONSES)('the answer to %s, %i,', (_case, status, respond) => {
  it("keeps the client's own X-Request-Id", async () => {
    const response = await respond('X-Request-Id: Order_66-b');
    expect(response).toMatchObject({ status, headers: { 'x-request-id': 'Order_66-b' } });
  });

  it('replaces an X-Request-Id that is none', async () => {
    const response = await respond('X-Request-Id: not an id');
    expect(response.status).toBe(status);
    expect(response.headers['x-request-id']).toMatch(/^[A-Za-z0-9_-]{16,64}$/);
  });

  it('is JSON in UTF-8, or has no body, and tells of the limits', async () => {
    const response = await respond('X-Nothing: x');
    expectLimitHeaders(response);
    if (status === 204) expect(response).toMatchObject({ status, body: '' });
    else expect(response).toMatchObject({ status, headers: { 'content-type': JSON_CONTENT_TYPE } });
  });
});

describe('an X-Request-Id', () => {
  it.each([
    ['one character', 'x'],
    ['64 characters', 'x'.repeat(64)],
    ['digits', '0123456789'],
    ['a UUID', '123e4567-e89b-12d3-a456-426614174000'],
    ['dashes and underscores', '-_-_-'],
  ])('of %s is kept', async (_case, id) => {
    expect((await send('GET /v1/pets', `X-Request-Id: ${id}`)).headers['x-request-id']).toBe(id);
  });

  it.each([
    ['that is empty', 'X-Request-Id:'],
    ['of 65 characters', `X-Request-Id: ${'x'.repeat(65)}`],
    ['with a dot', 'X-Request-Id: a.b'],
    ['with a space', 'X-Request-Id: a b'],
    ['with a slash', 'X-Request-Id: a/b'],
    ['with a colon', 'X-Request-Id: a:b'],
    ['with a percent-encoding', 'X-Request-Id: a%0D%0Ab'],
    ['with markup', 'X-Request-Id: <b>'],
    ['with braces', 'X-Request-Id: ${jndi:x}'],
    ['beyond ASCII', 'X-Request-Id: é'],
    ['that is sent twice', 'X-Request-Id: a\r\nX-Request-Id: b'],
  ])('%s is replaced', async (_case, header) => {
    const { headers } = await send('GET /v1/pets', header);
    expect(headers['x-request-id']).toMatch(/^[A-Za-z0-9_-]{16,64}$/);
  });

  it('is made for each request that has none', async () => {
    const responses = await Promise.all(Array.from({ length: 20 }, () => send('GET /v1/pets')));
    expect(new Set(responses.map(({ headers }) => headers['x-request-id'])).size).toBe(20);
  });
});

/** Sends that many requests of a new key, and returns the last response. */
async function overLimits(count: number): Promise<RawResponse> {
  const { key } = await api.openKey('free');
  for (let sent = 1; sent < count; sent += 1) await request(api, '/v1/pets', { headers: bearer(key) });
  return request(api, '/v1/pets', { headers: bearer(key) });
}

/** The second response to a key whose daily limit is one. */
async function overDay(): Promise<RawResponse> {
  const { key } = await api.openKey(plan('enterprise', { perMinute: 10, perDay: 1 }));
  await request(api, '/v1/pets', { headers: bearer(key) });
  return request(api, '/v1/pets', { headers: bearer(key) });
}

/**
 * A request for each code of the registry. Those for `internal_error` and `service_unavailable` are in
 * every-response.5xx.
 */
const REQUESTS: Readonly<
  Record<Exclude<ErrorCode, 'internal_error' | 'service_unavailable'>, () => Promise<RawResponse>>
> = {
  bad_request: () => get(api, '/%zz'),
  rate_limited: () => overLimits(61),
  key_banned: () => overLimits(110),
  daily_quota_exceeded: overDay,
  category_in_use: async () => {
    const { id } = categoryOf(await addCategory(api, 'In use'), 201);
    await createPet(api, `{"name":"Luna","categoryId":${id}}`);
    return removeCategory(api, id);
  },
  category_name_taken: async () => {
    await addCategory(api, 'Taken');
    return addCategory(api, 'TAKEN');
  },
  expectation_failed: () => send('GET /v1/pets', 'Expect: x'),
  expired_api_key: async () => {
    const { account } = await api.openKey();
    const expiresAt = later(api.clock.now(), MINUTE);
    const { text } = await api.application.issueKey.execute({ accountId: account.id, expiresAt });
    api.clock.set(expiresAt);
    return request(api, '/v1/pets', { headers: bearer(text) });
  },
  gone: async () => {
    const today = api.clock.now();
    api.clock.set(SUNSET);
    const response = await get(api, '/v1/pets/1');
    api.clock.set(today);
    return response;
  },
  headers_too_large: () => send('GET /v1/pets', `X-Long: ${'x'.repeat(20_000)}`),
  idempotency_key_in_use: async () => {
    const client = new pg.Client(api.databaseUrl);
    await client.connect();
    // As an instance that has stopped within the request's transaction.
    await client.query(`BEGIN; INSERT INTO idempotency_records (account_id, key, fingerprint, answered_at)
      SELECT id, 'in use', '', now() FROM accounts`);
    const response = await post(LUNA, JSON_TYPE, 'Idempotency-Key: in use');
    await client.end();
    return response;
  },
  idempotency_key_reused: async () => {
    await post(LUNA, JSON_TYPE, 'Idempotency-Key: reused');
    return post('{"name":"Milo","categoryId":1}', JSON_TYPE, 'Idempotency-Key: reused');
  },
  invalid_api_key: () =>
    request(api, '/v1/pets', { headers: bearer(generateKeyText('live', new PredictableCryptography())) }),
  invalid_json: () => createPet(api, '{'),
  invalid_parameter: () => get(api, '/v1/pets?limit=0'),
  method_not_allowed: () => send('DELETE /v1/pets'),
  missing_api_key: () => request(api, '/v1/pets'),
  not_found: () => get(api, '/cats'),
  invalid_transition: async () => changePet(api, await addPet(api, 'sold'), { status: 'available' }),
  order_in_progress: async () => {
    const { petId } = await placeOrder(api);
    return changePet(api, petId, { status: 'available' });
  },
  precondition_failed: async () => withdrawPet(api, await addPet(api), { 'If-Match': '"another"' }),
  order_final: async () => {
    const { id } = await placeOrder(api);
    await end(api, 'complete', id);
    return end(api, 'cancel', id);
  },
  pet_not_available: async () => orderPet(api, await addPet(api, 'sold')),
  too_many_orders: async () => {
    const { key } = await api.openKey();
    for (let placed = 0; placed < 100; placed += 1) await placeOrder(api, key);
    return orderPet(api, await addPet(api), key);
  },
  payload_too_large: () => send('POST /v1/pets', JSON_TYPE, TOO_LARGE),
  request_timeout: () => unfinished,
  insufficient_scope: async () => {
    const { account } = await api.openKey();
    const { text } = await api.application.issueKey.execute({ accountId: account.id, scopes: ['pets:write'] });
    return request(api, '/v1/pets', { headers: bearer(text) });
  },
  revoked_api_key: async () => {
    const { id, key } = await api.openKey();
    await api.application.revokeKey.execute({ id });
    return request(api, '/v1/pets', { headers: bearer(key) });
  },
  disabled_api_key: async () => {
    const { id, key } = await api.openKey();
    await api.application.disableKey.execute({ id, isDisabled: true });
    return request(api, '/v1/pets', { headers: bearer(key) });
  },
  unsupported_media_type: () => createPet(api, LUNA, {}),
  uri_too_long: () => get(api, `/${'x'.repeat(9_000)}`),
};

describe('the registry of codes', () => {
  it.each(Object.entries(REQUESTS))('has %s, which a request can meet', async (code, respond) => {
    expectError(await respond(), errorStatuses[code as ErrorCode], code as ErrorCode);
  });

  it('has no code that no test meets', () => {
    const met = [...Object.keys(REQUESTS), 'internal_error', 'service_unavailable'];
    expect(met.sort()).toEqual(Object.keys(errorStatuses).sort());
  });

  it('gives only statuses that stand for refusals', () => {
    for (const status of Object.values(errorStatuses)) expect(status).toBeGreaterThanOrEqual(400);
  });
});
