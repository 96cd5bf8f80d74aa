import { METHODS } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { get, PETS, post, rawHead, send, sendOnce } from '../support/client.js';
import { operations } from '../support/description.js';
import { expectError, expectHeadError, expectLimitHeaders } from '../support/expectations.js';
import { type RawResponse, request } from '../support/raw-http.js';
import { useSharedApi } from '../support/shared-api.js';

/** The methods that each path allows. */
const ALLOWED = [...new Set(operations.map(({ path }) => path))].map((path) => {
  const described = operations.filter((each) => each.path === path).map(({ method }) => method);
  const implied = described.includes('GET') ? ['HEAD', 'OPTIONS'] : ['OPTIONS'];
  return { path, allowed: [...described, ...implied].sort() };
});
const MAX_URL_LENGTH = 8_192;
const LUNA = '{"name":"Luna","categoryId":1}';
const JSON_TYPE = 'Content-Type: application/json';
const CHUNKED = 'Transfer-Encoding: chunked';
const OWN_ID = /^[A-Za-z0-9_-]{16,64}$/;

const api = useSharedApi();

const raw = (requestLine: string, ...headers: readonly string[]) =>
  sendOnce(api, rawHead(api, `${requestLine} HTTP/1.1`, headers));

function rawPost(body: string, ...headers: readonly string[]): Promise<RawResponse> {
  return sendOnce(
    api,
    `${rawHead(api, 'POST /v1/pets HTTP/1.1', [...headers, `Content-Length: ${body.length}`])}${body}`,
  );
}

/** A response of each way to answer. The request may have one more header. */
const RESPONSES: readonly (readonly [string, number, (header: string) => Promise<RawResponse>])[] = [
  ['a list', 200, (header) => raw('GET /v1/pets?limit=1', header)],
  ['a new animal', 201, (header) => rawPost(LUNA, header, JSON_TYPE)],
  ['the allowed methods', 204, (header) => raw('OPTIONS /v1/pets', header)],
  ['a bad parameter', 400, (header) => raw('GET /v1/pets?limit=0', header)],
  ['a bad percent-encoding', 400, (header) => raw('GET /v1/pets/%zz', header)],
  ['a missing Host', 400, (header) => sendOnce(api, rawHead(api, 'GET /cats HTTP/1.1', [header], []))],
  ['a missing key', 401, (header) => sendOnce(api, rawHead(api, 'GET /cats HTTP/1.1', [header], ['Host: localhost']))],
  ['an unknown path', 404, (header) => raw('GET /cats', header)],
  ['a wrong method', 405, (header) => raw('DELETE /v1/pets', header)],
  ['CONNECT', 405, (header) => raw('CONNECT x:443', header)],
  ['too large a body', 413, (header) => raw('POST /v1/pets', header, JSON_TYPE, 'Content-Length: 65537')],
  ['too long a URL', 414, (header) => raw(`GET /${'x'.repeat(9_000)}`, header)],
  ['an odd Expect', 417, (header) => raw('GET /v1/pets', header, 'Expect: x')],
  ['a bad chunk', 400, (header) => sendOnce(api, `${rawHead(api, 'GET /cats HTTP/1.1', [header, CHUNKED])}zz\r\n`)],
];

it.each(RESPONSES)(
  "the answer to %s, %i, keeps the client's X-Request-Id, replaces one that is none, and tells of the limits",
  async (_case, status, respond) => {
    const response = await respond('X-Request-Id: Order_66-b');
    expect(response).toMatchObject({ status, headers: { 'x-request-id': 'Order_66-b' } });
    expectLimitHeaders(response);
    const other = await respond('X-Request-Id: not an id');
    expect(other).toMatchObject({ status, headers: { 'x-request-id': expect.stringMatching(OWN_ID) } });
  },
);

describe('an X-Request-Id', () => {
  it.each(['x', 'x'.repeat(64), '123e4567-e89b-12d3-a456-426614174000', '-_-_-'])('of %s is kept', async (id) => {
    expect((await raw('GET /v1/rate_limit', `X-Request-Id: ${id}`)).headers['x-request-id']).toBe(id);
  });

  it.each(['', 'x'.repeat(65), 'a.b', 'a/b', 'a%0D%0Ab', '<b>', '${jndi:x}', 'é', 'a\r\nX-Request-Id: b'])(
    'of %j is replaced',
    async (id) => {
      const { headers } = await raw('GET /v1/rate_limit', `X-Request-Id: ${id}`);
      expect(headers['x-request-id']).toMatch(OWN_ID);
    },
  );
});

it('a refusal from before the route tells the stability of the operation, as every answer does', async () => {
  const [method, path] = ['PUT', '/v1/categories/1'];
  const answers = [
    await request(api, path, { method }),
    await send(api, method, `${path}?x=${'x'.repeat(9_000)}`),
    await sendOnce(api, rawHead(api, `${method} ${path} HTTP/1.1`, [], ['Host: a b'])),
  ];
  expect(answers.map(({ status }) => status)).toEqual([401, 414, 400]);
  for (const { headers } of answers) expect(headers).toHaveProperty('x-stability', 'beta');
});

describe('an unknown query parameter', () => {
  it.each(operations)('of $method $path is refused and named', async ({ method, path, requestBody }) => {
    const response = await send(api, method, `${path}?stauts=sold`, requestBody && {});
    expect(expectError(response, 400, 'invalid_parameter')).toMatch(
      /^"stauts" is not a query parameter of this operation, (?:only .*|which has none)$/,
    );
  });

  it.each([
    ['after, which is the cursor inside', 'after=1', 'after'],
    ['__proto__', '__proto__=1', '__proto__'],
    ['with encoded letters, beside a wrong limit', 'limit=0&%63olour=1&%63olour=2', 'colour'],
    ['with quotes', 'a"b=1', 'a\\"b'],
  ])('%s is refused and named', async (_case, query, name) => {
    const message = expectError(await get(api, `/v1/pets?${query}`), 400, 'invalid_parameter');
    expect(message).toContain(`"${name}" is not a query parameter`);
  });

  it('is told together with other faults of the query, five at most', async () => {
    const tell = async (query: string) => expectError(await get(api, `/v1/pets?${query}`), 400, 'invalid_parameter');
    expect(await tell('cursor=x&id=x&limit=0&Status=sold')).toMatch(
      /^"Status" is not a query .* \(did you mean status\?\); limit must .*; id must .*; cursor must [^;]*$/,
    );
    expect(await tell('a=1&b=1')).toMatch(
      /^"a", "b" are not query parameters of this operation, only limit, .*cursor$/,
    );
    expect(await tell('a&b&c&d&e&f&g')).toMatch(/^"a", "b", "c", "d", "e" and 2 more are not query parameters/);
    expect(await tell('a%C2%ADb%E2%80%8B')).toMatch(/^"a\\u\{AD\}b\\u\{200B\}" is not/);
  });

  it('is shown with its first 50 characters', async () => {
    const message = expectError(await get(api, `/v1/pets?${'x'.repeat(7_000)}=1`), 400, 'invalid_parameter');
    expect(message.length).toBeLessThan(200);
  });

  it('is refused after a missing key, an unknown path, a wrong method and a wrong media type', async () => {
    expectError(await get(api, '/v1/pets?colour=1', 'x'), 401, 'invalid_api_key');
    expectError(await get(api, '/v1/cats?colour=1'), 404, 'not_found');
    expectError(await send(api, 'PUT', '/v1/pets?colour=1'), 405, 'method_not_allowed');
    const response = await post(api, '/v1/pets?colour=1', '{}', { 'Content-Type': 'text/plain' });
    expectError(response, 400, 'unsupported_media_type');
  });

  it.each(['?', '?&', '?&&limit=1&'])('is not what %s has', async (query) => {
    expect(await get(api, PETS + query)).toMatchObject({ status: 200 });
  });
});

it.each(operations.filter(({ requestBody }) => requestBody))(
  'a body of $method $path is an object of JSON, and its media type is looked at first',
  async ({ method, path }) => {
    for (const body of ['[]', '{"a":1,"a":2}']) expectError(await send(api, method, path, body), 400, 'invalid_json');
    const response = await send(api, method, path, '{', { 'Content-Type': 'text/plain' });
    expectError(response, 400, 'unsupported_media_type');
  },
);

describe('a path nothing is at is answered 404 not_found:', () => {
  it.each([
    ...['/v1', '/v1/', '/v1/petss', '/v1/pets/', '/v1/pets/1/', '/v1/pets/1/photos', '/v1/store'],
    ...['/v1/store/orders/1/expire', '/v1/store/orders//complete', '/v1/store/orders/1/complete/now', '/v1/messages/'],
    ...['//v1/pets', '/v1//pets', '/v1/pets//', '/V1/pets', '/v1/Pets', '/pets', '/v2/pets', '/v1/v1/pets'],
    ...['/v1%2Fpets', '/v1/pets%2F1', '/v1/pets%3Flimit=1', '/v1/./pets', '/v1/pets/..', '/v1/pets;v=1'],
    ...['/*', '*', '/:petId', '/%00', '/.env', '/__proto__', '/v1/constructor', '/v1/pets\\1'],
    `/${'x'.repeat(4_000)}`,
  ])('%s', async (path) => {
    expectError(await get(api, path), 404, 'not_found');
  });

  it.each([
    ['/v1/petss', 'GET /v1/petss'],
    ['/v2/pets?id=1', 'GET /v2/pets'],
    ['/v1/v1/pets', 'GET /v1/v1/pets; did you mean /v1/pets?'],
    ['/pets/1', 'GET /pets/1; did you mean /v1/pets/1?'],
    ['/v1/pets/?limit=1', 'GET /v1/pets/; did you mean /v1/pets?'],
    ['//V1//Store/Orders/7/Cancel/', 'GET //V1//Store/Orders/7/Cancel/; did you mean /v1/store/orders/7/cancel?'],
    ['/Webhooks/whk_Aa', 'GET /Webhooks/whk_Aa; did you mean /v1/webhooks/whk_Aa?'],
    ['/a%C2%AD%00b', 'GET /a%C2%AD%00b'],
    [`/${'x'.repeat(200)}`, `GET /${'x'.repeat(99)}…`],
    [`/PETS/${'1'.repeat(7_000)}`, `GET /PETS/${'1'.repeat(94)}…; did you mean /v1/pets/${'1'.repeat(91)}…?`],
  ])('which names it, and what was probably meant (%#)', async (path, named) => {
    const head = rawHead(api, `GET ${path} HTTP/1.1`);
    const answers = [await sendOnce(api, Buffer.from(head, 'latin1'))];
    answers.push(await sendOnce(api, Buffer.from(rawHead(api, `GET http://${api.host}${path} HTTP/1.1`), 'latin1')));
    for (const answer of answers) expect(expectError(answer, 404, 'not_found')).toBe(`there is nothing at ${named}`);
  });

  it('by every method, whatever the body', async () => {
    for (const method of METHODS) {
      if (method === 'HEAD') expectHeadError(await send(api, method, '/v1/cats'), 404);
      else if (method !== 'CONNECT') expectError(await send(api, method, '/v1/cats'), 404, 'not_found');
    }
    expectError(await post(api, '/v1/cats', '{', { 'Content-Type': 'text/plain' }), 404, 'not_found');
  });
});

describe.each(ALLOWED)('$path', ({ path, allowed }) => {
  const allowOf = ({ headers }: RawResponse) => (headers['allow'] ?? '').split(', ').sort();

  it('answers 405 method_not_allowed and Allow to other methods, known or not', async () => {
    const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND', 'M-SEARCH', 'FOO', 'get', 'Get'];
    for (const method of methods.filter((each) => !allowed.includes(each))) {
      const response = await send(api, method, path);
      const message = expectError(response, 405, 'method_not_allowed');
      expect(message).toContain(METHODS.includes(method) ? method : 'the method is not known');
      expect(allowOf(response)).toEqual(allowed);
    }
  });

  it('answers 204 and Allow to OPTIONS', async () => {
    const response = await send(api, 'OPTIONS', path);
    expect(response).toMatchObject({ status: 204, body: '' });
    expect(allowOf(response)).toEqual(allowed);
  });

  it('answers HEAD as GET, without the body', async () => {
    const head = await send(api, 'HEAD', path);
    if (allowed.includes('HEAD')) {
      const whole = await send(api, 'GET', path);
      expect(head).toMatchObject({ status: whole.status, body: '' });
      expect(Object.keys(head.headers).sort()).toEqual(Object.keys(whole.headers).sort());
    } else {
      expectHeadError(head, 405);
      expect(allowOf(head)).toEqual(allowed);
    }
  });
});

it.each([
  ...['/v1/pets/%', '/v1/pets/%2', '/v1/pets/%1g', '/v1/pets/%u0031', '/v1/pets/%ff'],
  ...['/v1/pets/%E2%82', '/v1/pets/%C0%AF', '/v1/pets/%ED%A0%80', '/v1/store/orders/%ff/cancel'],
  ...['/v1/%zz', '/v1/pets%', '/%zz', '/%zz/v1/pets', '/%zz?limit=1', '//%zz'],
])('a path with a bad percent-encoding is answered 400 bad_request: %s', async (path) => {
  expect(expectError(await get(api, path), 400, 'bad_request')).toMatch(/percent-encoding/);
  expectHeadError(await send(api, 'HEAD', path), 400);
});

describe('a URL', () => {
  const ofLength = (length: number) => '/v1/pets?limit=1'.padEnd(length, '&');

  it('of 8 KiB is taken', async () => {
    expect(await get(api, ofLength(MAX_URL_LENGTH))).toMatchObject({ status: 200 });
  });

  it.each([
    ['8 KiB and a character', ofLength(MAX_URL_LENGTH + 1)],
    ['a megabyte', ofLength(1_024 * 1_024)],
    ['8 KiB and a character, all path', '/v1/pets/'.padEnd(MAX_URL_LENGTH + 1, '1')],
    ['20 KiB of percent-encodings', `/${'%41'.repeat(7_000)}`],
  ])('of %s is answered 414 uri_too_long, before a key is asked for', async (_case, url) => {
    for (const standard of [undefined, ['Host: localhost']]) {
      const response = await sendOnce(api, rawHead(api, `GET ${url} HTTP/1.1`, [], standard));
      expect(expectError(response, 414, 'uri_too_long')).toContain(String(MAX_URL_LENGTH));
    }
  });
});
