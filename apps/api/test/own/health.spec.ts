import { MINUTE } from '@adoption-store/domain';
import { describe, expect, it } from '@jest/globals';
import { useApi } from '../support/api.js';
import { bearer, rawHead } from '../support/client.js';
import { expectError } from '../support/expectations.js';
import { type RawResponse, request, sendRaw } from '../support/raw-http.js';

const ADDRESS_LIMIT = 10_000;

const api = useApi({}, { addressLimit: ADDRESS_LIMIT });
const PATHS = ['/livez', '/readyz'];

describe.each(PATHS)('%s', (path) => {
  function expectNoApiResponse({ headers }: RawResponse): void {
    expect(headers).toMatchObject({ 'cache-control': 'no-store', 'x-request-id': 'my-own' });
    expect(Object.keys(headers).filter((name) => /ratelimit|authenticate/.test(name))).toEqual([]);
  }

  const send = (method: string, target = path) =>
    request(api, target, { method, headers: { 'X-Request-Id': 'my-own' } });

  it('answers 200 without a key and without limit headers, whatever the query', async () => {
    const response = await send('GET', `${path}?probe=1`);
    const headers = { 'content-type': 'text/plain; charset=utf-8' };
    expect(response).toMatchObject({ status: 200, body: 'ok\n', headers });
    expectNoApiResponse(response);
  });

  it('answers OPTIONS with 204 and Allow, and refuses other methods with 405', async () => {
    const headers = { allow: 'GET, HEAD, OPTIONS' };
    expect(await send('OPTIONS')).toMatchObject({ status: 204, body: '', headers });
    const response = await send('PROPFIND');
    expect(response).toMatchObject({ status: 405, headers });
    expectNoApiResponse(response);
  });

  it('counts against neither an address nor a key', async () => {
    api.clock.advance(MINUTE);
    const { key } = await api.openKey('free');
    for (let sent = 0; sent < 3; sent += 1) await request(api, path, { headers: bearer(key) });
    const remaining = async (headers: Record<string, string>) =>
      Number((await request(api, '/v1/unknown', { headers })).headers['x-ratelimit-remaining']);
    expect(await remaining({})).toBe(ADDRESS_LIMIT - 1);
    expect(await remaining(bearer(key))).toBe(59);
  });

  it.each([`/v1${path}`, `${path}/`, path.toUpperCase()])('is not to be had at %s', async (other) => {
    expectError(await request(api, other), 401, 'missing_api_key');
  });
});

describe('an API that is stopping', () => {
  const stopping = new AbortController();
  const api = useApi({ stopping: stopping.signal });

  const headOf = (path: string, headers: readonly string[] = []) => rawHead(api, `GET ${path} HTTP/1.1`, headers);

  it('is not ready, but lives and serves, and closes each connection after its response', async () => {
    const [before] = await sendRaw(api, headOf('/v1/pets'));
    expect(before?.headers).toMatchObject({ connection: 'keep-alive' });
    stopping.abort();
    const cases: readonly (readonly [number, string | Buffer])[] = [
      [200, headOf('/v1/pets')],
      [503, headOf('/readyz')],
      [200, headOf('/livez')],
      [404, headOf('/v1/unknown')],
      [401, `GET /v1/pets HTTP/1.1\r\nHost: a\r\n\r\n`],
      [400, `GET /v1/pets HTTP/1.1\r\n\r\n`],
      [400, `GET /v1/%zz HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${api.key}\r\n\r\n`],
      [400, 'nonsense\r\n\r\n'],
    ];
    for (const [status, bytes] of cases) {
      // Reads until the server has closed the connection.
      const responses = await sendRaw(api, bytes, Infinity);
      expect(responses).toMatchObject([{ status, headers: { connection: 'close' } }]);
    }
  });
});
