import { describe, expect, it } from '@jest/globals';
import { CUT, exchange, type Part } from '@adoption-store/api/testing/raw-http';
import { useAttackedApi } from './attacked-api.js';
import { expectContract, type Outcome, outcomeOf } from './contract.js';

/** The parts to send, each as one packet, and every expected response. `{key}` stands for the hostile client's key. */
type Row = readonly [name: string, expected: Outcome | readonly Outcome[], ...parts: readonly Part[]];

const HOST = 'Host: pets.example';
const KEY = 'Authorization: Bearer {key}';
const GET = 'GET /v1/pets HTTP/1.1';
const JSON_TYPE = 'Content-Type: application/json';
const CHUNKED = 'Transfer-Encoding: chunked';
const KEEP = 'Connection: keep-alive';
const UPGRADE = ['Connection: Upgrade', 'Upgrade: websocket'];
const BODY = '{"name":"Luna","categoryId":1}';
const SIZE = BODY.length.toString(16);
const END = '0\r\n\r\n';
const LONG = 'x'.repeat(20_480);
/** A body in chunks of a byte. */
const BYTES = BODY.split('').map((byte) => `1\r\n${byte}\r\n`);

/** A request line and headers, byte for byte. */
const lines = (...all: readonly string[]) => `${all.join('\r\n')}\r\n\r\n`;
const line = (text: string) => lines(text, HOST, KEY);
const send = (method: string, target: string, ...headers: readonly string[]) =>
  lines(`${method} ${target} HTTP/1.1`, HOST, KEY, ...headers);
const get = (target: string, ...headers: readonly string[]) => send('GET', target, ...headers);
const good = get('/v1/pets');
const headed = (...headers: readonly string[]) => get('/v1/pets', ...headers);
const host = (...hosts: readonly string[]) => lines(GET, ...hosts, KEY);
const length = (value: string | number) => `Content-Length: ${value}`;
/** A POST with these framing headers, followed by these bytes. */
const framed = (headers: readonly string[], bytes: string, target = '/v1/pets') =>
  `${send('POST', target, JSON_TYPE, ...headers)}${bytes}`;
const lengths = (...values: readonly string[]) => framed(values.map(length), BODY);
const chunks = (bytes: string) => framed([CHUNKED], bytes);
const trailed = (trailer: string) => chunks(`${SIZE}\r\n${BODY}\r\n0\r\n${lines(trailer)}`);
const coded = (...headers: readonly string[]) => framed(headers, `${SIZE}\r\n${BODY}\r\n${END}`);
/** The same, and a good request behind it: none is answered once the framing was faulty. */
const miscoded = (...codings: readonly string[]) =>
  `${coded(...codings.map((coding) => `Transfer-Encoding: ${coding}`))}${good}`;
const inHttp10 = (text: string) => text.replace('HTTP/1.1', 'HTTP/1.0');
/** A POST of these bytes as JSON. */
const post = (body: string | Buffer, target = '/v1/pets', ...headers: readonly string[]) => {
  const bytes = Buffer.from(body);
  return Buffer.concat([Buffer.from(framed([length(bytes.length), ...headers], '', target), 'latin1'), bytes]);
};
/** An animal with one more property of this value. */
const pet = (value: string) => post(`{"name":"Luna","categoryId":1,"x":${value}}`);
const keys = (count: number) => Array.from({ length: count }, (_, index) => `"${index}":1`).join();
const hex = (digits: string) => Buffer.from(digits, 'hex');
const preflight = (...headers: readonly string[]) =>
  lines('OPTIONS /v1/pets HTTP/1.1', HOST, 'Access-Control-Request-Method: POST', ...headers);
const keyless = (...headers: readonly string[]) => lines('POST /v1/pets HTTP/1.1', HOST, JSON_TYPE, ...headers);
const headers = (count: number, size: number) =>
  Array.from({ length: count }, (_, index) => `X-${index}: ${'x'.repeat(size)}`);
/** A request that a proxy would see if it parsed the framing differently. */
const SMUGGLED = lines('GET /v1/smuggled HTTP/1.1', HOST);
const ALL = length(SMUGGLED.length);

const ROWS: Readonly<Record<string, readonly Row[]>> = {
  'a request line': [
    ['of an unknown method', 'method_not_allowed', line('FOO /v1/pets HTTP/1.1')],
    ['of a method with U+0000', 'bad_request', line('G\0T /v1/pets HTTP/1.1')],
    ['with a space before', 'bad_request', line(' GET /v1/pets HTTP/1.1')],
    ['with a space in its target', 'bad_request', line('GET /v1/pets /x HTTP/1.1')],
    ['without a target', 'bad_request', line('GET HTTP/1.1')],
    ['whose target never ends', 'uri_too_long', `GET /${'x'.repeat(70_000)}`],
    ['whose method never ends', 'bad_request', 'M'.repeat(70_000)],
    ['of HTTP/0.9', 'bad_request', 'GET /v1/pets\r\n\r\n'],
    ['of HTTP/1.0, which needs no host', 200, lines('GET /v1/pets HTTP/1.0', KEY)],
    ['with two spaces before its target', 200, line('GET  /v1/pets HTTP/1.1')],
    ['behind empty lines', 200, `${'\r\n'.repeat(100)}${good}`],
    ['in packets of a byte', 200, ...(good.match(/\{key\}|[^]/g) ?? [])],
    ['cut off in a header', 'bad_request', `${GET}\r\nHost: x`, CUT],
  ],
  'what another protocol begins with': [
    ['TLS', 'bad_request', hex('16030100f8010000f40303000102030405060708090a0b')],
    ['the PROXY protocol, version 1', 'bad_request', `PROXY TCP4 192.0.2.1 192.0.2.2 4711 80\r\n${good}`],
    ['HTTP/2', 'bad_request', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0'],
  ],
  'a method': [
    ['TRACE, without an echo', 'method_not_allowed', send('TRACE', '/v1/pets', 'X-Secret: a')],
    ['CONNECT', 'method_not_allowed', send('CONNECT', 'pets.example:443')],
    ['CONNECT behind a good request', [200, 'method_not_allowed'], `${good}${send('CONNECT', 'x:1')}`],
    ['HEAD, refused, and then GET', [400, 200], `${send('HEAD', '/v1/pets?limit=0')}${good}`],
    ['HEAD without a Host', 400, lines('HEAD /v1/pets HTTP/1.1', KEY)],
    ['OPTIONS of the server', 'not_found', send('OPTIONS', '*')],
    ['OPTIONS with a body', 204, `${send('OPTIONS', '/v1/pets', length(3))}abc`],
    ['GET with a body of 100 KiB', 200, `${get('/v1/pets', length(102_400))}${'x'.repeat(102_400)}`],
  ],
  'a target': [
    ['with a fragment', 'bad_request', get('/v1/pets#limit=1')],
    ['with a fragment, without a key', 'bad_request', lines('GET /v1/pets#limit=1 HTTP/1.1', HOST)],
    ['in absolute form, of another host', 200, get('http://evil.example/v1/pets')],
    ['in absolute form, of another scheme', 'not_found', get('ftp://pets.example/v1/pets')],
    ['without a slash', 'bad_request', get('v1/pets')],
    ['with a backslash', 'bad_request', get('\\v1\\pets')],
    ['beyond ASCII', 'bad_request', get('/v1/p\xe9ts')],
    ['that goes up to a file, overlong', 'bad_request', get('/..%c0%afetc%c0%afpasswd')],
    ['of a thousand segments', 'not_found', get('/a'.repeat(1_000))],
    ['of 2,700 percent-encodings, the last of them bad', 'bad_request', get(`/${'%2f'.repeat(2_700)}%`)],
    ['of a query that would reach a prototype', 'invalid_parameter', get('/v1/pets?__proto__[limit]=0')],
    ['of a cursor of U+0000', 'invalid_parameter', get('/v1/pets?cursor=AA')],
  ],
  'a header': [
    ['that is folded', 'bad_request', headed('X-Folded: a\r\n b')],
    ['with a space before the colon', 'bad_request', headed('X-Y : z')],
    ['with U+0000 in its value', 'bad_request', headed('X-Y: a\0b')],
    ['with a line feed in its value', 'bad_request', headed('X-Y: a\nX-Z: b')],
    ['behind which the empty line is a line feed', 'bad_request', `${GET}\r\n${HOST}\r\n${KEY}\r\n\n`],
    ['of 8 KiB', 200, headed(...headers(1, 8_192))],
    ['of 20 KiB', 'headers_too_large', headed(...headers(1, 20_480))],
    ['among 1,900 small ones', 'headers_too_large', headed(...headers(1_900, 8))],
    ['that never ends', 'headers_too_large', `${GET}\r\n${HOST}\r\nX-Y: ${'x'.repeat(70_000)}`],
    ['of __proto__', 200, headed('__proto__: x', 'constructor: y', 'toString: z')],
    ['of a proxy, with another host', 200, headed('X-Forwarded-Host: evil.example', 'X-Forwarded-Proto: javascript')],
  ],
  'a header that is sent twice, the': [
    [
      'Content-Type, the right one first',
      'unsupported_media_type',
      framed(['Content-Type: text/plain', length(30)], BODY),
    ],
    ['If-Match', 'invalid_parameter', headed('If-Match: *', 'If-Match: *')],
    ['If-Modified-Since', 'invalid_parameter', headed('If-Modified-Since: 0', 'If-Modified-Since: 0')],
    ['Idempotency-Key', 'invalid_parameter', post(BODY, '/v1/pets', 'Idempotency-Key: a', 'Idempotency-Key: b')],
    ['Origin', 'invalid_parameter', headed('Origin: null', 'Origin: http://a.example')],
    ['method of a preflight', 'invalid_parameter', preflight('Origin: null', 'Access-Control-Request-Method: PUT')],
    [
      'Authorization, which is judged first',
      'invalid_api_key',
      headed('Authorization: Bearer x', 'If-Match: *', 'If-Match: *'),
    ],
    ['X-Request-Id, of which neither is kept', 200, headed('X-Request-Id: a', 'X-Request-Id: b')],
    ['traceparent, which begins another trace', 200, headed('traceparent: a', 'traceparent: b')],
    [
      'ones that may be a list',
      200,
      headed('Accept: a', 'Accept: b', 'X-Forwarded-For: 192.0.2.1', 'X-Forwarded-For: 192.0.2.2'),
    ],
  ],
  'a Host': [
    ['that is missing', 'bad_request', host()],
    ['that is sent twice', 'bad_request', host(HOST, 'host: pets.example')],
    ['that is a list', 'bad_request', host('Host: pets.example, evil.example')],
    ['of 300 characters', 'bad_request', host(`Host: ${'x'.repeat(300)}`)],
    ['of another name', 200, host('Host: evil.example')],
    ['of an address of IPv6, with a port', 200, host('Host: [2001:db8::1]:443')],
  ],
  'an Expect or an Upgrade': [
    ['of an unknown expectation', 'expectation_failed', headed('Expect: 200-ok')],
    ['of an unknown one, and then a good request', ['expectation_failed', 200], `${headed('Expect: x')}${good}`],
    ['of 100-continue, and the body later', 201, framed([length(30), 'Expect: 100-continue'], ''), BODY],
    ['to a WebSocket, which ends the connection', 200, `${headed(...UPGRADE)}${good}`],
    ['to a WebSocket, without a key', 'missing_api_key', lines(GET, HOST, ...UPGRADE)],
  ],
  'a Content-Length': [
    ['of a word', 'bad_request', lengths('thirty')],
    ['that is empty', 'bad_request', lengths('')],
    ['beyond 2^64', 'bad_request', lengths('18446744073709551646')],
    ['sent twice', 'bad_request', lengths('30', '30')],
    ['too great: the body is cut off', 'bad_request', lengths('31'), CUT],
    ['too great, under an Idempotency-Key', 'bad_request', framed([length(31), 'Idempotency-Key: cut'], BODY), CUT],
    ['too small: the rest is no request', ['invalid_json', 'bad_request'], framed([length(29)], `${BODY}\r\n\r\n`)],
    ['that is missing', ['invalid_json', 'bad_request'], framed([], BODY)],
    ['of 2^64 - 1, which nobody waits for', 'payload_too_large', lengths('18446744073709551615')],
    ['of 64 KiB', 'invalid_json', post(' '.repeat(65_536))],
    ['of 64 KiB and a byte', 'payload_too_large', post(' '.repeat(65_537))],
  ],
  'a Transfer-Encoding': [
    ['beside a Content-Length', 'bad_request', coded(CHUNKED, length(30))],
    ['behind a Content-Length of 0', 'bad_request', coded(length(0), CHUNKED)],
    ['without chunked', 'bad_request', coded('Transfer-Encoding: gzip')],
    ['sent twice', 'bad_request', coded(CHUNKED, 'Transfer-Encoding: gzip')],
    ['of another coding before chunked', 'bad_request', miscoded('gzip, chunked')],
    ['of another coding, on a line before chunked', 'bad_request', miscoded('gzip', 'chunked')],
    ['of identity before chunked', 'bad_request', miscoded('identity, chunked')],
    ['of chunked twice', 'bad_request', miscoded('chunked, chunked')],
    ['of chunked on two lines', 'bad_request', miscoded('chunked', 'chunked')],
    ['of an empty line before chunked', 'bad_request', miscoded('', 'chunked')],
    ['of chunked and a comma', 'bad_request', miscoded('chunked,')],
    ['of a comma and chunked', 'bad_request', miscoded(', chunked')],
    ['of chunked with a parameter', 'bad_request', miscoded('chunked;q=1')],
    ['of chunked in quotes', 'bad_request', miscoded('"chunked"')],
    ['of chunked behind a vertical tab', 'bad_request', miscoded('\x0bchunked')],
    ['that is empty', 'bad_request', miscoded('')],
    ['that is empty, at a long URL', 'bad_request', framed(['Transfer-Encoding:'], good, `/${LONG.slice(0, 9_000)}`)],
    ['of another coding, on GET', 'bad_request', `${headed('Transfer-Encoding: gzip, chunked')}${END}${good}`],
    ['in HTTP/1.0', 'bad_request', inHttp10(miscoded('chunked'))],
    ['in HTTP/1.0 that is to be kept alive', 'bad_request', inHttp10(coded(CHUNKED, KEEP)) + good],
    ['in HTTP/1.0, beside a Content-Length', 'bad_request', inHttp10(coded(CHUNKED, length(30), KEEP)) + good],
    ['of chunked in other letters, with white space', [201, 200], miscoded('  CHUNKed ')],
  ],
  'a chunk': [
    ['whose size is no number', 'bad_request', chunks(`zz\r\n${BODY}\r\n${END}`)],
    ['whose size is beyond 2^64', 'bad_request', chunks(`1${'0'.repeat(16)}\r\n${BODY}\r\n${END}`)],
    ['whose size never ends', 'bad_request', chunks('f'.repeat(70_000))],
    ['whose data does not end', 'bad_request', chunks(`${SIZE}\r\n${BODY}${END}`)],
    ['whose data is cut off', 'bad_request', chunks(`${SIZE}\r\n${BODY.slice(0, 9)}`), CUT],
    ['behind which the last is missing', 'bad_request', chunks(`${SIZE}\r\n${BODY}\r\n`), CUT],
    ['with an extension that has a line feed', 'bad_request', chunks(`${SIZE};a=b\nc\r\n${BODY}\r\n${END}`)],
    ['with a long extension', 'payload_too_large', chunks(`${SIZE};a=${LONG}\r\n${BODY}\r\n${END}`)],
    ['with a trailer that is no header', 'bad_request', trailed('no header')],
    ['with a long trailer', 'headers_too_large', trailed(`X-Y: ${LONG}`)],
    ['with a trailer that is a key', 'missing_api_key', `${keyless(CHUNKED)}${SIZE}\r\n${BODY}\r\n0\r\n${lines(KEY)}`],
    ['that is bad, at an unknown path', 'bad_request', framed([CHUNKED], 'x\r\n', '/v1/cats')],
    ['of a byte, 8,192 times', 'invalid_json', chunks(`${'1\r\n \r\n'.repeat(8_192)}${END}`)],
    ['of a byte, 8,193 times, which breaks the connection off', [], chunks('1\r\n \r\n'.repeat(8_193))],
    ['of a byte, each in a packet', 201, chunks(''), ...BYTES, END],
    ['with all that is allowed', 201, chunks(`00${SIZE};a="b c"\r\n${BODY}\r\n0;x\r\nX-Y: z\r\n\r\n`)],
    ['that cuts a character in two', 201, chunks(`c\r\n{"name":"Zo\xc3\r\n13\r\n\xab","categoryId": 1}\r\n${END}`)],
  ],
  'a request that is smuggled': [
    ['by both framings', 'bad_request', framed([length(5 + SMUGGLED.length), CHUNKED], `${END}${SMUGGLED}`)],
    ['by a Content-Length behind a line feed', 'bad_request', framed([`X-Y: z\n${ALL}`], SMUGGLED)],
    ['by an unknown Transfer-Encoding', 'bad_request', framed(['Transfer-Encoding: xchunked', ALL], SMUGGLED)],
    ['by a chunk extension that hides a line', 'bad_request', chunks(`2;a\nxx\r\n4c\r\n${END}${SMUGGLED}`)],
    ['by a chunk size that wraps at 2^64', 'bad_request', chunks(`10000000000000001\r\na\r\n${END}${SMUGGLED}`)],
    ['in a body of GET', 200, `${headed(ALL)}${SMUGGLED}`],
    ['in a body of a refused method', 'method_not_allowed', `${send('TRACE', '/v1/pets', ALL)}${SMUGGLED}`],
    ['in a body of an unknown path', 'not_found', framed([ALL], SMUGGLED, '/v1/cats')],
    ['in a body without a key', 'missing_api_key', `${keyless(ALL)}${SMUGGLED}`],
    ['in a body behind an odd Expect', 'expectation_failed', framed(['Expect: x', ALL], SMUGGLED)],
    ['in a body of an operation that reads none', 'not_found', framed([ALL], SMUGGLED, '/v1/store/orders/x/cancel')],
  ],
  'requests in one packet': [
    ['100 good ones', Array.from({ length: 100 }, () => 200), get('/v1/pets?limit=1').repeat(100)],
    [
      'good and bad ones in turn',
      ['not_found', 200, 'invalid_parameter', 200],
      get('/v1/cats') + good + get('/v1/pets?limit=0') + good,
    ],
    ['a good one and a body that is cut off', [200, 'bad_request'], `${good}${lengths('31')}`, CUT],
    ['one without a key, and a good one', ['missing_api_key', 200], `${lines(GET, HOST)}${good}`],
    ['a good one that closes, and another', 200, `${headed('Connection: close')}${good}`],
    ['a slow one and U+0000', [201, 'bad_request'], post(BODY).toString() + '\0'],
  ],
  'a body': [
    ['with a property twice among 3,000', 'invalid_json', pet(`{${keys(2_999)},"0":1}`)],
    ['in gzip', 'unsupported_media_type', post(BODY, '/v1/pets', 'Content-Encoding: gzip')],
    ['of 65,000 levels that never end', 'invalid_json', post('['.repeat(65_000))],
    ['of a message of mail headers', 202, post('{"message":"x\\r\\n.\\r\\nQUIT\\r\\n"}', '/v1/messages')],
    ['that nobody reads', 'not_found', post('['.repeat(10_000), '/v1/store/orders/x/complete')],
  ],
};

const api = useAttackedApi();
/** The animals that a row has created. */
const created = new Set<string | undefined>();

describe.each(Object.entries(ROWS))('%s', (_group, rows) => {
  it.each(rows.map((row) => [row[0], row] as const))('%s', async (_name, [, expected, ...parts]) => {
    const outcomes = [expected].flat();
    const responses = await exchange(api.target, outcomes.length, parts.map(withKey));
    expect(responses.map(outcomeOf)).toEqual(outcomes);
    responses.forEach(expectContract);
    for (const { status, headers } of responses) if (status === 201) created.add(headers['location']);
    await api.expectUnharmed();
  });
});

it('a refused request stores nothing, and a smuggled one does nothing', async () => {
  expect(await api.countOfPets()).toBe(created.size);
});

function withKey(part: Part): Part {
  return part === CUT ? CUT : Buffer.from(part.toString('latin1').replaceAll('{key}', api.key), 'latin1');
}
