import fc from 'fast-check';

/** The pieces that are sent on one connection. The client sends nothing after the last one. */
export interface Connection {
  readonly pieces: readonly Buffer[];
  /** The number of requests that are valid HTTP, however absurd, and so get a response each. */
  readonly requests: number | undefined;
}

const NASTY = [
  '',
  ' ',
  '0',
  '-0',
  '-1',
  '1.0',
  '1e3',
  '007',
  '9223372036854775807',
  '9223372036854775808',
  '-9223372036854775809',
  '1'.repeat(400),
  'null',
  'undefined',
  'true',
  'NaN',
  '[]',
  '{}',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  '../../etc/passwd',
  "' OR 1=1 --",
  '${7*7}',
  '<script>',
  '%',
  '%zz',
  '%00',
  '%c0%af',
  '%ed%a0%80',
  '\u00e9',
  'a'.repeat(300),
  'available',
  'msg_x',
];
const nasty = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...NASTY) },
  fc.string({ maxLength: 20 }),
  fc.string({ unit: 'grapheme', maxLength: 10 }),
);

const parameter = fc
  .tuple(
    fc.constantFrom('limit', 'status', 'id', 'cursor', 'after', '__proto__', 'limit[]', 'constructor[prototype]', ''),
    nasty,
    fc.boolean(),
  )
  .map(
    ([name, value, isEncoded]) =>
      `${name}=${isEncoded ? encodeURIComponent(value.replace(/\p{Surrogate}/gu, '?')) : raw(value)}`,
  );
const query = fc.array(parameter, { maxLength: 5 }).map((all) => (all.length === 0 ? '' : `?${all.join('&')}`));
const path = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.constantFrom(
      '/v1/pets',
      '/v1/pets/1',
      '/v1/store/orders',
      '/v1/store/orders/1',
      '/v1/store/orders/1/complete',
      '/v1/store/orders/2/cancel',
      '/v1/messages',
      '/v1/messages/msg_000000000000000000000000',
      '/v1/rate_limit',
      '/v1',
      '/',
      '//',
      '/v1//pets',
      '/v1/pets/',
      '*',
      'http://x/v1/pets',
      `/${'x'.repeat(9_000)}`,
    ),
  },
  nasty.map((id) => `/v1/pets/${raw(id)}`),
  nasty.map((id) => `/v1/store/orders/${raw(id)}/complete`),
  nasty.map((id) => `/v1/messages/${raw(id)}`),
  nasty.map((junk) => `/${raw(junk)}`),
);
/** Without characters that would end the target. */
function raw(text: string): string {
  return text.replace(/[\s\p{Cc}]/gu, '+');
}

const method = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('GET', 'POST') },
  fc.constantFrom('HEAD', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY', 'LINK'),
);

const headerValue = nasty.map((value) => value.replace(/\p{Cc}/gu, '').replace(/[^ -\u00ff]/g, '?'));
const extraHeader = fc
  .tuple(
    fc.constantFrom(
      'Accept',
      'Idempotency-Key',
      'X-Request-Id',
      'X-Forwarded-For',
      'If-None-Match',
      'Range',
      'Upgrade',
      'Cookie',
      'Content-Encoding',
      'X-HTTP-Method-Override',
      'Origin',
      'Access-Control-Request-Method',
      'Prefer',
      'Forwarded',
      'Expect',
    ),
    fc.oneof({ weight: 30, arbitrary: headerValue }, fc.constant('x'.repeat(20_000))),
  )
  .map(([name, value]) => `${name}: ${value}`);
const contentType = fc.constantFrom(
  'Content-Type: application/json',
  'Content-Type: application/json; charset=utf-8',
  'Content-Type: application/json; charset=latin1',
  'Content-Type: text/plain',
  'Content-Type: multipart/form-data; boundary=x',
  'X-None: x',
);

const field = fc.oneof(
  fc.constantFrom('1', '"Luna"', '9223372036854775807', '9223372036854775808', '1.5', '1e400', 'null', 'true', '""'),
  fc.json({ maxDepth: 3 }),
  fc.string({ unit: 'grapheme', maxLength: 30 }).map((text) => JSON.stringify(text)),
  fc.constant(`"${'x'.repeat(5_000)}"`),
  fc.constant('['.repeat(200)),
);
const property = fc
  .tuple(
    fc.constantFrom('name', 'categoryId', 'status', 'petId', 'message', 'id', '__proto__', 'constructor', 'x'),
    field,
  )
  .map(([name, value]) => `"${name}":${value}`);
const body = fc.oneof(
  { weight: 3, arbitrary: fc.array(property, { maxLength: 6 }).map((all) => Buffer.from(`{${all.join(',')}}`)) },
  fc.constantFrom(
    Buffer.from('{"name":"Luna","categoryId":1}'),
    Buffer.from('{"petId":1}'),
    Buffer.from('{"message":"Hello"}'),
    Buffer.from('{"name":"Luna","categoryId":1,"status":"sold","name":"x"}'),
    Buffer.alloc(65_537, 0x20),
    Buffer.from('{"a":'.repeat(5_000)),
    Buffer.alloc(0),
  ),
  fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
  fc.json().map((text) => Buffer.from(text)),
);

const small = fc.integer({ min: 1, max: 200 });
/** Normal operations, if such an animal or order exists. */
const operation = fc.oneof(
  small.map((id) => ['GET', `/v1/pets?limit=5&status=available&id=${id}`, ''] as const),
  small.map((id) => ['GET', `/v1/store/orders/${id}`, ''] as const),
  small.map((id) => ['POST', '/v1/pets', `{"name":"Luna ${id}","categoryId":${id}}`] as const),
  small.map((id) => ['POST', '/v1/store/orders', `{"petId":${id}}`] as const),
  small.map((id) => ['POST', `/v1/store/orders/${id}/${id % 2 === 0 ? 'cancel' : 'complete'}`, ''] as const),
  small.map((id) => ['POST', '/v1/messages', `{"message":"Hello ${id}"}`] as const),
);

/** One request with valid framing. */
function soundRequest(key: string, isLast: boolean): fc.Arbitrary<Buffer> {
  return fc.oneof({ weight: 2, arbitrary: oddRequest(key, isLast) }, goodRequest(key, isLast));
}

function goodRequest(key: string, isLast: boolean): fc.Arbitrary<Buffer> {
  return operation.map(([verb, target, text]) => {
    const head = [
      `${verb} ${target} HTTP/1.1`,
      'Host: localhost',
      `Authorization: Bearer ${key}`,
      'Content-Type: application/json',
      `Content-Length: ${text.length}`,
      ...(isLast ? ['Connection: close'] : []),
    ].join('\r\n');
    return Buffer.from(`${head}\r\n\r\n${text}`);
  });
}

function oddRequest(key: string, isLast: boolean): fc.Arbitrary<Buffer> {
  const authorization = fc.oneof(
    { weight: 12, arbitrary: fc.constant(`Authorization: Bearer ${key}`) },
    headerValue.map((value) => `Authorization: ${value}`),
    fc.constant('X-None: x'),
  );
  return fc
    .tuple(method, path, query, authorization, contentType, fc.array(extraHeader, { maxLength: 3 }), body, fc.boolean())
    .map(([verb, target, parameters, credentials, type, extra, bytes, isChunked]) => {
      const framing = isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${bytes.length}`;
      const head = [
        `${verb} ${target}${parameters} HTTP/1.1`,
        'Host: localhost',
        credentials,
        type,
        ...extra,
        framing,
        ...(isLast ? ['Connection: close'] : []),
      ].join('\r\n');
      return Buffer.concat([Buffer.from(`${head}\r\n\r\n`), isChunked ? chunked(bytes) : bytes]);
    });
}

function chunked(bytes: Buffer): Buffer {
  const pieces = [];
  for (let at = 0; at < bytes.length; at += 1_000) {
    const piece = bytes.subarray(at, at + 1_000);
    pieces.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n'));
  }
  return Buffer.concat([...pieces, Buffer.from('0\r\n\r\n')]);
}

type Change = (bytes: Buffer, at: number, value: number) => Buffer;
const CHANGES: readonly Change[] = [
  (bytes, at, value) => Buffer.concat([bytes.subarray(0, at), Buffer.from([value]), bytes.subarray(at + 1)]),
  (bytes, at, value) => Buffer.concat([bytes.subarray(0, at), Buffer.from([value]), bytes.subarray(at)]),
  (bytes, at) => Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1)]),
  (bytes, at) => bytes.subarray(0, at),
  (bytes, at) => Buffer.concat([bytes, bytes.subarray(at)]),
  (bytes, at) => Buffer.concat([bytes.subarray(0, at), Buffer.from('\r\n'), bytes.subarray(at)]),
];
const change = fc.tuple(fc.constantFrom(...CHANGES), fc.nat(1_000_000), fc.nat(255));

/** A connection of a hostile or broken client. The key is valid. */
export function hostileConnection(key: string): fc.Arbitrary<Connection> {
  const sound = fc
    .tuple(fc.array(soundRequest(key, false), { maxLength: 30 }), soundRequest(key, true))
    .map(([requests, last]) => ({ bytes: Buffer.concat([...requests, last]), requests: requests.length + 1 }));
  const broken = fc
    .tuple(soundRequest(key, false), soundRequest(key, true), fc.array(change, { minLength: 1, maxLength: 5 }))
    .map(([one, other, changes]) => {
      let bytes = Buffer.concat([one, other]);
      for (const [apply, at, value] of changes) bytes = Buffer.from(apply(bytes, at % (bytes.length + 1), value));
      return { bytes, requests: undefined };
    });
  return fc
    .tuple(fc.oneof(sound, broken), fc.array(fc.nat(1_000_000), { maxLength: 3 }))
    .map(([{ bytes, requests }, cuts]) => {
      const places = [
        0,
        ...cuts.map((cut) => cut % (bytes.length + 1)).sort((one, other) => one - other),
        bytes.length,
      ];
      return { pieces: places.slice(1).map((end, index) => bytes.subarray(places[index], end)), requests };
    });
}
