import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  API,
  createDatabase,
  freePort,
  KEYS,
  run,
  Running,
  type TestDatabase,
  until,
  WORKER,
} from '@adoption-store/test-support';
import { HAPROXY, Proxy } from '../support/proxy.js';
import { type RawResponse, sendUndescribed } from '@adoption-store/api/testing/raw-http';

const ID = /^[A-Za-z0-9_-]{1,64}$/;
const UNAVAILABLE = { code: 'service_unavailable', message: 'the service is unavailable', status: 503 };

(HAPROXY === undefined ? describe.skip : describe)('the proxy', () => {
  let upstream: Server;
  let proxy: Proxy;

  beforeAll(async () => {
    upstream = createServer(({ url, socket }, response) => {
      if (url === '/readyz') response.end();
      else if (url === '/breaks') socket.destroy();
      else if (url !== '/hangs') response.end('served');
    });
    await once(upstream.listen(0, '127.0.0.1'), 'listening');
    const nobody = `127.0.0.1:${await freePort()}`;
    proxy = await Proxy.start({
      API_1: `127.0.0.1:${(upstream.address() as AddressInfo).port}`,
      API_2: nobody,
      PORTAL: nobody,
      PORTAL_URL: 'http://portal.example.com',
    });
    await proxy.hasServers('api', 1);
    await proxy.hasServers('portal', 0);
  });

  afterAll(async () => {
    upstream.closeAllConnections();
    upstream.close();
    await proxy.stop();
  });

  async function send(bytes: string): Promise<RawResponse> {
    const [response] = await sendUndescribed({ host: '127.0.0.1', port: proxy.port }, bytes);
    if (response === undefined) throw new Error(`no answer to ${bytes}`);
    return response;
  }

  const head = (line: string, headers = '') =>
    `${line} HTTP/1.1\r\n${headers.includes('Host') ? '' : 'Host: a\r\n'}Connection: close\r\n${headers}\r\n`;
  const request = (line: string, headers = '', body = '') => send(head(line, headers) + body);

  it.each([
    ['of a server that breaks off', 'POST /breaks', 'Content-Length: 0\r\n', 503, UNAVAILABLE],
    ['of a server that hangs', 'POST /hangs', 'Content-Length: 0\r\n', 503, UNAVAILABLE],
    [
      'of a path that is for orchestrators',
      'GET /readyz',
      '',
      404,
      { code: 'not_found', message: 'no such path', status: 404 },
    ],
    [
      'of headers that leave no room for its own',
      'GET /',
      `X-A: ${'a'.repeat(28_500)}\r\nHost: ${'a'.repeat(3_000)}\r\n`,
      500,
      { code: 'internal_error', message: 'something went wrong', status: 500 },
    ],
    [
      'of a body that doesn’t come',
      'POST /',
      'Content-Length: 9\r\n',
      408,
      { code: 'request_timeout', message: 'the request was not finished in time', status: 408 },
    ],
  ])(
    'refuses as the API does, with the id and a line of its log, because %s',
    async (_why, line, headers, status, error) => {
      const id = `refused-${line.replace(/\W/g, '')}-${status}`;
      const response = await request(line, `X-Request-Id: ${id}\r\n${headers}`);
      expect(response).toMatchObject({
        status,
        headers: { 'content-type': 'application/json; charset=utf-8', 'x-request-id': id },
      });
      expect(JSON.parse(response.body)).toEqual(error);
      expect(await proxy.lineOf(id)).toMatchObject({
        name: 'proxy',
        status,
        method: line.split(' ')[0],
        client: '127.0.0.1',
      });
    },
  );

  // From 3.2 on HAProxy closes the connection there without an answer.
  it('logs a chunk that is none, and refuses it as the API does where it answers', async () => {
    const socket = connect(proxy.port, '127.0.0.1').setEncoding('utf8');
    let answer = '';
    socket.on('data', (chunk) => (answer += String(chunk)));
    socket.write(head('POST /', 'X-Request-Id: chunk\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\n'));
    await until(() => answer === 'HTTP/1.1 100 Continue\r\n\r\n');
    answer = '';
    socket.write('ZZ\r\n');
    await once(socket, 'close');
    if (answer !== '') {
      expect(answer).toMatch(/^HTTP\/1.1 400 /);
      expect(answer).toContain('content-type: application/json; charset=utf-8\r\n');
      expect(answer).toContain('x-request-id: chunk\r\n');
      expect(answer).toMatch(/{"code":"bad_request","message":"this is no HTTP request","status":400}$/);
    }
    expect(await proxy.lineOf('chunk')).toMatchObject({ method: 'POST', status: 400 });
  });

  it('refuses the portal’s visitors while it is not ready', async () => {
    const { status, headers } = await send('GET / HTTP/1.1\r\nHost: portal.example.com\r\nConnection: close\r\n\r\n');
    expect(status).toBe(503);
    expect(await proxy.lineOf(headers['x-request-id'] ?? '')).toMatchObject({ backend: 'portal', status: 503 });
  });

  it('logs what it can’t read, of which only the answer is known', async () => {
    expect(await send('NONSENSE\r\n\r\n')).toMatchObject({ status: 400 });
    await until(() => proxy.lines.some(({ msg, status }) => msg === 'no request' && status === 400));
  });

  it('gives a request the id it came with, or makes one where that is none', async () => {
    for (const id of ['', 'a b', 'a"b', 'x'.repeat(65), 'a\r\nX-Request-Id: b']) {
      const { headers } = await request('GET /', `X-Request-Id: ${id}\r\n`);
      expect(headers['x-request-id']).toMatch(ID);
      expect(await proxy.lineOf(headers['x-request-id'] ?? '')).toMatchObject({ status: 200 });
    }
  });

  it('logs no header, path, query or body, nor a key that somebody sends as an id', async () => {
    const secrets = [
      'Authorization: Bearer canary',
      'Cookie: canary=1',
      'X-Canary: canary',
      'X-Request-Id: aas_canary',
    ];
    const line = 'POST /canary?token=canary';
    await request(line, `${secrets.join('\r\n')}\r\nContent-Length: 6\r\n`, 'canary');
    await request('CANARY"canary /');
    expect(await proxy.lineOf('redacted')).toMatchObject({ status: 200 });
    expect(proxy.log).not.toContain('canary');
  });

  it('logs nothing of Prometheus and of the health checks of its own container', async () => {
    const { headers: earlier } = await request('GET /');
    await proxy.lineOf(earlier['x-request-id'] ?? '');
    const before = proxy.lines.length;
    await fetch(proxy.metrics);
    const probe = connect(proxy.port, '127.0.0.1');
    await once(probe, 'connect');
    probe.destroy();
    const { headers } = await request('GET /');
    await proxy.lineOf(headers['x-request-id'] ?? '');
    expect(proxy.lines.length).toBe(before + 1);
  });
});

(HAPROXY === undefined ? describe.skip : describe)('a request whose message can’t be sent', () => {
  let database: TestDatabase;
  let api: Running;
  let worker: Running;
  let proxy: Proxy;

  beforeAll(async () => {
    database = await createDatabase();
    const [port, nobody] = [await freePort(), `127.0.0.1:${await freePort()}`];
    const DATABASE_URL = database.url;
    api = new Running(API, [], { DATABASE_URL, PORT: String(port), HOST: '127.0.0.1', TRUST_PROXY: '127.0.0.1' });
    await api.prints(/Address/);
    worker = new Running(WORKER, [], {
      DATABASE_URL,
      WORKER_PORT: '0',
      SMTP_URL: `smtp://${nobody}`,
      MAIL_FROM: 'api@example.com',
      STORE_EMAIL: 'store@example.com',
    });
    proxy = await Proxy.start({ API_1: `127.0.0.1:${port}`, API_2: nobody, PORTAL: nobody });
    await proxy.hasServers('api', 1);
  });

  afterAll(async () => {
    await Promise.all([api.stop(), worker.stop(), proxy.stop()]);
    await database.drop();
  });

  it('is found from its X-Request-Id in the logs of the proxy, the API and the worker', async () => {
    const created = await run(KEYS, ['create', '--email', 'a@example.com'], { DATABASE_URL: database.url });
    const response = await fetch(`${proxy.origin}/v1/messages`, {
      method: 'POST',
      headers: { authorization: `Bearer ${created.stdout.trim()}`, 'content-type': 'application/json' },
      body: '{"message":"Hello"}',
    });
    expect(response.status).toBe(202);
    const id = response.headers.get('x-request-id') ?? '';
    expect(await proxy.lineOf(id)).toMatchObject({ server: 'api-1', status: 202 });
    await api.prints(new RegExp(`"request_id":"${id}".*"status":202`));
    const [line] = await worker.prints(new RegExp(`^.*"request_id":"${id}".*$`, 'm'));
    expect(JSON.parse(line)).toMatchObject({ outcome: 'postponed', reason: expect.stringContaining('ECONNREFUSED') });
  });
});
