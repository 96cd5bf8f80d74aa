import { METHODS } from 'node:http';
import { MINUTE } from '@adoption-store/domain';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { useApi } from './support/api.js';
import { expectError, expectHeadError } from './support/expectations.js';
import { MESSAGES } from './support/messages-client.js';
import { bearer, get, rawHead, sendOnce } from './support/pets-client.js';
import { type RawResponse, request } from './support/raw-http.js';
import { ORDERS, placeOrder } from './support/store-client.js';

const MAX_URL_LENGTH = 8_192;

const PATHS = [
  { path: '/v1/pets', allowed: ['GET', 'HEAD', 'OPTIONS', 'POST'] },
  { path: '/v1/pets/1', allowed: ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH'] },
  { path: ORDERS, allowed: ['GET', 'HEAD', 'OPTIONS', 'POST'] },
  { path: `${ORDERS}/1`, allowed: ['GET', 'HEAD', 'OPTIONS'] },
  { path: `${ORDERS}/1/complete`, allowed: ['OPTIONS', 'POST'] },
  { path: `${ORDERS}/1/cancel`, allowed: ['OPTIONS', 'POST'] },
  { path: MESSAGES, allowed: ['OPTIONS', 'POST'] },
  { path: `${MESSAGES}/1`, allowed: ['GET', 'HEAD', 'OPTIONS'] },
  { path: '/v1/rate_limit', allowed: ['GET', 'HEAD', 'OPTIONS'] },
];

const api = useApi();

beforeAll(async () => {
  await api.application.addAnimal.execute({ name: 'Luna', categoryId: 1n });
  await placeOrder(api);
});

// Each test has its own minute, so that no test uses up another's quota.
beforeEach(() => {
  api.clock.advance(MINUTE);
});

const send = (method: string, path: string) => request(api, path, { method, headers: bearer(api.key) });

function allowOf({ headers }: RawResponse): readonly string[] {
  return (headers['allow'] ?? '').split(', ').sort();
}

describe('a path nothing is at is answered 404 not_found:', () => {
  it.each([
    '/',
    '/v1',
    '/v1/',
    '/v1/pet',
    '/v1/petss',
    '/v1/pets.json',
    '/v1/pets/',
    '/v1/pets/1/',
    '/v1/pets/1/photos',
    '/v1/store',
    '/v1/store/orders/',
    '/v1/store/orders/1/',
    '/v1/store/orders/1/expire',
    '/v1/store/orders//complete',
    '/v1/store/orders/1/complete/now',
    '/v1/orders',
    '/v1/messages/',
    '/v1/messages/1/2',
    '/v1/pets/1/2/3/4',
    '//v1/pets',
    '/v1//pets',
    '/v1/pets//1',
    '/v1/pets//',
    '//',
    '/V1/pets',
    '/v1/Pets',
    '/V1/PETS/1',
    '/pets',
    '/v2/pets',
    '/v1/v1/pets',
    '/v1%2Fpets',
    '/v1/pets%2F1',
    '/v1/pets%2f',
    '/v1/pets%3Flimit=1',
    '/v1/./pets',
    '/v1/../v1/pets',
    '/v1/pets/..',
    '/v1/pets/%2e%2e',
    '/v1/pets;v=1',
    '/*',
    '/v1/*',
    '*',
    '/-',
    '/:petId',
    '/%00',
    '/%F0%9F%90%88',
    '/favicon.ico',
    '/.env',
    '/__proto__',
    '/constructor',
    '/v1/constructor',
    '/v1/pets\\1',
    '/?limit=0',
    `/${'x'.repeat(4_000)}`,
    `/${'x/'.repeat(2_000)}x`,
  ])('%s', async (path) => {
    expectError(await get(api, path), 404, 'not_found');
  });

  it.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY', 'LINK'].filter(isKnown))(
    'by %s',
    async (method) => {
      expectError(await send(method, '/v1/cats'), 404, 'not_found');
    },
  );

  it('by HEAD, without a body', async () => {
    expectHeadError(await send('HEAD', '/v1/cats'), 404);
  });

  it('any body', async () => {
    const headers = { ...bearer(api.key), 'Content-Type': 'text/plain' };
    expectError(await request(api, '/v1/cats', { method: 'POST', headers, body: '{' }), 404, 'not_found');
  });
});

function isKnown(method: string): boolean {
  return METHODS.includes(method);
}

describe.each(PATHS)('$path', ({ path, allowed }) => {
  // HEAD, whose responses have no body, and CONNECT, which has no path, are tested below.
  const refused = METHODS.filter((method) => !['CONNECT', 'HEAD', ...allowed].includes(method));

  it.each(refused)('answers 405 method_not_allowed and Allow to %s', async (method) => {
    const response = await send(method, path);
    expect(expectError(response, 405, 'method_not_allowed')).toContain(method);
    expect(allowOf(response)).toEqual(allowed);
  });

  it('answers 204 and Allow to OPTIONS', async () => {
    const response = await send('OPTIONS', path);
    expect(response).toMatchObject({ status: 204, body: '' });
    expect(allowOf(response)).toEqual(allowed);
    expect(response.headers['x-request-id']).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
  });

  it.each(['FOO', 'get', 'Get', 'BREW'])('answers 405 method_not_allowed and Allow to %s', async (method) => {
    const response = await send(method, path);
    expectError(response, 405, 'method_not_allowed');
    expect(allowOf(response)).toEqual(allowed);
  });
});

describe.each(PATHS.filter(({ allowed }) => allowed.includes('HEAD')))('$path', ({ path }) => {
  it('answers HEAD as GET, without the body', async () => {
    const [head, whole] = await Promise.all([send('HEAD', path), send('GET', path)]);
    expect(head).toMatchObject({ status: whole.status, body: '' });
    expect(head.headers['content-length']).toBe(String(Buffer.byteLength(whole.body)));
    expect(Object.keys(head.headers).sort()).toEqual(Object.keys(whole.headers).sort());
  });
});

describe.each(PATHS.filter(({ allowed }) => !allowed.includes('HEAD')))('$path', ({ path, allowed }) => {
  it('answers 405 and Allow to HEAD, without a body', async () => {
    const response = await send('HEAD', path);
    expectHeadError(response, 405);
    expect(allowOf(response)).toEqual(allowed);
  });
});

describe('a method', () => {
  it('is refused before the parameters are looked at', async () => {
    expectError(await send('DELETE', '/v1/pets?limit=0'), 405, 'method_not_allowed');
  });

  it('is refused before the media type and the body are looked at', async () => {
    const headers = { ...bearer(api.key), 'Content-Type': 'text/plain' };
    expectError(await request(api, '/v1/pets', { method: 'PUT', headers, body: '{' }), 405, 'method_not_allowed');
  });

  it('cannot be replaced by X-HTTP-Method-Override', async () => {
    const headers = { ...bearer(api.key), 'X-HTTP-Method-Override': 'DELETE' };
    expect(await request(api, '/v1/pets', { headers })).toMatchObject({ status: 200 });
  });

  it('is HEAD and not GET where the parameters are refused: no body', async () => {
    expectHeadError(await send('HEAD', '/v1/pets?limit=0'), 400);
  });

  it('CONNECT is answered 405 method_not_allowed', async () => {
    const response = await sendOnce(api, rawHead(api, 'CONNECT pets.example:443 HTTP/1.1'));
    expectError(response, 405, 'method_not_allowed');
    expect(response.headers).toHaveProperty('allow');
  });
});

describe('a path with a bad percent-encoding is answered 400 bad_request:', () => {
  it.each([
    '/v1/pets/%',
    '/v1/pets/%2',
    '/v1/pets/%zz',
    '/v1/pets/%1g',
    '/v1/pets/%%31',
    '/v1/pets/%u0031',
    '/v1/pets/1%',
    '/v1/pets/%ff',
    '/v1/pets/%80',
    '/v1/pets/%C3%28',
    '/v1/pets/%E2%82',
    '/v1/store/orders/%zz',
    '/v1/store/orders/%ff/cancel',
    '/v1/messages/%C0%80',
    '/v1/pets/%C0%AF',
    '/v1/pets/%ED%A0%80',
    '/v1/%zz',
    '/v1/pets%',
    '/%zz',
    '/%zz/v1/pets',
    '/%zz?limit=1',
    '//%zz',
  ])('%s', async (path) => {
    expect(expectError(await get(api, path), 400, 'bad_request')).toMatch(/percent-encoding/);
  });

  it.each(['POST', 'DELETE'])('by %s', async (method) => {
    expectError(await send(method, '/v1/pets/%zz'), 400, 'bad_request');
  });

  it('by HEAD, without a body', async () => {
    expectHeadError(await send('HEAD', '/v1/pets/%zz'), 400);
  });
});

describe('a URL', () => {
  const ofLength = (length: number) => '/v1/pets?limit=1'.padEnd(length, '&');

  it('of 8 KiB is taken', async () => {
    expect(await get(api, ofLength(MAX_URL_LENGTH))).toMatchObject({ status: 200 });
  });

  it.each([
    ['8 KiB and a character', ofLength(MAX_URL_LENGTH + 1)],
    ['12 KiB', ofLength(12 * 1_024)],
    ['16 KiB', ofLength(16 * 1_024)],
    ['100 KiB', ofLength(100 * 1_024)],
    ['a megabyte', ofLength(1_024 * 1_024)],
    ['8 KiB and a character, all path', '/v1/pets/'.padEnd(MAX_URL_LENGTH + 1, '1')],
    ['20 KiB, all path', '/v1/pets/'.padEnd(20 * 1_024, '1')],
    ['20 KiB at an unknown path', '/'.padEnd(20 * 1_024, 'x')],
    ['20 KiB of percent-encodings', `/${'%41'.repeat(7_000)}`],
  ])('of %s is answered 414 uri_too_long', async (_case, url) => {
    const response = await sendOnce(api, rawHead(api, `GET ${url} HTTP/1.1`));
    expect(expectError(response, 414, 'uri_too_long')).toContain(String(MAX_URL_LENGTH));
  });

  it.each([9 * 1_024, 20 * 1_024])('in absolute form of %i characters is answered 414 uri_too_long', async (length) => {
    const url = `${api.origin}${ofLength(length)}`;
    expectError(await sendOnce(api, rawHead(api, `GET ${url} HTTP/1.1`)), 414, 'uri_too_long');
  });

  it('that is too long is refused before a key is asked for', async () => {
    expectError(await request(api, ofLength(MAX_URL_LENGTH + 1)), 414, 'uri_too_long');
  });

  it.each(['http', 'HTTP', 'https'])('in absolute form with the scheme %s is taken for its path', async (scheme) => {
    const url = `${scheme}://${api.host}:${api.port}/v1/pets?limit=1`;
    expect(await sendOnce(api, rawHead(api, `GET ${url} HTTP/1.1`))).toMatchObject({ status: 200 });
  });

  it('in absolute form without a path is answered 404 not_found', async () => {
    expectError(await sendOnce(api, rawHead(api, `GET ${api.origin} HTTP/1.1`)), 404, 'not_found');
  });

  it('in absolute form needs a key as well', async () => {
    expectError(
      await sendOnce(api, rawHead(api, `GET ${api.origin}/v1/pets HTTP/1.1`, [], ['Host: localhost'])),
      401,
      'missing_api_key',
    );
  });
});
