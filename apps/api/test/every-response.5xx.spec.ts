import { createApi } from '../src/create-api.js';
import { type Application, createApplication, plan } from '@adoption-store/domain';
import { inMemoryPorts } from '@adoption-store/domain/testing';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { until } from '@adoption-store/test-support';
import pg from 'pg';
import { startApi, type TestApi } from './support/api.js';
import { expectError } from './support/expectations.js';
import { MESSAGES, postMessage } from './support/messages-client.js';
import { bearer, createPet, get } from './support/pets-client.js';
import { isPooled } from './support/pooled.js';
import { type RawResponse, request } from './support/raw-http.js';
import { end, ORDERS, postOrder } from './support/store-client.js';

const SECRET = 'password=hunter2';
const LUNA = '{"name":"Luna","categoryId":1}';

type Ports = Parameters<typeof createApplication>[0];

/** The response of an application that is broken by `ports`. */
async function answerOf(
  breakIt: (ports: Ports) => Partial<Ports>,
  path: string,
  options: { readonly method?: string; readonly body?: string } = {},
): Promise<RawResponse> {
  const ports = inMemoryPorts();
  const key = await issueKey(createApplication(ports));
  const application = createApplication({ ...ports, ...breakIt(ports) });
  const isReady = () => Promise.resolve(true);
  const api = await createApi({ application, clock: ports.clock, isReady });
  await api.listen(0, '127.0.0.1');
  try {
    const port = Number(new URL(await api.getUrl()).port);
    const headers = { ...bearer(key), 'Content-Type': 'application/json', 'X-Request-Id': 'my-own' };
    return await request({ host: '127.0.0.1', port }, path, { ...options, headers });
  } finally {
    await api.close();
  }
}

async function issueKey({ openAccount, issueKey: issue }: Application): Promise<string> {
  const account = await openAccount.execute({ email: 'a@example.com', plan: plan('business') });
  return (await issue.execute({ accountId: account.id })).text;
}

function brokenAnimals(error: unknown): () => Partial<Ports> {
  const fail = jest.fn<() => Promise<never>>().mockRejectedValue(error);
  return () => ({ animals: { add: fail, findById: fail, list: fail, change: fail, withdraw: fail } });
}

function expectInternalError(response: RawResponse): void {
  expectError(response, 500, 'internal_error');
  expect(response.headers['x-request-id']).toBe('my-own');
  expect(JSON.stringify(response)).not.toMatch(/hunter2|password|\bat \w+|node_modules|\.ts\b|\.js\b/);
}

describe('a defect is answered 500 internal_error without internals', () => {
  const broken = brokenAnimals(new Error(SECRET));

  it('if listing fails', async () => {
    expectInternalError(await answerOf(broken, '/v1/pets'));
  });

  it('if adding fails', async () => {
    expectInternalError(await answerOf(broken, '/v1/pets', { method: 'POST', body: LUNA }));
  });

  it('if getting fails', async () => {
    expectInternalError(await answerOf(broken, '/v1/pets/1'));
  });

  it.each([
    ['GET', ORDERS, ''],
    ['POST', ORDERS, '{"petId":1}'],
    ['GET', `${ORDERS}/1`, ''],
    ['POST', `${ORDERS}/1/complete`, ''],
    ['POST', `${ORDERS}/1/cancel`, ''],
    ['POST', MESSAGES, '{"message":"Hello"}'],
    ['GET', `${MESSAGES}/msg_x`, ''],
  ])('if %s %s fails', async (method, path, body) => {
    const fail = () => Promise.reject(new Error(SECRET));
    const orders = { place: fail, findById: fail, list: fail, end: fail, expire: fail };
    const breakIt = ({ messages }: Ports) => ({
      orders,
      messages: Object.assign(messages, { add: fail, findById: fail }),
    });
    expectInternalError(await answerOf(breakIt, path, { method, body }));
  });

  it('if authentication fails, which admits no request', async () => {
    const findByHash = () => Promise.reject(new Error(SECRET));
    const breakIt = ({ apiKeys }: Ports) => ({ apiKeys: Object.assign(apiKeys, { findByHash }) });
    expectInternalError(await answerOf(breakIt, '/v1/pets'));
  });

  it.each([
    ['carries a status of its own', Object.assign(new Error(SECRET), { statusCode: 418, status: 418, code: 'TEAPOT' })],
    ['carries headers', Object.assign(new Error(SECRET), { headers: { 'x-inside': SECRET } })],
    ['has a response like an exception of Nest', Object.assign(new Error(SECRET), { getStatus: () => 404 })],
    ['is a TypeError', new TypeError(SECRET)],
    ['is a text', SECRET],
    ['is undefined', undefined],
    ['is null', null],
  ])('if the thrown value %s', async (_case, error) => {
    expectInternalError(await answerOf(brokenAnimals(error), '/v1/pets'));
  });

  it.each([
    ['has a field that is no integer', { id: 1n, name: 'Luna', categoryId: SECRET, status: 'available' }],
    ['lacks a field', { id: 1n, name: SECRET }],
  ])('if a stored animal %s', async (_case, animal) => {
    const list = () => Promise.resolve([animal as never]);
    const breakIt = ({ animals }: Ports) => ({ animals: Object.assign(animals, { list }) });
    expectInternalError(await answerOf(breakIt, '/v1/pets'));
  });
});

describe('while the database is down the answer is 503 service_unavailable with Retry-After', () => {
  let api: TestApi;
  let server: pg.Client;
  let database: string;

  beforeAll(async () => {
    api = await startApi();
    await createPet(api, LUNA);
    const url = /^postgres:\/\/\/(\w+)/;
    database = url.exec(api.databaseUrl)?.[1] ?? '';
    server = new pg.Client(api.databaseUrl.replace(url, 'postgres:///postgres'));
    await server.connect();
    await closeDatabase();
  });

  afterAll(async () => {
    await server.end();
    await api.close();
  });

  // The service reconnects by itself, so connections are forbidden before the existing ones are terminated.
  async function closeDatabase(): Promise<void> {
    await server.query(`ALTER DATABASE ${database} ALLOW_CONNECTIONS false`);
    const others = 'SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = $1';
    while ((await server.query(others, [database])).rows.length > 0);
  }

  function expectUnavailable(response: RawResponse): void {
    expectError(response, 503, 'service_unavailable');
    expect(response.headers['retry-after']).toMatch(/^[1-9]\d*$/);
    expect(response.headers).not.toHaveProperty('www-authenticate');
  }

  it.each(['/v1/pets', '/v1/pets?limit=0', '/v1/pets/1', ORDERS, `${ORDERS}/1`, `${MESSAGES}/1`, '/cats'])(
    'to GET %s',
    async (path) => {
      expectUnavailable(await get(api, path));
    },
  );

  it('to POST /v1/pets', async () => {
    expectUnavailable(await createPet(api, LUNA));
  });

  it('to POST of an order, of its end and of a message', async () => {
    expectUnavailable(await postOrder(api, '{"petId":1}'));
    expectUnavailable(await end(api, 'complete', 1));
    expectUnavailable(await end(api, 'cancel', 1));
    expectUnavailable(await postMessage(api, '{"message":"Hello"}'));
  });

  it('without naming the dependency', async () => {
    const message = expectError(await get(api, '/v1/pets'), 503, 'service_unavailable');
    expect(message).not.toMatch(/database|postgres|sql|connect|ECONN/i);
  });

  it('but still 401 without a key', async () => {
    expectError(await request(api, '/v1/pets'), 401, 'missing_api_key');
  });

  it('until it is back, and the service recovers by itself', async () => {
    await server.query(`ALTER DATABASE ${database} ALLOW_CONNECTIONS true`);
    // A pooler that has failed to connect tries again later.
    if (isPooled) await until(async () => (await postMessage(api, '{"message":"Hello"}')).status === 202);
    const response = await get(api, '/v1/pets');
    expect(response).toMatchObject({ status: 200 });
    expect(JSON.parse(response.body)).toHaveLength(1);
    expect(await postOrder(api, '{"petId":1}')).toMatchObject({ status: 201 });
    expect(await postMessage(api, '{"message":"Hello"}')).toMatchObject({ status: 202 });
  });
});
