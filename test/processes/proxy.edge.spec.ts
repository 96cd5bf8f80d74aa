import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { freePort, until } from '@adoption-store/test-support';
import { type RawResponse, sendUndescribed } from '@adoption-store/api/testing/raw-http';
import { HAPROXY, Proxy } from '../support/proxy.js';

const ID = /^[A-Za-z0-9_-]{1,64}$/;
/** Pages of other origins can read the proxy's own answers, as the API's. */
const READABLE = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'Retry-After, X-Request-Id',
};
const UNAVAILABLE = { code: 'service_unavailable', message: 'the service is unavailable', status: 503 };
const NOT_FOUND = { code: 'not_found', message: 'no such path', status: 404 };

(HAPROXY === undefined ? describe.skip : describe)('the proxy', () => {
  let upstream: Server;
  let proxy: Proxy;

  beforeAll(async () => {
    upstream = createServer(({ url, socket, headers }, response) => {
      if (url === '/breaks') socket.destroy();
      else if (url !== '/hangs') response.end(JSON.stringify(headers));
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

  const head = (line: string, headers = '') =>
    `${line} HTTP/1.1\r\n${headers.includes('Host') ? '' : 'Host: a\r\n'}Connection: close\r\n${headers}\r\n`;
  async function send(bytes: string): Promise<RawResponse> {
    const [response] = await sendUndescribed({ host: '127.0.0.1', port: proxy.port }, bytes);
    if (response === undefined) throw new Error(`no answer to ${bytes}`);
    return response;
  }
  const request = (line: string, headers = '', body = '') => send(head(line, headers) + body);

  it.each([
    ['of a server that breaks off', 'POST /breaks', 'Content-Length: 0\r\n', 503, UNAVAILABLE],
    ['of a server that hangs', 'POST /hangs', 'Content-Length: 0\r\n', 503, UNAVAILABLE],
    ['of a path that is for orchestrators', 'GET /readyz', '', 404, NOT_FOUND],
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
        headers: { 'content-type': 'application/json; charset=utf-8', 'x-request-id': id, ...READABLE },
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

  it('closes the connection, and logs nothing, if a server breaks off a write on a connection that was used before', async () => {
    const write = head('POST /breaks', 'X-Request-Id: broken-off\r\nContent-Length: 0\r\n');
    const responses = await sendUndescribed(
      { host: '127.0.0.1', port: proxy.port },
      `GET / HTTP/1.1\r\nHost: a\r\n\r\n${write}`,
    );
    expect(responses.map(({ status }) => status)).toEqual([200]);
    await request('GET /', 'X-Request-Id: afterwards\r\n');
    await proxy.lineOf('afterwards');
    expect(proxy.log).not.toContain('broken-off');
  });

  it('refuses with the API’s error while no server of the host’s is ready, here the portal’s', async () => {
    const { status, headers, body } = await request('GET /', 'Host: Portal.example.com\r\n');
    expect({ status, error: JSON.parse(body) as unknown }).toEqual({ status: 503, error: UNAVAILABLE });
    expect(headers).toMatchObject({ 'retry-after': '1', 'content-type': 'application/json; charset=utf-8' });
    expect(await proxy.lineOf(headers['x-request-id'] ?? '')).toMatchObject({ backend: 'portal', status: 503 });
  });

  it('logs what it can’t read, of which only the answer is known', async () => {
    expect(await send('NONSENSE\r\n\r\n')).toMatchObject({ status: 400 });
    await until(() => proxy.lines.some(({ msg, status }) => msg === 'no request' && status === 400));
  });

  it.each(['readyz', 'metrics'])('keeps /%s from clients, as the API refuses', async (page) => {
    const escaped = `${page.charCodeAt(0).toString(16)}${page.slice(1)}`;
    const targets = [
      ...[`/${page}`, `//${page}`, `/${page}/`, `/${page};x`, `/${page}?x`, `/${page.toUpperCase()}`, `/${page}%00`],
      ...[`/%${escaped}`, `/%25${escaped}`, `/./${page}`, `/v1/../${page}`, `/v1/%2e%2e/${page}`, `/%2F${page}`],
      ...[`/v1/pets/..;/${page}`, `/\\${page}`, `http://HOST/${page}`],
    ];
    for (const target of targets)
      for (const host of ['a', 'portal.example.com']) {
        const { status, headers, body } = await request(`GET ${target.replace('HOST', host)}`, `Host: ${host}\r\n`);
        const type = headers['content-type'];
        expect({ target, status, type }).toEqual({ target, status: 404, type: 'application/json; charset=utf-8' });
        expect(JSON.parse(body)).toEqual(NOT_FOUND);
        expect(headers['x-request-id']).toMatch(ID);
      }
  });

  it('passes on only its own view of the client', async () => {
    const claims = ['Forwarded: for=203.0.113.1', 'X-Forwarded-For: 203.0.113.1', 'X-Forwarded-Host: evil.example.com'];
    claims.push('X-Forwarded-Proto: https', 'X-Forwarded-Port: 1', 'X-Real-IP: 203.0.113.1');
    const { body } = await request('GET /', `Host: Store.example.com\r\n${claims.join('\r\n')}\r\n`);
    const told = Object.entries(JSON.parse(body) as Record<string, string>);
    expect(Object.fromEntries(told.filter(([name]) => /^(?:x-)?forwarded|^x-real/.test(name)))).toEqual({
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-host': 'Store.example.com',
      'x-forwarded-proto': 'http',
    });
  });

  it('gives a request the id it came with, or makes one where that is none', async () => {
    for (const id of ['', 'a b', 'a"b', 'x'.repeat(65), 'a\r\nX-Request-Id: b']) {
      const { headers } = await request('GET /', `X-Request-Id: ${id}\r\n`);
      expect(headers['x-request-id']).toMatch(ID);
      // Whether a page may read what a server has answered is the server's to say.
      expect(headers['access-control-allow-origin']).toBeUndefined();
      expect(await proxy.lineOf(headers['x-request-id'] ?? '')).toMatchObject({ status: 200 });
    }
  });

  it('logs no header, path, query or body, nor a key that somebody sends as an id', async () => {
    const secrets = [
      'Authorization: Bearer canary',
      'Cookie: canary=1',
      'X-Canary: canary',
      'X-Request-Id: Bearer_aas_live_canary',
    ];
    const line = 'POST /canary?token=canary';
    await request(line, `${secrets.join('\r\n')}\r\nContent-Length: 6\r\n`, 'canary');
    await request('CANARY"canary /');
    expect(await proxy.lineOf('Bearer_redacted')).toMatchObject({ status: 200 });
    expect(proxy.log).not.toContain('canary');
  });
});
