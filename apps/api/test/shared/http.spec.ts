import { readFileSync } from 'node:fs';
import { METHODS } from 'node:http';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { expectError, expectHeadError, expectLimitHeaders, JSON_CONTENT_TYPE } from '../support/expectations.js';
import { addPet, bearer, changePet, get, listPets, rawHead, sendOnce, withdrawPet } from '../support/pets-client.js';
import { type RawResponse, request } from '../support/raw-http.js';
import { newCategoryId, useSharedApi } from '../support/shared-api.js';
import {
  addCategory,
  CATEGORIES,
  categoryOf,
  end,
  messageOf,
  MESSAGES,
  ORDERS,
  placeOrder,
  writeMessage,
} from '../support/store-client.js';

interface Operation {
  readonly requestBody?: { readonly content: object };
  readonly 'x-stability'?: string;
}

const { paths } = JSON.parse(readFileSync(join(__dirname, '../../openapi.json'), 'utf8')) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
};
const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    method: method.toUpperCase(),
    path: `/v1${path.replace(/\{\w+\}/g, '1')}`,
    type: Object.keys(operation.requestBody?.content ?? {})[0],
    stability: operation['x-stability'],
  })),
);
/** The methods that each path allows. */
const ALLOWED = Object.entries(paths).map(([path, methods]) => {
  const described = Object.keys(methods).map((method) => method.toUpperCase());
  const implied = described.includes('GET') ? ['HEAD', 'OPTIONS'] : ['OPTIONS'];
  return { path: `/v1${path.replace(/\{\w+\}/g, '1')}`, allowed: [...described, ...implied].sort() };
});

const MAX_URL_LENGTH = 8_192;
const LUNA = '{"name":"Luna","categoryId":1}';
const JSON_TYPE = 'Content-Type: application/json';
const CHUNKED = 'Transfer-Encoding: chunked';
const OWN_ID = /^[A-Za-z0-9_-]{16,64}$/;

const api = useSharedApi();
/** Of a resource of each kind. */
const READABLE: Record<string, string> = {};

beforeAll(async () => {
  const { id, petId } = await placeOrder(api);
  Object.assign(READABLE, {
    'a list': `/v1/pets?id=${petId}`,
    'an empty list': '/v1/pets?id=999999999',
    'an animal': `/v1/pets/${petId}`,
    'a list of orders': ORDERS,
    'an order': `${ORDERS}/${id}`,
    'a list of categories': `${CATEGORIES}?id=1`,
    'a category': `${CATEGORIES}/${categoryOf(await addCategory(api, `Kind ${newCategoryId()}`), 201).id}`,
    'a message': `${MESSAGES}/${messageOf(await writeMessage(api, 'Hello'), 202).id}`,
  });
});

const send = (requestLine: string, ...headers: readonly string[]) =>
  sendOnce(api, rawHead(api, `${requestLine} HTTP/1.1`, headers));
const sendBy = (method: string, path: string) => request(api, path, { method, headers: bearer(api.key) });
const conditionally = (path: string, tag: string, method = 'GET') =>
  request(api, path, { method, headers: { ...bearer(api.key), 'If-None-Match': tag } });

function post(body: string, ...headers: readonly string[]): Promise<RawResponse> {
  return sendOnce(
    api,
    `${rawHead(api, 'POST /v1/pets HTTP/1.1', [...headers, `Content-Length: ${body.length}`])}${body}`,
  );
}

/** A response of each way to answer. The request may have one more header. */
const RESPONSES: readonly (readonly [string, number, (header: string) => Promise<RawResponse>])[] = [
  ['a list', 200, (header) => send('GET /v1/pets?limit=1', header)],
  ['a list that the client has', 304, (header) => send('GET /v1/pets?limit=1', header, 'If-None-Match: *')],
  ['a new animal', 201, (header) => post(LUNA, header, JSON_TYPE)],
  ['how the caller stands', 200, (header) => send('GET /v1/rate_limit', header)],
  ['the allowed methods', 204, (header) => send('OPTIONS /v1/pets', header)],
  ['a bad parameter', 400, (header) => send('GET /v1/pets?limit=0', header)],
  ['a bad body', 400, (header) => post('{', header, JSON_TYPE)],
  ['a bad media type', 400, (header) => post(LUNA, header)],
  ['a bad percent-encoding', 400, (header) => send('GET /v1/pets/%zz', header)],
  ['a missing Host', 400, (header) => sendOnce(api, rawHead(api, 'GET /cats HTTP/1.1', [header], []))],
  ['a missing key', 401, (header) => sendOnce(api, rawHead(api, 'GET /cats HTTP/1.1', [header], ['Host: localhost']))],
  ['an unknown path', 404, (header) => send('GET /cats', header)],
  ['a wrong method', 405, (header) => send('DELETE /v1/pets', header)],
  ['CONNECT', 405, (header) => send('CONNECT x:443', header)],
  ['too large a body', 413, (header) => send('POST /v1/pets', header, JSON_TYPE, 'Content-Length: 65537')],
  ['too long a URL', 414, (header) => send(`GET /${'x'.repeat(9_000)}`, header)],
  ['an odd Expect', 417, (header) => send('GET /v1/pets', header, 'Expect: x')],
  ['a bad chunk', 400, (header) => sendOnce(api, `${rawHead(api, 'GET /cats HTTP/1.1', [header, CHUNKED])}zz\r\n`)],
];

it.each(RESPONSES)(
  "the answer to %s, %i, keeps the client's X-Request-Id, replaces one that is none, and tells of the limits",
  async (_case, status, respond) => {
    const response = await respond('X-Request-Id: Order_66-b');
    expect(response).toMatchObject({ status, headers: { 'x-request-id': 'Order_66-b' } });
    expectLimitHeaders(response);
    if (status === 204 || status === 304) expect(response).toMatchObject({ status, body: '' });
    else expect(response).toMatchObject({ status, headers: { 'content-type': JSON_CONTENT_TYPE } });
    const other = await respond('X-Request-Id: not an id');
    expect(other).toMatchObject({ status, headers: { 'x-request-id': expect.stringMatching(OWN_ID) } });
  },
);

describe('an X-Request-Id', () => {
  it.each(['x', 'x'.repeat(64), '123e4567-e89b-12d3-a456-426614174000', '-_-_-'])('of %s is kept', async (id) => {
    expect((await send('GET /v1/rate_limit', `X-Request-Id: ${id}`)).headers['x-request-id']).toBe(id);
  });

  it.each(['', 'x'.repeat(65), 'a.b', 'a/b', 'a%0D%0Ab', '<b>', '${jndi:x}', 'é', 'a\r\nX-Request-Id: b'])(
    'of %j is replaced',
    async (id) => {
      const { headers } = await send('GET /v1/rate_limit', `X-Request-Id: ${id}`);
      expect(headers['x-request-id']).toMatch(OWN_ID);
    },
  );

  it('is made for each request that has none', async () => {
    const responses = await Promise.all(Array.from({ length: 20 }, () => send('GET /v1/rate_limit')));
    expect(new Set(responses.map(({ headers }) => headers['x-request-id'])).size).toBe(20);
  });
});

describe('X-Stability', () => {
  it.each(operations)('has the stability of $method $path, $stability', async ({ method, path, stability }) => {
    const [head, whole] = [
      rawHead(api, `${method} ${path} HTTP/1.1`, [], ['Host: a b']),
      { method, headers: bearer(api.key) },
    ];
    const answers = [
      await request(api, path, whole),
      await request(api, `${path}?x=1`, whole),
      await request(api, path, { method }),
      await request(api, `${path}?x=${'x'.repeat(9_000)}`, whole),
      await sendOnce(api, head),
    ];
    expect(answers.map(({ status }) => status).slice(1)).toEqual([400, 401, 414, 400]);
    for (const { headers } of answers) expect(headers['x-stability']).toBe(stability);
  });

  it('is on answers of success, and absent where no operation is', async () => {
    for (const path of [ORDERS, CATEGORIES]) expect((await get(api, path)).headers['x-stability']).toBe('beta');
    expect((await writeMessage(api, 'Hello')).headers['x-stability']).toBe('experimental');
    for (const path of ['/v1/pets', '/v1/store'])
      expect((await get(api, path)).headers).not.toHaveProperty('x-stability');
  });
});

describe('an unknown query parameter', () => {
  it.each(operations)('of $method $path is refused and named', async ({ method, path, type }) => {
    const headers = { ...bearer(api.key), ...(type !== undefined && { 'Content-Type': type }) };
    const body = type === undefined ? '' : '{}';
    const response = await request(api, `${path}?stauts=sold`, { method, headers, body });
    expect(expectError(response, 400, 'invalid_parameter')).toMatch(
      /^"stauts" is not a query parameter of this operation, (?:only .*|which has none)$/,
    );
  });

  it.each([
    ['given twice', 'colour=black&colour=white', 'colour'],
    ['after, which is the cursor inside', 'after=1', 'after'],
    ['__proto__', '__proto__=1', '__proto__'],
    ['with encoded letters, beside a wrong limit', 'limit=0&%63olour=1', 'colour'],
    ['with quotes', 'a"b=1', 'a\\"b'],
  ])('%s is refused and named', async (_case, query, name) => {
    const message = expectError(await listPets(api, `?${query}`), 400, 'invalid_parameter');
    expect(message.startsWith(`"${name}" is not a query parameter`)).toBe(true);
  });

  it('is shown with its first 50 characters, each time it is sent', async () => {
    for (let time = 0; time < 3; time += 1) {
      const message = expectError(await listPets(api, `?${'x'.repeat(7_000)}=1`), 400, 'invalid_parameter');
      expect(message.length).toBeLessThan(200);
    }
  });

  it('is refused after a missing key, an unknown path, a wrong method and a wrong media type', async () => {
    expectError(await get(api, '/v1/pets?colour=1', 'x'), 401, 'invalid_api_key');
    expectError(await get(api, '/v1/cats?colour=1'), 404, 'not_found');
    expectError(await sendBy('PUT', '/v1/pets?colour=1'), 405, 'method_not_allowed');
    const headers = { ...bearer(api.key), 'Content-Type': 'text/plain' };
    const response = await request(api, '/v1/pets?colour=1', { method: 'POST', headers, body: '{}' });
    expectError(response, 400, 'unsupported_media_type');
  });

  it.each(['?', '?&', '?&&limit=1&'])('is not what %s has', async (query) => {
    expect(await listPets(api, query)).toMatchObject({ status: 200 });
  });
});

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

  it('by every method, whatever the body', async () => {
    for (const method of METHODS) {
      if (method === 'HEAD') expectHeadError(await sendBy(method, '/v1/cats'), 404);
      else if (method !== 'CONNECT') expectError(await sendBy(method, '/v1/cats'), 404, 'not_found');
    }
    const headers = { ...bearer(api.key), 'Content-Type': 'text/plain' };
    expectError(await request(api, '/v1/cats', { method: 'POST', headers, body: '{' }), 404, 'not_found');
  });
});

describe.each(ALLOWED)('$path', ({ path, allowed }) => {
  const allowOf = ({ headers }: RawResponse) => (headers['allow'] ?? '').split(', ').sort();

  it('answers 405 method_not_allowed and Allow to other methods, known or not', async () => {
    const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND', 'M-SEARCH', 'FOO', 'get', 'Get'];
    for (const method of methods.filter((each) => !allowed.includes(each))) {
      const response = await sendBy(method, path);
      const message = expectError(response, 405, 'method_not_allowed');
      expect(message).toContain(METHODS.includes(method) ? method : 'the method is not known');
      expect(allowOf(response)).toEqual(allowed);
    }
  });

  it('answers 204 and Allow to OPTIONS', async () => {
    const response = await sendBy('OPTIONS', path);
    expect(response).toMatchObject({ status: 204, body: '' });
    expect(allowOf(response)).toEqual(allowed);
  });

  it('answers HEAD as GET, without the body', async () => {
    const head = await sendBy('HEAD', path);
    if (allowed.includes('HEAD')) {
      const whole = await sendBy('GET', path);
      expect(head).toMatchObject({ status: whole.status, body: '' });
      expect(Object.keys(head.headers).sort()).toEqual(Object.keys(whole.headers).sort());
    } else {
      expectHeadError(head, 405);
      expect(allowOf(head)).toEqual(allowed);
    }
  });
});

it('a method is refused before parameters, media type and body are looked at', async () => {
  expectError(await sendBy('DELETE', '/v1/pets?limit=0'), 405, 'method_not_allowed');
  const headers = { ...bearer(api.key), 'Content-Type': 'text/plain' };
  expectError(await request(api, '/v1/pets', { method: 'PUT', headers, body: '{' }), 405, 'method_not_allowed');
});

describe('a path with a bad percent-encoding is answered 400 bad_request:', () => {
  it.each([
    ...['/v1/pets/%', '/v1/pets/%2', '/v1/pets/%1g', '/v1/pets/%u0031', '/v1/pets/%ff', '/v1/pets/%C3%28'],
    ...[
      '/v1/pets/%E2%82',
      '/v1/pets/%C0%AF',
      '/v1/pets/%ED%A0%80',
      '/v1/store/orders/%ff/cancel',
      '/v1/messages/%C0%80',
    ],
    ...['/v1/%zz', '/v1/pets%', '/%zz', '/%zz/v1/pets', '/%zz?limit=1', '//%zz'],
  ])('%s', async (path) => {
    expect(expectError(await get(api, path), 400, 'bad_request')).toMatch(/percent-encoding/);
    expectHeadError(await sendBy('HEAD', path), 400);
  });
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

  it('in absolute form is taken for its path, and needs a key as well', async () => {
    for (const scheme of ['http', 'HTTP', 'https'])
      expect(await send(`GET ${scheme}://${api.host}/v1/pets?limit=1`)).toMatchObject({ status: 200 });
    expectError(await send(`GET ${api.origin}`), 404, 'not_found');
    const head = rawHead(api, `GET ${api.origin}/v1/pets HTTP/1.1`, [], ['Host: localhost']);
    expectError(await sendOnce(api, head), 401, 'missing_api_key');
  });
});

/** A resource that is there, and an operation that changes it: method, path of the operation, path of the resource, body. */
type Change = readonly [method: string, path: string, resource: string, body: string];
const onAnimal = async (method: string, body = ''): Promise<Change> => {
  const path = `/v1/pets/${await addPet(api)}`;
  return [method, path, path, body];
};
const onCategory = async (method: string, body = ''): Promise<Change> => {
  const path = `${CATEGORIES}/${categoryOf(await addCategory(api, `Kind ${newCategoryId()}`), 201).id}`;
  return [method, path, path, body];
};
const onOrder = async (ending: string): Promise<Change> => {
  const path = `${ORDERS}/${(await placeOrder(api)).id}`;
  return ['POST', `${path}/${ending}`, path, ''];
};
const newName = () => `{"name":"Kind ${newCategoryId()}"}`;
const withBody = (method: string, path: string, body: string, headers: Readonly<Record<string, string>>) =>
  request(api, path, {
    method,
    headers: { ...bearer(api.key), 'Content-Type': 'application/json', ...headers },
    ...(body !== '' && { body }),
  });

describe('a condition (RFC 9110 §13.2.2)', () => {
  const failing = (tag: string): readonly Record<string, string>[] => [
    { 'If-Match': '"another"' },
    { 'If-Match': `W/${tag}` },
    { 'If-Match': '"another"', 'If-None-Match': tag },
  ];
  const failingAChange = (tag: string): readonly Record<string, string>[] => [
    ...failing(tag),
    { 'If-None-Match': '*' },
    { 'If-None-Match': `"another", ${tag}` },
    { 'If-None-Match': `W/${tag}` },
    { 'If-Match': tag, 'If-None-Match': tag },
  ];
  const MALFORMED = ['', ',', 'tag', '"tag', 'w/"tag"', '*, "tag"', '"a" "b"', '"a"b'];
  const malformed = ['If-Match', 'If-None-Match'].flatMap((name) => MALFORMED.map((value) => ({ [name]: value })));

  it.each<[string, number, () => Promise<Change>]>([
    ['PATCH of an animal', 200, () => onAnimal('PATCH', '{"name":"Milo"}')],
    ['DELETE of an animal', 204, () => onAnimal('DELETE')],
    ['PUT of a category', 200, () => onCategory('PUT', newName())],
    ['DELETE of a category', 204, () => onCategory('DELETE')],
    ['completion of an order', 200, () => onOrder('complete')],
    ['cancellation of an order', 200, () => onOrder('cancel')],
  ])('that fails for the %s is 412 with the current ETag and changes nothing', async (_case, status, prepare) => {
    const [method, path, resource, body] = await prepare();
    const before = await get(api, resource);
    const etag = before.headers['etag'] ?? '';
    for (const conditions of failingAChange(etag)) {
      const response = await withBody(method, path, body, conditions);
      expectError(response, 412, 'precondition_failed');
      expect([conditions, response.headers['etag']]).toEqual([conditions, etag]);
    }
    for (const conditions of malformed)
      expectError(await withBody(method, path, body, conditions), 400, 'invalid_parameter');
    expect((await get(api, resource)).body).toBe(before.body);
    const holding = { 'If-Match': `"another", ${etag}`, 'If-None-Match': '"another", W/"third"' };
    const response = await withBody(method, path, body, holding);
    expect(response).toMatchObject({ status });
    const { headers } = await get(api, resource);
    if (status === 200) expect(response.headers).toMatchObject({ etag: headers['etag'] });
    expect(headers['etag']).not.toBe(etag);
  });

  it.each(
    ['a list', 'an empty list', 'an animal', 'a list of orders', 'an order', 'a list of categories'].concat(
      'a category',
      'a message',
    ),
  )('that fails for the GET of %s is 412 with its ETag, and If-Match is judged first', async (name) => {
    const path = READABLE[name] ?? '';
    const { headers } = await get(api, path);
    const etag = headers['etag'] ?? '';
    for (const conditions of failing(etag)) {
      const response = await withBody('GET', path, '', conditions);
      expectError(response, 412, 'precondition_failed');
      expect(response.headers).toMatchObject({ etag });
      const head = await withBody('HEAD', path, '', conditions);
      expectHeadError(head, 412);
      expect(head.headers).toMatchObject({ etag, 'content-length': response.headers['content-length'] });
    }
    for (const conditions of malformed)
      expectError(await withBody('GET', path, '', conditions), 400, 'invalid_parameter');
    for (const [status, conditions] of [
      [200, { 'If-Match': '*', 'If-None-Match': '"another"' }],
      [304, { 'If-Match': `W/"a", ${etag}`, 'If-None-Match': etag }],
    ] as const)
      expect(await withBody('GET', path, '', conditions)).toMatchObject({ status, headers: { etag } });
  });

  it('is judged by none for a POST to a collection, whose 201 has the ETag of its GET', async () => {
    const conditions = [...failingAChange('"tag"'), ...malformed, { 'If-Match': '*' }];
    for (const [path, body] of [
      ['/v1/pets', () => LUNA],
      [CATEGORIES, newName],
      [ORDERS, async () => `{"petId":${await addPet(api)}}`],
    ] as const) {
      for (const each of conditions) {
        const response = await withBody('POST', path, await body(), each);
        expect(response).toMatchObject({ status: 201 });
        const { headers } = await get(api, response.headers['location']?.slice(api.origin.length) ?? '');
        expect([path, response.headers['etag']]).toEqual([path, headers['etag']]);
      }
    }
    expect(await withBody('POST', MESSAGES, '{"message":"Hello"}', { 'If-None-Match': '*' })).toMatchObject({
      status: 202,
    });
  });
});

describe('an entity tag', () => {
  it.each(
    ['a list', 'an empty list', 'an animal', 'a list of orders', 'an order', 'a list of categories'].concat(
      'a category',
      'a message',
    ),
  )(
    'of %s is strong, the same for the same content and for HEAD, and makes the answer 304 without a body',
    async (name) => {
      const path = READABLE[name] ?? '';
      const whole = await get(api, path);
      const etag = whole.headers['etag'] ?? '';
      expect(etag).toMatch(/^"[0-9a-f]{64}"$/);
      expect((await sendBy('HEAD', path)).headers['etag']).toBe(etag);
      for (const method of ['GET', 'HEAD']) {
        const response = await conditionally(path, etag, method);
        expect(response).toMatchObject({ status: 304, body: '', headers: { etag } });
        for (const absent of ['transfer-encoding', ...(method === 'GET' ? ['content-length'] : [])])
          expect(response.headers).not.toHaveProperty(absent);
        expectLimitHeaders(response);
      }
      expect(await conditionally(path, '"another"')).toMatchObject({ status: 200, body: whole.body });
    },
  );

  it.each<[number, string, (tag: string) => string]>([
    [304, 'as a weak one', (tag) => `W/${tag}`],
    [304, 'among others', (tag) => `"a", ${tag} , "b"`],
    [304, 'as *', () => '*'],
    [400, 'without quotes', (tag) => tag.replaceAll('"', '')],
    [400, 'as nothing', () => ''],
    [400, 'after another, without a comma', (tag) => `"a" ${tag}`],
    [200, 'in part', (tag) => `${tag.slice(0, 20)}"`],
    [200, 'as an empty one', () => '""'],
    [200, 'within another', (tag) => `"a,${tag.replaceAll('"', '')}"`],
  ])('makes the answer %i if the client has it %s', async (status, _case, headerOf) => {
    const path = READABLE['an animal'] ?? '';
    const { headers } = await get(api, path);
    expect(await conditionally(path, headerOf(headers['etag'] ?? ''))).toMatchObject({ status });
  });

  it('is another one once a page is the last, an animal has changed or gone, or an order has ended', async () => {
    const categoryId = newCategoryId();
    const [id, next] = [await addPet(api, 'available', categoryId), await addPet(api, 'available', categoryId)];
    const path = `/v1/pets?categoryId=${categoryId}&limit=1`;
    const tags = [(await get(api, path)).headers['etag'] ?? ''];
    const known = await conditionally(path, tags[0] ?? '');
    expect(known).toMatchObject({ status: 304 });
    expect(known.headers).not.toHaveProperty('link');
    for (const change of [
      () => withdrawPet(api, next),
      () => changePet(api, id, { name: 'Milo' }),
      () => withdrawPet(api, id),
    ]) {
      await change();
      const response = await conditionally(path, tags.at(-1) ?? '');
      expect(response).toMatchObject({ status: 200 });
      expect(response.headers).not.toHaveProperty('link');
      tags.push(response.headers['etag'] ?? '');
    }
    expect(new Set(tags).size).toBe(4);
    const order = await placeOrder(api);
    const before = (await get(api, `${ORDERS}/${order.id}`)).headers['etag'] ?? '';
    await end(api, 'cancel', order.id);
    expect(await conditionally(`${ORDERS}/${order.id}`, before)).toMatchObject({ status: 200 });
  });

  it.each(['/v1/rate_limit', '/v1/pets/999999999'])('is not on %s, and no condition changes that', async (path) => {
    const response = await conditionally(path, '*');
    expect([200, 404]).toContain(response.status);
    expect(response.headers).not.toHaveProperty('etag');
  });

  it.each(['a list', 'a category'])('is not on %s for a request that turns out not to be HTTP', async (name) => {
    const head = rawHead(api, `GET ${READABLE[name] ?? ''} HTTP/1.1`, ['If-None-Match: *', CHUNKED]);
    const refused = await sendOnce(api, `${head}zz\r\n`);
    expectError(refused, 400, 'bad_request');
    expect(refused.headers).not.toHaveProperty('etag');
  });
});
