import { CUT } from '../support/raw-http.js';
import { ask, type Case, describeHostile, framed, get, lines, post } from './hostile-api.js';

const BODY = '{"name":"Luna","categoryId":1}';
const SIZE = BODY.length.toString(16);
const CHUNKED = 'Transfer-Encoding: chunked';
const JSON_TYPE = 'Content-Type: application/json';
const END = '0\r\n\r\n';
const length = (value: string | number) => `Content-Length: ${value}`;
const chunks = (bytes: string) => framed([CHUNKED], bytes);
const lengths = (...values: readonly string[]) => framed(values.map(length), BODY);
const coded = (...codings: readonly string[]) =>
  framed(
    codings.map((coding) => `Transfer-Encoding:${coding}`),
    `${SIZE}\r\n${BODY}\r\n${END}`,
  );
/** A request that a proxy would see if it parsed the framing differently. */
const SMUGGLED = lines('GET /v1/smuggled HTTP/1.1', 'Host: pets.example');

describeHostile({
  'a Content-Length is refused': [
    ['of 1e1', 'bad_request', lengths('1e1')],
    ['of digits with a separator', 'bad_request', lengths('3_0')],
    ['of digits with a comma', 'bad_request', lengths('3,0')],
    ['of digits with a space inside', 'bad_request', lengths('3 0')],
    ['of digits and a letter', 'bad_request', lengths('30x')],
    ['of digits and U+0000', 'bad_request', lengths('30\0')],
    ['of a minus and zero', 'bad_request', lengths('-0')],
    ['in quotes', 'bad_request', lengths('"30"')],
    ['in full-width digits', 'bad_request', lengths('\xef\xbc\x93\xef\xbc\x90')],
    ['of Infinity', 'bad_request', lengths('Infinity')],
    ['of NaN', 'bad_request', lengths('NaN')],
    ['of 2^64', 'bad_request', lengths('18446744073709551616')],
    ['of 2^64 + 30', 'bad_request', lengths('18446744073709551646')],
    ['of 10,000 digits', 'bad_request', lengths('9'.repeat(10_000))],
    ['twice the same', 'bad_request', lengths('30', '30')],
    ['twice, the first empty', 'bad_request', lengths('', '30')],
    ['twice, the second with a leading zero', 'bad_request', lengths('30', '030')],
    ['as a list of the same', 'bad_request', lengths('30, 30')],
    ['three times', 'bad_request', lengths('30', '30', '30')],
    ['on a folded line', 'bad_request', lengths('\r\n 30')],
    ['that is negative, of GET', 'bad_request', get('/v1/pets', length(-1))],
    ['that is a word, of OPTIONS', 'bad_request', ask('OPTIONS', '/v1/pets', length('x'))],
    ['twice, at an unknown path', 'bad_request', framed([length(1), length(2)], 'ab', '/v1/cats')],
    ['twice, without a key', 'bad_request', lines('GET /v1/pets HTTP/1.1', 'Host: x', length(0), length(1))],
  ],
  'a Content-Length is answered': [
    ['2^53, which nobody waits for', 'payload_too_large', framed([length(2 ** 53)], BODY)],
    ['2^64 - 1, which nobody waits for', 'payload_too_large', framed([length('18446744073709551615')], BODY)],
    ['with leading zeros', 201, framed([length('00000000000000000030')], BODY)],
    ['with spaces around', 201, framed(['Content-Length:   30   '], BODY)],
    ['too great: the body is cut off', 'bad_request', framed([length(31)], BODY), CUT],
    ['far too great, within the limit', 'bad_request', framed([length(60_000)], BODY), CUT],
    [
      'too small: JSON is cut off and the rest no request',
      ['invalid_json', 'bad_request'],
      framed([length(29)], `${BODY}\r\n\r\n`),
    ],
    ['0 of a POST, with a body behind', ['invalid_json', 'bad_request'], framed([length(0)], BODY)],
    ['none of a POST, with a body behind', ['invalid_json', 'bad_request'], framed([], BODY)],
    ['of 64 KiB, all white space', 'invalid_json', framed([length(65_536)], ' '.repeat(65_536))],
    [
      'of 64 KiB and a byte, without a key',
      'missing_api_key',
      `${lines('POST /v1/pets HTTP/1.1', 'Host: x', JSON_TYPE, length(65_537))}${' '.repeat(65_537)}`,
    ],
    ['of 64 KiB and a byte, at an unknown path', 'not_found', framed([length(65_537)], ' '.repeat(65_537), '/v1/cats')],
    [
      'of 64 KiB and a byte, to an operation that reads none',
      'not_found',
      framed([length(65_537)], ' '.repeat(65_537), '/v1/store/orders/1/complete'),
    ],
    [
      'of 64 KiB and a byte, of an order',
      'payload_too_large',
      framed([length(65_537)], ' '.repeat(65_537), '/v1/store/orders'),
    ],
    [
      'of a megabyte, and then a good request',
      ['payload_too_large', 200],
      `${framed([length(1_000_000)], ' '.repeat(1_000_000))}${get('/v1/pets')}`,
    ],
  ],
  'a Transfer-Encoding is refused': [
    ['with a vertical tab before chunked', 'bad_request', coded(' \vchunked')],
    ['with chunked twice', 'bad_request', coded(' chunked, chunked')],
    ['with chunked in quotes', 'bad_request', coded(' "chunked"')],
    ['with chunked and a letter', 'bad_request', coded(' chunkedx')],
    ['with chunked and a parameter', 'bad_request', coded(' chunked;q=1')],
    ['with chunked and U+0000', 'bad_request', coded(' chunked\0')],
    ['of chunked and identity', 'bad_request', coded(' chunked, identity')],
    ['of identity', 'bad_request', coded(' identity')],
    ['of a comma', 'bad_request', coded(' ,')],
    ['that is empty', 'bad_request', coded('')],
    ['sent twice, chunked first', 'bad_request', coded(' chunked', ' gzip')],
    ['of a colon and chunked', 'bad_request', coded(': chunked')],
    ['on a folded line', 'bad_request', coded('\r\n chunked')],
    [
      'with a space before the colon',
      'bad_request',
      framed(['Transfer-Encoding : chunked'], `${SIZE}\r\n${BODY}\r\n${END}`),
    ],
    [
      'with a carriage return before',
      'bad_request',
      framed(['X-Y: z\rTransfer-Encoding: chunked'], `${SIZE}\r\n${BODY}\r\n${END}`),
    ],
    [
      'with a line feed before',
      'bad_request',
      framed(['X-Y: z\nTransfer-Encoding: chunked'], `${SIZE}\r\n${BODY}\r\n${END}`),
    ],
    ['of chunked beside a Content-Length of 0', 'bad_request', framed([CHUNKED, length(0)], END)],
    ['of gzip beside a Content-Length', 'bad_request', framed(['Transfer-Encoding: gzip', length(30)], BODY)],
    ['of identity beside a Content-Length', 'bad_request', framed(['Transfer-Encoding: identity', length(30)], BODY)],
    ['of chunked beside a Content-Length, of GET', 'bad_request', `${get('/v1/pets', CHUNKED, length(5))}${END}`],
  ],
  'a Transfer-Encoding is taken': [
    ['of CHUNKED', 201, coded(' CHUNKED')],
    ['of chunked with spaces behind', 201, coded(' chunked   ')],
    ['of chunked without a space before', 201, coded('chunked')],
    ['of chunked, of GET', 200, `${get('/v1/pets', CHUNKED)}${END}`],
  ],
  'a chunk is refused': [
    ['whose size is empty', 'bad_request', chunks(`\r\n\r\n${END}`)],
    ['whose size has a plus', 'bad_request', chunks(`+${SIZE}\r\n${BODY}\r\n${END}`)],
    ['whose size has a prefix', 'bad_request', chunks(`0x${SIZE}\r\n${BODY}\r\n${END}`)],
    ['whose size has a space before', 'bad_request', chunks(` ${SIZE}\r\n${BODY}\r\n${END}`)],
    ['whose size has a space behind', 'bad_request', chunks(`${SIZE} \r\n${BODY}\r\n${END}`)],
    ['whose size has a letter behind', 'bad_request', chunks(`${SIZE}g\r\n${BODY}\r\n${END}`)],
    ['whose size has a fraction', 'bad_request', chunks(`${SIZE}.0\r\n${BODY}\r\n${END}`)],
    ['whose size has U+0000 behind', 'bad_request', chunks(`${SIZE}\0\r\n${BODY}\r\n${END}`)],
    ['whose size has 17 digits', 'bad_request', chunks(`1${'0'.repeat(16)}\r\n${BODY}\r\n${END}`)],
    ['whose size never ends', 'bad_request', chunks('f'.repeat(70_000))],
    ['whose size ends in a line feed alone', 'bad_request', chunks(`${SIZE}\n${BODY}\r\n${END}`)],
    ['whose size ends in a carriage return alone', 'bad_request', chunks(`${SIZE}\r${BODY}\r\n${END}`)],
    ['whose data ends in a line feed alone', 'bad_request', chunks(`${SIZE}\r\n${BODY}\n${END}`)],
    ['whose data does not end', 'bad_request', chunks(`${SIZE}\r\n${BODY}${END}`)],
    ['whose data is too long', 'bad_request', chunks(`1d\r\n${BODY}\r\n${END}`)],
    ['whose data is too short', 'bad_request', chunks(`1f\r\n${BODY}\r\n${END}`)],
    ['whose data is cut off', 'bad_request', chunks(`${SIZE}\r\n${BODY.slice(0, 9)}`), CUT],
    ['behind which the last is missing', 'bad_request', chunks(`${SIZE}\r\n${BODY}\r\n`), CUT],
    ['behind which the end is missing', 'bad_request', chunks(`${SIZE}\r\n${BODY}\r\n0\r\n`), CUT],
    ['behind which the end is a line feed', 'bad_request', chunks(`${SIZE}\r\n${BODY}\r\n0\r\n\n`)],
    ['with an extension that has a line feed', 'bad_request', chunks(`${SIZE};a=b\nc\r\n${BODY}\r\n${END}`)],
    ['with an extension that has U+0000', 'bad_request', chunks(`${SIZE};a=\0\r\n${BODY}\r\n${END}`)],
    ['with an extension that ends in quotes', 'bad_request', chunks(`${SIZE};a="b\r\n${BODY}\r\n${END}`)],
    [
      'with an extension of 20 KiB',
      'payload_too_large',
      chunks(`${SIZE};a=${'b'.repeat(20_480)}\r\n${BODY}\r\n${END}`),
    ],
    ['with a trailer that is no header', 'bad_request', chunks(`${SIZE}\r\n${BODY}\r\n0\r\nno header\r\n\r\n`)],
    ['with a trailer that is a length', 'bad_request', chunks(`${SIZE}\r\n${BODY}\r\n0\r\nContent-Length: 9\r\n\r\n`)],
    ['with a trailer that is folded', 'bad_request', chunks(`${SIZE}\r\n${BODY}\r\n0\r\nX-Y: a\r\n b\r\n\r\n`)],
    ['with a trailer that has U+0000', 'bad_request', chunks(`${SIZE}\r\n${BODY}\r\n0\r\nX-Y: \0\r\n\r\n`)],
    [
      'with a trailer of 20 KiB',
      'headers_too_large',
      chunks(`${SIZE}\r\n${BODY}\r\n0\r\nX-Y: ${'x'.repeat(20_480)}\r\n\r\n`),
    ],
    ['that is bad, at an unknown path', 'bad_request', framed([CHUNKED], 'x\r\n', '/v1/cats')],
    ['that is bad, of an order', 'bad_request', framed([CHUNKED], 'x\r\n', '/v1/store/orders')],
    ['that is bad, of a message', 'bad_request', framed([CHUNKED], 'x\r\n', '/v1/messages')],
    ['that is bad, of an ending', 'bad_request', framed([CHUNKED], 'x\r\n', '/v1/store/orders/1/cancel')],
    ['that is bad, with an Idempotency-Key', 'bad_request', framed([CHUNKED, 'Idempotency-Key: chunk'], 'x\r\n')],
  ],
  'chunks are taken': [
    [
      'of a byte each',
      201,
      chunks(
        BODY.split('')
          .map((byte) => `1\r\n${byte}\r\n`)
          .join('') + END,
      ),
    ],
    ['of a byte each, a packet each', 201, chunks(''), ...BODY.split('').map((byte) => `1\r\n${byte}\r\n`), END],
    ['whose sizes have leading zeros', 201, chunks(`00000000000000${SIZE}\r\n${BODY}\r\n000${END}`)],
    ['whose sizes are in capitals', 201, chunks(`1E\r\n${BODY}\r\n${END}`)],
    ['with an extension without a name', 201, chunks(`${SIZE};=b\r\n${BODY}\r\n${END}`)],
    [
      'with extensions of 20 KiB in all',
      201,
      chunks(
        BODY.split('')
          .map((byte) => `1;a=${'b'.repeat(1_000)}\r\n${byte}\r\n`)
          .join('') + END,
      ),
    ],
    ['with extensions', 201, chunks(`${SIZE};a=b;c="d e"\r\n${BODY}\r\n0;last\r\n\r\n`)],
    ['with trailers, which change nothing', 201, chunks(`${SIZE}\r\n${BODY}\r\n0\r\nX-Y: z\r\nHost: other\r\n\r\n`)],
    ['of nothing, as no JSON', 'invalid_json', chunks(END)],
    ['that cut a character in two', 201, chunks(`c\r\n{"name":"Zo\xc3\r\n13\r\n\xab","categoryId": 1}\r\n${END}`)],
  ],
  'a request that is smuggled is no request of its own:': [
    [
      'Content-Length over Transfer-Encoding',
      'bad_request',
      framed([length(5 + SMUGGLED.length), CHUNKED], `${END}${SMUGGLED}`),
    ],
    [
      'Transfer-Encoding over Content-Length',
      'bad_request',
      framed([CHUNKED, length(4)], `5c\r\n${SMUGGLED}\r\n${END}`),
    ],
    ['two Content-Lengths', 'bad_request', framed([length(0), length(SMUGGLED.length)], SMUGGLED)],
    [
      'a Content-Length behind a line feed',
      'bad_request',
      framed([`X-Y: z\nContent-Length: ${SMUGGLED.length}`], SMUGGLED),
    ],
    [
      'a Transfer-Encoding that only some know',
      'bad_request',
      framed(['Transfer-Encoding: xchunked', length(SMUGGLED.length)], SMUGGLED),
    ],
    [
      'a Transfer-Encoding with a tab before the colon',
      'bad_request',
      framed(['Transfer-Encoding\t: chunked', length(3)], `${END}${SMUGGLED}`),
    ],
    ['a chunk extension that hides a line', 'bad_request', chunks(`2;a\nxx\r\n4c\r\n${END}${SMUGGLED}`)],
    ['a chunk size that wraps at 2^32', 'bad_request', chunks(`100000001\r\na\r\n${END}${SMUGGLED}`), CUT],
    ['a chunk size that wraps at 2^64', 'bad_request', chunks(`10000000000000001\r\na\r\n${END}${SMUGGLED}`)],
    ['a body of GET', 200, `${get('/v1/pets', length(SMUGGLED.length))}${SMUGGLED}`],
    ['a body of HEAD', 200, `${ask('HEAD', '/v1/pets', length(SMUGGLED.length))}${SMUGGLED}`],
    ['a body of OPTIONS', 204, `${ask('OPTIONS', '/v1/pets', length(SMUGGLED.length))}${SMUGGLED}`],
    [
      'a body of a refused method',
      'method_not_allowed',
      `${ask('TRACE', '/v1/pets', length(SMUGGLED.length))}${SMUGGLED}`,
    ],
    ['a body of an unknown path', 'not_found', framed([length(SMUGGLED.length)], SMUGGLED, '/v1/cats')],
    [
      'a body without a key',
      'missing_api_key',
      `${lines('POST /v1/pets HTTP/1.1', 'Host: x', JSON_TYPE, length(SMUGGLED.length))}${SMUGGLED}`,
    ],
    [
      'a body of another media type',
      'unsupported_media_type',
      `${ask('POST', '/v1/pets', 'Content-Type: text/plain', length(SMUGGLED.length))}${SMUGGLED}`,
    ],
    ['a body of an ending', 'not_found', framed([length(SMUGGLED.length)], SMUGGLED, '/v1/store/orders/1/complete')],
    ['a body behind an odd Expect', 'expectation_failed', framed(['Expect: x', length(SMUGGLED.length)], SMUGGLED)],
    [
      'a body that looks like an answer',
      'invalid_json',
      framed([length(34)], 'HTTP/1.1 200 OK\r\nX-Y: zzzzzzzzz\r\n\r\n'.slice(0, 34)),
    ],
    [
      'a target with a request in it',
      'bad_request',
      get(`/v1/pets HTTP/1.1\r\nX: y\r\n\r\nGET /v1/smuggled`, length(0)).replace('HTTP/1.1\r\nX', 'HTTP/1.1 \r\nX'),
    ],
  ],
  'requests in one packet are answered in turn:': [
    ['100 good ones', Array.from({ length: 100 }, () => 200), get('/v1/pets?limit=1').repeat(100)],
    ['a good one and a bad line', [200, 'bad_request'], `${get('/v1/pets')}GET\r\n\r\n`],
    ['a good one and half a line', [200, 'bad_request'], `${get('/v1/pets')}GET /v1`, CUT],
    ['a good one and half a header', [200, 'bad_request'], `${get('/v1/pets')}GET /v1/pets HTTP/1.1\r\nHo`, CUT],
    [
      'a good one and an unknown method',
      [200, 'method_not_allowed'],
      `${get('/v1/pets')}FOO /v1/pets HTTP/1.1\r\n\r\n`,
    ],
    ['a good one and too long a URL', [200, 'uri_too_long'], `${get('/v1/pets')}${get(`/${'x'.repeat(9_000)}`)}`],
    ['a good one and a missing Host', [200, 'bad_request'], `${get('/v1/pets')}${lines('GET /v1/pets HTTP/1.1')}`],
    ['a good one and both lengths', [200, 'bad_request'], `${get('/v1/pets')}${framed([CHUNKED, length(1)], END)}`],
    ['a good one and a bad chunk', [200, 'bad_request'], `${get('/v1/pets')}${chunks('x\r\n')}`],
    [
      'a good one and a body that is cut off',
      [200, 'bad_request'],
      `${get('/v1/pets')}${framed([length(31)], BODY)}`,
      CUT,
    ],
    [
      'ten good ones and a bad line',
      [...Array.from({ length: 10 }, () => 200), 'bad_request'],
      `${get('/v1/pets').repeat(10)}\0`,
    ],
    ['a good one, a bad line and a good one', [200, 'bad_request'], `${get('/v1/pets')}GET\r\n\r\n${get('/v1/pets')}`],
    ['a good one that closes, and another', [200], `${get('/v1/pets', 'Connection: close')}${get('/v1/pets')}`],
    [
      'one of HTTP/1.0, and another',
      [200],
      `${lines('GET /v1/pets HTTP/1.0', 'Authorization: Bearer {key}')}${get('/v1/pets')}`,
    ],
    [
      'one without a key, and a good one',
      ['missing_api_key', 200],
      `${lines('GET /v1/pets HTTP/1.1', 'Host: x')}${get('/v1/pets')}`,
    ],
    ['one of an unknown path, and a good one', ['not_found', 200], `${get('/v1/cats')}${get('/v1/pets')}`],
    ['a slow one and a bad line', [201, 'bad_request'], Buffer.concat([post('/v1/pets', BODY), Buffer.from('\0')])],
    [
      'three writes and a cut',
      [201, 201, 201, 'bad_request'],
      Buffer.concat([post('/v1/pets', BODY), post('/v1/pets', BODY), post('/v1/pets', BODY), Buffer.from('POST')]),
      CUT,
    ],
  ],
  'a body cut off is answered 400 bad_request at': [
    ...['/v1/pets', '/v1/store/orders', '/v1/messages'].flatMap((target): Case[] => [
      [`${target}, of known length`, 'bad_request', framed([length(10)], '{"x"', target), CUT],
      [`${target}, in chunks`, 'bad_request', framed([CHUNKED], 'a\r\n{"x"', target), CUT],
      [`${target}, before its first byte`, 'bad_request', framed([length(10)], '', target), CUT],
      [
        `${target}, under an Idempotency-Key`,
        'bad_request',
        framed([length(10), 'Idempotency-Key: cut'], '{"x"', target),
        CUT,
      ],
    ]),
  ],
});
