import { MINUTE } from '@adoption-store/domain';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { useApi } from '../support/api.js';
import { expectError } from '../support/expectations.js';
import { bearer, createPet, rawHead, sendOnce } from '../support/pets-client.js';
import { request, sendRaw } from '../support/raw-http.js';

const LUNA = '{"name":"Luna","categoryId":1}';
const MAX_BODY_BYTES = 65_536;
const JSON_TYPE = 'Content-Type: application/json';
const REQUEST_LINE = 'POST /v1/pets HTTP/1.1';

const api = useApi();

// Each test has its own minute, so that no test uses up another's quota.
beforeEach(() => {
  api.clock.advance(MINUTE);
});

afterEach(async () => {
  // A refused request stores nothing.
  expect(await api.application.listAnimals.execute()).toEqual({ items: [], next: undefined });
});

describe('POST /v1/pets answers 400 unsupported_media_type to', () => {
  it('a body without a Content-Type', async () => {
    const message = expectError(await createPet(api, LUNA, {}), 400, 'unsupported_media_type');
    expect(message).toMatch(/Content-Type.*application\/json/);
  });

  it('no body and no Content-Type', async () => {
    expectError(await createPet(api, '', {}), 400, 'unsupported_media_type');
  });

  it.each([
    '',
    'text/plain',
    'text/json',
    'text/html',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/xml',
    'application/octet-stream',
    'application/jsonp',
    'application/json5',
    'application/x-json',
    'application/json-patch+json',
    'application/vnd.api+json',
    'application/problem+json',
    'application',
    'application/*',
    '*/*',
    'json',
    'text/plain; application/json',
    'text/plain, application/json',
    'application/json, text/plain',
  ])('the Content-Type "%s"', async (type) => {
    const response = await createPet(api, LUNA, { 'Content-Type': type });
    expect(expectError(response, 400, 'unsupported_media_type')).toMatch(/Content-Type.*application\/json/);
  });

  it.each(['iso-8859-1', 'latin1', 'us-ascii', 'utf-16', 'utf-32', 'windows-1252', '"utf-16"', 'utf-8x', ''])(
    'the charset %s',
    async (charset) => {
      const response = await createPet(api, LUNA, { 'Content-Type': `application/json; charset=${charset}` });
      expect(expectError(response, 400, 'unsupported_media_type')).toMatch(/Content-Type.*UTF-8/);
    },
  );

  it('two charsets of which one is UTF-8', async () => {
    const type = 'application/json; charset=utf-8; charset=utf-16';
    expectError(await createPet(api, LUNA, { 'Content-Type': type }), 400, 'unsupported_media_type');
  });

  it.each(['gzip', 'deflate', 'br', 'zstd', 'compress', 'x-gzip', 'GZIP', 'gzip, identity', 'unknown'])(
    'the Content-Encoding %s',
    async (encoding) => {
      const headers = { 'Content-Type': 'application/json', 'Content-Encoding': encoding };
      const message = expectError(await createPet(api, LUNA, headers), 400, 'unsupported_media_type');
      expect(message).toContain('Content-Encoding');
    },
  );

  it('another media type before it looks at the body', async () => {
    expectError(await createPet(api, '{', { 'Content-Type': 'text/plain' }), 400, 'unsupported_media_type');
  });
});

describe('POST /v1/pets answers 413', () => {
  const tooLarge = `{"name":"Luna","categoryId":1,"x":"${'x'.repeat(MAX_BODY_BYTES + 1 - 37)}"}`;
  const chunkedHead = () => rawHead(api, REQUEST_LINE, [JSON_TYPE, 'Transfer-Encoding: chunked']);
  const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;

  it('to a body of 64 KiB and a byte', async () => {
    expect(Buffer.byteLength(tooLarge)).toBe(MAX_BODY_BYTES + 1);
    expect(expectError(await createPet(api, tooLarge), 413, 'payload_too_large')).toContain(String(MAX_BODY_BYTES));
  });

  it('to a body of 64 KiB and a byte in one chunk', async () => {
    expectError(await sendOnce(api, `${chunkedHead()}${chunk(tooLarge)}0\r\n\r\n`), 413, 'payload_too_large');
  });

  it('to a body of 64 KiB and a byte in many chunks', async () => {
    const chunks = tooLarge.match(/.{1,1000}/g) ?? [];
    const bytes = `${chunkedHead()}${chunks.map(chunk).join('')}0\r\n\r\n`;
    expectError(await sendOnce(api, bytes), 413, 'payload_too_large');
  });

  it('to a body of a megabyte', async () => {
    const headers = [JSON_TYPE, 'Content-Length: 1000000'];
    const bytes = `${rawHead(api, REQUEST_LINE, headers)}${'x'.repeat(1_000_000)}`;
    expectError(await sendOnce(api, bytes), 413, 'payload_too_large');
  });

  it.each([String(MAX_BODY_BYTES + 1), '1000000000000'])(
    'to a Content-Length of %s before the body is sent',
    async (length) => {
      const bytes = rawHead(api, REQUEST_LINE, [JSON_TYPE, `Content-Length: ${length}`]);
      expectError(await sendOnce(api, bytes), 413, 'payload_too_large');
    },
  );

  it('to chunks that never end as soon as they are too many', async () => {
    const bytes = `${chunkedHead()}${chunk('x'.repeat(MAX_BODY_BYTES))}${chunk('x')}`;
    expectError(await sendOnce(api, bytes), 413, 'payload_too_large');
  });

  it('once, takes nothing of the body for a request, and answers the next one on the connection', async () => {
    const smuggled = rawHead(api, 'DELETE /v1/pets HTTP/1.1');
    const padding = 'x'.repeat(MAX_BODY_BYTES);
    const headers = [JSON_TYPE, `Content-Length: ${padding.length + smuggled.length}`];
    const next = rawHead(api, 'GET /v1/pets?limit=1 HTTP/1.1');
    const responses = await sendRaw(api, `${rawHead(api, REQUEST_LINE, headers)}${smuggled}${padding}${next}`, 2);
    expect(responses.map(({ status }) => status)).toEqual([413, 200]);
    expectError(responses[0], 413, 'payload_too_large');
  });

  it('only after the media type was right', async () => {
    const headers = ['Content-Type: text/plain', `Content-Length: ${MAX_BODY_BYTES + 1}`];
    expectError(await sendOnce(api, rawHead(api, REQUEST_LINE, headers)), 400, 'unsupported_media_type');
  });
});

describe('POST /v1/pets answers 401 before it looks at', () => {
  const json = { 'Content-Type': 'application/json' };
  const post = (body: string, headers: Readonly<Record<string, string>>) =>
    request(api, '/v1/pets', { method: 'POST', headers, body });

  it.each([
    ['a good body', LUNA, json],
    ['a body that is not JSON', '{', json],
    ['an empty body', '', json],
    ['a body with bad fields', '{"name":7}', json],
    ['another media type', LUNA, { 'Content-Type': 'text/plain' }],
    ['a missing media type', LUNA, {}],
    ['a Content-Encoding', LUNA, { ...json, 'Content-Encoding': 'gzip' }],
  ])('%s', async (_case, body, headers) => {
    expectError(await post(body, headers), 401, 'missing_api_key');
    expectError(await post(body, { ...headers, ...bearer('nonsense') }), 401, 'invalid_api_key');
  });

  it.each([
    ['a Content-Length that is too large', `Content-Length: ${MAX_BODY_BYTES + 1}`, ''],
    ['a body that never comes', 'Content-Length: 10', ''],
    ['chunks that never come', 'Transfer-Encoding: chunked', ''],
    ['a body that is too large', `Content-Length: ${MAX_BODY_BYTES + 1}`, 'x'.repeat(MAX_BODY_BYTES + 1)],
  ])('%s', async (_case, header, body) => {
    const head = rawHead(api, REQUEST_LINE, [JSON_TYPE, header], ['Host: localhost']);
    expectError(await sendOnce(api, `${head}${body}`), 401, 'missing_api_key');
  });
});

describe('POST /v1/pets answers within two seconds to a body made to be slow:', () => {
  it.each([
    ['6,000 properties', `{${Array.from({ length: 6_000 }, (_, index) => `"${index}":1`).join()}}`],
    ['4,000 properties that share their ends', `{${Array.from({ length: 4_000 }, (_, i) => `"${i}aaaaaa":1`).join()}}`],
    ['30,000 elements', `{"name":[${'1,'.repeat(30_000)}1]}`],
    ['60,000 digits', `{"name":"Luna","categoryId":${'9'.repeat(60_000)}}`],
    ['60,000 digits behind the point', `{"name":"Luna","categoryId":0.${'9'.repeat(60_000)}}`],
    ['30,000 escapes', `{"name":"${'\\n'.repeat(30_000)}"}`],
    ['60,000 spaces in a name', `{"name":"${' '.repeat(60_000)}x","categoryId":1}`],
    ['60,000 spaces between tokens', `{${' '.repeat(60_000)}"name":7}`],
    ['a string of 60,000 characters that never ends', `{"name":"${'x'.repeat(60_000)}`],
    ['30,000 backslashes that never end', `{"name":"${'\\'.repeat(60_001)}`],
  ])('%s', async (_case, body) => {
    const startedAt = performance.now();
    expect(await createPet(api, body)).toMatchObject({ status: 400 });
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });
});
