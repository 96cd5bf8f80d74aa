import { MINUTE } from '@adoption-store/domain';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { useApi } from '../support/api.js';
import type { ErrorCode } from '../../apps/api/src/errors/error-codes.js';
import { expectError } from '../support/expectations.js';
import { rawHead, sendOnce } from '../support/pets-client.js';
import { sendRaw } from '../support/raw-http.js';

const LUNA = '{"name":"Luna","categoryId":1}';
const GET = 'GET /v1/pets HTTP/1.1';
const POST = 'POST /v1/pets HTTP/1.1';
const JSON_TYPE = 'Content-Type: application/json';

const api = useApi();

// Each test has its own minute, so that no test uses up another's quota.
beforeEach(() => {
  api.clock.advance(MINUTE);
});

afterEach(async () => {
  // A refused request stores nothing.
  expect(await api.application.listAnimals.execute()).toEqual({ items: [], next: undefined });
});

/** Expects exactly one response, this error, and a closed connection. */
async function expectOnly(bytes: string | Buffer, status: number, code: ErrorCode): Promise<string> {
  const responses = await sendRaw(api, bytes, Infinity);
  expect(responses).toHaveLength(1);
  expect(responses[0]?.headers['connection']).toBe('close');
  return expectError(responses[0], status, code);
}

describe('headers', () => {
  it.each([
    ['one header of 20 KiB', [`X-Long: ${'x'.repeat(20 * 1_024)}`]],
    ['one header of a megabyte', [`X-Long: ${'x'.repeat(1_024 * 1_024)}`]],
    ['a header name of 20 KiB', [`${'x'.repeat(20 * 1_024)}: x`]],
    ['400 headers of 50 bytes', Array.from({ length: 400 }, (_, index) => `X-${index}: ${'x'.repeat(45)}`)],
    ['an Authorization of 20 KiB', [`Authorization: Bearer ${'x'.repeat(20 * 1_024)}`]],
    ['a cookie of 20 KiB', [`Cookie: a=${'x'.repeat(20 * 1_024)}`]],
  ])('of %s are answered 431 headers_too_large', async (_case, headers) => {
    expectError(await sendOnce(api, rawHead(api, GET, headers)), 431, 'headers_too_large');
  });

  it('of 8 KiB are taken', async () => {
    expect(await sendOnce(api, rawHead(api, GET, [`X-Long: ${'x'.repeat(8 * 1_024)}`]))).toMatchObject({ status: 200 });
  });

  it.each([
    ['a space in a name', 'X Y: x'],
    ['a space before the colon', 'X-Y : x'],
    ['no colon', 'X-Y'],
    ['no name', ': x'],
    ['a name beyond ASCII', 'X-é: x'],
    ['U+0000 in a value', 'X-Y: a\0b'],
    ['a carriage return in a value', 'X-Y: a\rb'],
    ['a control character in a value', 'X-Y: a\x01b'],
    ['brackets in a name', 'X[Y]: x'],
  ])('with %s are answered 400 bad_request', async (_case, header) => {
    await expectOnly(rawHead(api, GET, [header]), 400, 'bad_request');
  });
});

describe('the Host header', () => {
  const withHost = (...hosts: readonly string[]) => rawHead(api, GET, hosts, [`Authorization: Bearer ${api.key}`]);

  it('is needed: without one the answer is 400 bad_request', async () => {
    expect(expectError(await sendOnce(api, withHost()), 400, 'bad_request')).toMatch(/Host/);
  });

  it('is needed before a key is asked for', async () => {
    expectError(await sendOnce(api, rawHead(api, GET, [], [])), 400, 'bad_request');
  });

  it('is not needed in HTTP/1.0', async () => {
    const bytes = rawHead(api, 'GET /v1/pets HTTP/1.0', [], [`Authorization: Bearer ${api.key}`]);
    expect(await sendOnce(api, bytes)).toMatchObject({ status: 200 });
  });

  it.each([
    ['is sent twice', ['Host: localhost', 'Host: example.com']],
    ['is sent twice alike', ['Host: localhost', 'host: localhost']],
    ['is empty', ['Host:']],
    ['has a space', ['Host: local host']],
    ['is a list', ['Host: localhost, example.com']],
    ['has a path', ['Host: localhost/v1']],
    ['is a URL', ['Host: http://localhost']],
    ['has a user', ['Host: root@localhost']],
    ['has a query', ['Host: localhost?x']],
    ['has a fragment', ['Host: localhost#x']],
    ['has a port that is no number', ['Host: localhost:http']],
    ['has a port of six digits', ['Host: localhost:123456']],
    ['has two ports', ['Host: localhost:80:80']],
    ['has an address that does not end', ['Host: [::1']],
    ['has markup', ['Host: <script>']],
    ['has quotes', ['Host: "localhost"']],
    ['has a backslash', ['Host: a\\b']],
    ['is beyond ASCII', ['Host: é.example']],
    ['has 300 characters', [`Host: ${'x'.repeat(300)}`]],
  ])('that %s is answered 400 bad_request', async (_case, hosts) => {
    expect(expectError(await sendOnce(api, withHost(...hosts)), 400, 'bad_request')).toMatch(/Host/);
  });

  it.each(['localhost', 'LOCALHOST:80', 'pets.example', 'a_b.example', '192.0.2.1:8080', '[::1]', '[2001:db8::1]:443'])(
    'may be %s',
    async (host) => {
      expect(await sendOnce(api, withHost(`Host: ${host}`))).toMatchObject({ status: 200 });
    },
  );
});

describe('a body whose length is in doubt is answered 400 bad_request:', () => {
  const chunked = ['Transfer-Encoding: chunked', JSON_TYPE];

  it.each([
    ['Content-Length and Transfer-Encoding', [...chunked, `Content-Length: ${LUNA.length}`]],
    ['Transfer-Encoding and Content-Length', [`Content-Length: ${LUNA.length}`, ...chunked]],
    ['two Content-Lengths', [JSON_TYPE, 'Content-Length: 30', 'Content-Length: 31']],
    ['a list of Content-Lengths', [JSON_TYPE, 'Content-Length: 30, 31']],
    ['a Content-Length that is a word', [JSON_TYPE, 'Content-Length: thirty']],
    ['a Content-Length below 0', [JSON_TYPE, 'Content-Length: -30']],
    ['a Content-Length with a plus', [JSON_TYPE, 'Content-Length: +30']],
    ['a Content-Length with a fraction', [JSON_TYPE, 'Content-Length: 30.0']],
    ['a Content-Length in hexadecimal', [JSON_TYPE, 'Content-Length: 0x1e']],
    ['a Content-Length that is empty', [JSON_TYPE, 'Content-Length:']],
    ['a Content-Length beyond 2^64', [JSON_TYPE, 'Content-Length: 99999999999999999999999']],
    ['a Transfer-Encoding without chunked', [JSON_TYPE, 'Transfer-Encoding: gzip']],
    ['a Transfer-Encoding that is unknown', [JSON_TYPE, 'Transfer-Encoding: xchunked']],
    ['a Transfer-Encoding that does not end in chunked', [JSON_TYPE, 'Transfer-Encoding: chunked, gzip']],
  ])('%s', async (_case, headers) => {
    await expectOnly(`${rawHead(api, POST, headers)}${LUNA}`, 400, 'bad_request');
  });

  it.each([
    ['a chunk size that is no number', `zz\r\n${LUNA}\r\n0\r\n\r\n`],
    ['a chunk size below 0', `-1\r\n${LUNA}\r\n0\r\n\r\n`],
    ['a chunk size that is too small', `5\r\n${LUNA}\r\n0\r\n\r\n`],
    ['a chunk size beyond 2^64', `fffffffffffffffffffff\r\n${LUNA}\r\n0\r\n\r\n`],
    ['a chunk without a size', `\r\n${LUNA}\r\n0\r\n\r\n`],
    ['a second chunk that is bad', `${LUNA.length.toString(16)}\r\n${LUNA}\r\nxyz\r\n\r\n`],
  ])('%s', async (_case, body) => {
    await expectOnly(`${rawHead(api, POST, chunked)}${body}`, 400, 'bad_request');
  });

  it('a bad chunk, to an operation without a body', async () => {
    await expectOnly(`${rawHead(api, 'GET /v1/cats HTTP/1.1', chunked)}zz\r\n`, 400, 'bad_request');
  });
});

describe('a request that is not HTTP/1.1 is answered 400 bad_request:', () => {
  it.each([
    ['HTTP/0.9', 'GET /v1/pets\r\n\r\n'],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['HTTP/2.0 in words', 'GET /v1/pets HTTP/2.0\r\nHost: x\r\n\r\n'],
    ['HTTP/9.9', 'GET /v1/pets HTTP/9.9\r\nHost: x\r\n\r\n'],
    ['another protocol', 'GET /v1/pets FTP/1.1\r\nHost: x\r\n\r\n'],
    ['a protocol in lower case', 'GET /v1/pets http/1.1\r\nHost: x\r\n\r\n'],
    ['a request line without a target', 'GET HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a request line with a space in its target', 'GET /v1/pets /x HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a target without a slash', 'GET v1/pets HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a tab in the request line', 'GET\t/v1/pets HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a TLS handshake', Buffer.from('16030100a5010000a10303', 'hex')],
    ['random bytes', Buffer.from('deadbeef00ff80c3280a0d0d0a0a', 'hex')],
    ['a line of words', 'hello world\r\n\r\n'],
    ['an SSH greeting', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['an answer instead of a request', 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'],
  ])('%s', async (_case, bytes) => {
    await expectOnly(bytes, 400, 'bad_request');
  });
});

describe('an Expect header', () => {
  it.each(['200-ok', '100', 'x=y'])('of %s is answered 417 expectation_failed', async (expectation) => {
    const response = await sendOnce(api, rawHead(api, GET, [`Expect: ${expectation}`]));
    expect(expectError(response, 417, 'expectation_failed')).toMatch(/Expect/);
  });

  it.each(['100-continue', '100-Continue'])('of %s is taken', async (expectation) => {
    expect(await sendOnce(api, rawHead(api, GET, [`Expect: ${expectation}`]))).toMatchObject({ status: 200 });
  });
});

describe('a connection', () => {
  it('that asks for an upgrade gets the answer in HTTP/1.1', async () => {
    const headers = ['Connection: Upgrade', 'Upgrade: websocket'];
    expect(await sendOnce(api, rawHead(api, GET, headers))).toMatchObject({ status: 200 });
  });

  it('goes on after a refused body that was never looked at', async () => {
    const refused = `${rawHead(api, POST, ['Content-Type: text/plain', 'Content-Length: 30'])}${LUNA}`;
    const [first, second] = await sendRaw(api, `${refused}${rawHead(api, GET)}`, 2);
    expectError(first, 400, 'unsupported_media_type');
    expect(second).toMatchObject({ status: 200, body: '[]' });
  });

  it('is answered in the order it asks', async () => {
    const targets = ['/v1/cats', '/v1/pets', '/v1/pets?limit=0', '/v1/pets/1'];
    const bytes = targets.map((target) => rawHead(api, `GET ${target} HTTP/1.1`)).join('');
    expect((await sendRaw(api, bytes, 4)).map(({ status }) => status)).toEqual([404, 200, 400, 404]);
  });

  it.each([
    ['a request that is not HTTP/1.1', 'GET /v1/pets\r\n\r\n'],
    ['a method in lower case without a target', 'garbage\r\n\r\n'],
    ['bytes', '\x16\x03\x01\r\n\r\n'],
  ])('that goes on with %s answers the good request first', async (_case, garbage) => {
    const [first, second] = await sendRaw(api, `${rawHead(api, GET)}${garbage}`, 2);
    expect(first).toMatchObject({ status: 200 });
    expectError(second, 400, 'bad_request');
  });
});
