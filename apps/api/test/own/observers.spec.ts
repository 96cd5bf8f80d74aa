import { once } from 'node:events';
import { connect } from 'node:net';
import { plan } from '@adoption-store/domain';
import { connectTo, until } from '@adoption-store/test-support';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import { finalize, type Observable } from 'rxjs';
import { ApiMetrics, type ApiOptions } from '../../src/create-api.js';
import { useApi } from '../support/api.js';
import { get, rawHead } from '../support/client.js';
import { sendRaw } from '../support/raw-http.js';

/** The responses that a Fastify plugin and a Nest interceptor have seen. */
const seen = { sent: [] as number[], responded: [] as number[], intercepted: 0 };

class CountingInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(
      finalize(() => {
        seen.intercepted += 1;
      }),
    );
  }
}

const configure: ApiOptions['configure'] = (api) => {
  const fastify = api.getHttpAdapter().getInstance();
  fastify.addHook('onSend', (_request, reply, _payload, done) => {
    seen.sent.push(reply.statusCode);
    done();
  });
  fastify.addHook('onResponse', (_request, reply, done) => {
    seen.responded.push(reply.statusCode);
    done();
  });
  api.useGlobalInterceptors(new CountingInterceptor());
};

const pool = { idle: 0, used: 0, size: 0, waiting: 0, givenUp: 0 };
const service = { pool, limitFallbacks: 0, droppedFailedRequests: 0, clockSkew: 0, dependencies: new Map() };
const metrics = new ApiMetrics(() => service, []);
const api = useApi({ configure, metrics });

const JSON_TYPE = 'Content-Type: application/json';
const head = (line: string, ...headers: readonly string[]) => rawHead(api, `${line} HTTP/1.1`, headers);
const keyless = (line: string, ...headers: readonly string[]) => rawHead(api, `${line} HTTP/1.1`, headers, ['Host: a']);
const LUNA = '{"name":"Luna","categoryId":1}';

describe('a plugin and an interceptor that are added tomorrow see', () => {
  afterEach(() => {
    Object.assign(seen, { sent: [], responded: [], intercepted: 0 });
  });

  it.each<[string, number, () => string]>([
    ['a list', 200, () => head('GET /v1/pets')],
    ['a new animal', 201, () => head('POST /v1/pets', JSON_TYPE, `Content-Length: ${LUNA.length}`) + LUNA],
    ['the methods of a path', 204, () => head('OPTIONS /v1/pets')],
    ['an unknown path', 404, () => head('GET /v1/cats')],
    ['a path that no router takes', 400, () => head('GET /v1/%zz')],
    ['another method', 405, () => head('DELETE /v1/pets')],
    ['a body that is too large', 413, () => head('POST /v1/pets', JSON_TYPE, 'Content-Length: 70000')],
    ['a bad chunk', 400, () => `${head('POST /v1/pets', JSON_TYPE, 'Transfer-Encoding: chunked')}zz\r\n`],
  ])('%s, %i', async (_case, status, bytes) => {
    const [answer] = await sendRaw(api, bytes());
    expect(answer?.status).toBe(status);
    expect(seen).toEqual({ sent: [status], responded: [status], intercepted: 1 });
  });

  it.each<[string, number, () => string]>([
    ['a preflight', 204, () => keyless('OPTIONS /v1/pets', 'Origin: http://a', 'Access-Control-Request-Method: POST')],
    ['no key', 401, () => keyless('GET /v1/pets')],
    ['no Host', 400, () => 'GET /v1/pets HTTP/1.1\r\n\r\n'],
    ['a fragment', 400, () => head('GET /v1/pets#x')],
    ['an odd Expect', 417, () => head('GET /v1/pets', 'Expect: x')],
    ['a page beside the API', 200, () => keyless('GET /docs')],
  ])('%s, %i, before a handler is reached', async (_case, status, bytes) => {
    const [answer] = await sendRaw(api, bytes());
    expect(answer?.status).toBe(status);
    expect(seen).toEqual({ sent: [status], responded: [status], intercepted: 0 });
  });

  it('an exhausted minute, before a handler is reached', async () => {
    const { key } = await api.openKey(plan('enterprise', { perMinute: 1, perDay: 2 }));
    await get(api, '/v1/pets', key);
    expect(await get(api, '/v1/pets', key)).toMatchObject({ status: 429 });
    expect(seen).toEqual({ sent: [200, 429], responded: [200, 429], intercepted: 1 });
  });
});

/** The number of list requests that were counted with this status. */
async function counted(status: number): Promise<number> {
  const { body: text } = await metrics.page();
  const line = new RegExp(`_count\\{[^}]*route="/v1/pets",status="${status}"[^}]*\\} (\\d+)`).exec(text);
  return Number(line?.[1] ?? 0);
}

it('a request whose client disconnected is counted once as 499, not as served, and in the usage of its key', async () => {
  const { account, key } = await api.openKey();
  const client = await connectTo(api.databaseUrl);
  expect((await get(api, '/v1/pets', key)).status).toBe(200);
  const [served, hungUp] = [await counted(200), await counted(499)];
  await client.query('BEGIN');
  await client.query('LOCK TABLE animals IN ACCESS EXCLUSIVE MODE');
  const socket = connect(api.port, api.host);
  await once(socket, 'connect');
  socket.write(rawHead({ ...api, key }, 'GET /v1/pets HTTP/1.1'));
  await until(async () => (await client.query('SELECT FROM pg_locks WHERE NOT granted')).rowCount === 1);
  socket.resetAndDestroy();
  await until(async () => (await counted(499)) === hungUp + 1);
  await client.query('COMMIT');
  expect((await get(api, '/v1/pets?limit=1', key)).status).toBe(200);
  expect([await counted(499), await counted(200)]).toEqual([hungUp + 1, served + 1]);
  const usage = 'SELECT FROM usage_by_day WHERE account_id = $1 HAVING sum(admitted) = 3';
  await until(async () => (await client.query(usage, [account.id])).rowCount === 1);
  await client.end();
});
