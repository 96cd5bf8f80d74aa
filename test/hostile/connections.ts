import fc from 'fast-check';

/** The pieces that one client sends, each as one packet. */
export interface Connection {
  readonly pieces: readonly Buffer[];
  /** The number of requests that are valid HTTP. Each gets a response, however absurd it is. */
  readonly requests: number | undefined;
}

const NASTY = [
  '',
  ' ',
  '007',
  '9223372036854775808',
  '1'.repeat(400),
  'null',
  '__proto__',
  '../../etc/passwd',
  '%zz',
  '%00',
  '%c0%af',
  '\u00e9',
  'evil.example',
  '192.0.2.1, garbage',
  'a'.repeat(300),
];
const nasty = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...NASTY) },
  fc.string({ maxLength: 20 }),
  fc.string({ unit: 'grapheme', maxLength: 10 }),
);
/** Characters that don't end the request target. */
const raw = (text: string) => text.replace(/[\s\p{Cc}]/gu, '+');

const parameter = fc
  .tuple(fc.constantFrom('limit', 'status', 'id', 'cursor', '%6cimit', '__proto__', 'limit[]', ''), nasty, fc.boolean())
  .map(
    ([name, value, isEncoded]) =>
      `${name}=${isEncoded ? encodeURIComponent(value.replace(/\p{Surrogate}/gu, '?')) : raw(value)}`,
  );
const path = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.constantFrom(
      '/v1/pets',
      '/v1/pets/1',
      '/v1/store/orders',
      '/v1/store/orders/1/complete',
      '/v1/messages/msg_000000000000000000000000',
      '/v1/rate_limit',
      '/v1//pets',
      '/%76%31/%70%65%74%73',
      '*',
      'http://evil.example/v1/pets',
      `/${'x'.repeat(9_000)}`,
    ),
  },
  nasty.map((id) => `/v1/pets/${raw(id)}`),
  nasty.map((id) => `/v1/store/orders/${raw(id)}/complete`),
  // `/` itself leads to the reference page, outside the API.
  nasty.map((junk) => `/${raw(junk)}`).filter((text) => !/^\/([?#]|$)/.test(text)),
);
const target = fc
  .tuple(
    path,
    fc.array(parameter, { maxLength: 5 }),
    fc.oneof({ weight: 6, arbitrary: fc.constant('') }, fc.constant('#limit=1')),
  )
  .map(([where, all, fragment]) => `${where}${all.length === 0 ? '' : `?${all.join('&')}`}${fragment}`);
const method = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('GET', 'POST') },
  fc.constantFrom('HEAD', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY'),
);
const headerValue = nasty.map((value) => value.replace(/\p{Cc}/gu, '').replace(/[^ -\u00ff]/g, '?'));
const header = fc
  .tuple(
    fc.constantFrom(
      'Accept',
      'Idempotency-Key',
      'X-Request-Id',
      'X-Forwarded-For',
      'X-Forwarded-Host',
      'X-Forwarded-Proto',
      'If-None-Match',
      'Upgrade',
      'Content-Encoding',
      'Origin',
      'Expect',
    ),
    fc.oneof({ weight: 30, arbitrary: headerValue }, fc.constant('x'.repeat(20_000))),
  )
  .map(([name, value]) => `${name}: ${value}`);
const contentType = fc.constantFrom(
  'Content-Type: application/json',
  'Content-Type: application/json; charset=latin1',
  'Content-Type: text/plain',
  'X-None: x',
);

const field = fc.oneof(
  fc.constantFrom('1', '"Luna"', '9223372036854775808', '1.5', '1e400', 'null', '""'),
  fc.json({ maxDepth: 3 }),
  fc.string({ unit: 'grapheme', maxLength: 30 }).map((text) => JSON.stringify(text)),
  fc.constant('['.repeat(200)),
);
const property = fc
  .tuple(fc.constantFrom('name', 'categoryId', 'status', 'petId', 'message', '__proto__', 'constructor', 'x'), field)
  .map(([name, value]) => `"${name}":${value}`);
const body = fc.oneof(
  { weight: 3, arbitrary: fc.array(property, { maxLength: 6 }).map((all) => Buffer.from(`{${all.join(',')}}`)) },
  fc
    .constantFrom('{"name":"Luna","categoryId":1}', '{"a":'.repeat(5_000), ' '.repeat(65_537), '')
    .map((text) => Buffer.from(text)),
  fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
);

const small = fc.integer({ min: 1, max: 200 });
/** Normal operations, if such an animal or order exists. */
const operation = fc.oneof(
  small.map((id) => ['GET', `/v1/pets?limit=5&status=available&id=${id}`, ''] as const),
  small.map((id) => ['POST', '/v1/pets', `{"name":"Luna ${id}","categoryId":${id}}`] as const),
  small.map((id) => ['POST', '/v1/store/orders', `{"petId":${id}}`] as const),
  small.map((id) => ['POST', `/v1/store/orders/${id}/${id % 2 === 0 ? 'cancel' : 'complete'}`, ''] as const),
  small.map((id) => ['POST', '/v1/messages', `{"message":"Hello ${id}"}`] as const),
);

const head = (...lines: readonly string[]) => Buffer.from(`${lines.filter(Boolean).join('\r\n')}\r\n\r\n`);

function chunked(bytes: Buffer): Buffer {
  const pieces = [];
  for (let at = 0; at < bytes.length; at += 1_000) {
    const piece = bytes.subarray(at, at + 1_000);
    pieces.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n'));
  }
  return Buffer.concat([...pieces, Buffer.from('0\r\n\r\n')]);
}

/** One request with valid framing. */
function soundRequest(key: string, isLast: boolean): fc.Arbitrary<Buffer> {
  const bearer = `Authorization: Bearer ${key}`;
  const close = isLast ? 'Connection: close' : '';
  const normal = operation.map(([verb, where, text]) => {
    const type = 'Content-Type: application/json';
    const begin = head(
      `${verb} ${where} HTTP/1.1`,
      'Host: localhost',
      bearer,
      type,
      `Content-Length: ${text.length}`,
      close,
    );
    return Buffer.concat([begin, Buffer.from(text)]);
  });
  const authorization = fc.oneof(
    { weight: 12, arbitrary: fc.constant(bearer) },
    headerValue.map((value) => `Authorization: ${value}`),
    fc.constant(''),
  );
  const odd = fc
    .tuple(method, target, authorization, contentType, fc.array(header, { maxLength: 3 }), body, fc.boolean())
    .map(([verb, where, credentials, type, headers, bytes, isChunked]) => {
      const framing = isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${bytes.length}`;
      const begin = head(`${verb} ${where} HTTP/1.1`, 'Host: localhost', credentials, type, ...headers, framing, close);
      return Buffer.concat([begin, isChunked ? chunked(bytes) : bytes]);
    });
  return fc.oneof({ weight: 2, arbitrary: odd }, normal);
}

type Change = (bytes: Buffer, at: number, value: number) => readonly Uint8Array[];
const CHANGES: readonly Change[] = [
  (bytes, at, value) => [bytes.subarray(0, at), Buffer.of(value), bytes.subarray(at + 1)],
  (bytes, at, value) => [bytes.subarray(0, at), Buffer.of(value), bytes.subarray(at)],
  (bytes, at) => [bytes.subarray(0, at), bytes.subarray(at + 1)],
  (bytes, at) => [bytes.subarray(0, at)],
  (bytes, at) => [bytes, bytes.subarray(at)],
  (bytes, at) => [bytes.subarray(0, at), Buffer.from('\r\n'), bytes.subarray(at)],
];
const change = fc.tuple(fc.constantFrom(...CHANGES), fc.nat(1_000_000), fc.nat(255));

/** A connection of a hostile or broken client. The key is valid. */
export function hostileConnection(key: string): fc.Arbitrary<Connection> {
  const sound = fc
    .tuple(fc.array(soundRequest(key, false), { maxLength: 20 }), soundRequest(key, true))
    .map(([requests, last]) => ({ bytes: Buffer.concat([...requests, last]), requests: requests.length + 1 }));
  const broken = fc
    .tuple(soundRequest(key, false), soundRequest(key, true), fc.array(change, { minLength: 1, maxLength: 5 }))
    .map(([one, other, changes]) => {
      let bytes = Buffer.concat([one, other]);
      for (const [apply, at, value] of changes) bytes = Buffer.concat(apply(bytes, at % (bytes.length + 1), value));
      return { bytes, requests: undefined };
    });
  return fc
    .tuple(fc.oneof(sound, broken), fc.array(fc.nat(1_000_000), { maxLength: 3 }))
    .map(([{ bytes, requests }, cuts]) => {
      const places = cuts.map((cut) => cut % (bytes.length + 1)).sort((one, other) => one - other);
      const ends = [...places, bytes.length];
      return { pieces: ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end)), requests };
    });
}
