/** Existing ids. */
export interface Known {
  readonly pets: readonly string[];
  readonly orders: readonly string[];
  readonly messages: readonly string[];
}

/** Returns the same numbers for the same seed (mulberry32). */
export class Random {
  constructor(private state: number) {}

  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  one<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)] as Item;
  }

  some<Item>(items: readonly Item[], most: number): Item[] {
    return Array.from({ length: this.below(most + 1) }, () => this.one(items));
  }
}

const PARAMETERS = [
  'limit=1',
  'limit=2',
  'limit=100',
  'limit=0',
  'limit=%31',
  '%6cimit=1',
  'limit',
  'limit=',
  'status=sold',
  'status=pending',
  'status=available',
  'status=placed',
  'status=%73old',
  'stat%75s=pending',
  'status=%23',
  'status=sold%26limit=1',
  'id=1',
  'id=2',
  'id=+1',
  'id=999999999',
  'cursor=x',
  'cursor=',
  'LIMIT=1',
  'x=1',
  '',
  '=',
  ';limit=1',
  '?limit=1',
  '%zz',
  '__proto__=1',
];
const FRAGMENTS = ['#', '#limit=1', '#?limit=1', '#&limit=1', '#status=sold', '#cursor=x', '##', '#/v1/pets'];
const AUTHORITIES = ['http://evil.example', 'https://a.example:1', 'http://', 'HTTP://user@evil.example', 'ftp://x'];
const HOSTS = ['evil.example', 'evil.example:80', '[::1]:1', 'LOCALHOST', 'a_b', '127.0.0.1'];
const FORWARDED = ['evil.example', '\xe9', 'a b', '<x>', 'a, b', '', '127.0.0.1:1', 'x'.repeat(300)];
const HEADERS = [
  ...FORWARDED.map((value) => `X-Forwarded-Host: ${value}`),
  ...['https', 'javascript', 'HTTP', '\xe9', 'http, https'].map((value) => `X-Forwarded-Proto: ${value}`),
  ...['192.0.2.1', 'garbage', '192.0.2.1:5', '[2001:db8::1]:5', ',', 'unknown, 1.2.3.4', '\xe9'].map(
    (value) => `X-Forwarded-For: ${value}`,
  ),
  'Forwarded: host=evil.example;proto=https',
  'X-Original-URL: /v1/pets?limit=1',
  'X-Rewrite-URL: /v1/pets?limit=1',
  'X-HTTP-Method-Override: POST',
  'Accept: text/html',
  'Accept-Encoding: gzip',
  'Cache-Control: no-cache',
  'If-None-Match: *',
  'If-None-Match: "x"',
  'Range: bytes=0-1',
  'Accept-Language: de',
  'X-Request-Id: same',
  'Cookie: limit=1',
  'Content-Type: text/plain',
];

/** A request that tries to be cached as another request's response. Its connection stays open. */
export function poison(random: Random, key: string, known: Known): Buffer {
  return random.below(5) === 0 ? write(random, key, known) : read(random, key, known);
}

function read(random: Random, key: string, known: Known): Buffer {
  const pet = random.one(['1', '0', 'x', '%31', '%23', ...known.pets]);
  const path = random.one([
    '/v1/pets',
    '/v1/pets',
    '/v1/store/orders',
    `/v1/pets/${pet}`,
    `/v1/store/orders/${random.one(['1', ...known.orders])}`,
    `/v1/messages/${random.one(['msg_x', ...known.messages])}`,
    '/v1/rate_limit',
    '/%76%31/%70%65%74%73',
    '/v1/pets/',
    '//v1/pets',
    '/v1/pets%3flimit=1',
    '/v1/pets%23limit=1',
    '/v1/../v1/pets',
    '/docs',
    '/openapi.json',
    '/unknown',
  ]);
  const method = random.one(['GET', 'GET', 'GET', 'GET', 'HEAD', 'OPTIONS']);
  return requestOf(random, method === 'HEAD' ? 'GET' : method, target(random, path), key, []);
}

function target(random: Random, path: string): string {
  const parameters = random.some(PARAMETERS, 4);
  const query = random.below(3) === 0 ? '' : `?${parameters.join('&')}`;
  const fragment = random.below(4) === 0 ? random.one(FRAGMENTS) : '';
  const authority = random.below(8) === 0 ? random.one(AUTHORITIES) : '';
  return `${authority}${path}${query}${fragment}`;
}

function write(random: Random, key: string, known: Known): Buffer {
  const pet = random.one(['1', ...known.pets]);
  const [path, body] = random.one([
    ['/v1/pets', '{"name":"Poison","categoryId":9223372036854775}'],
    ['/v1/pets', '{"name":"x","categoryId":1,"status":"sold"}'],
    ['/v1/pets', '{"name":"","categoryId":1}'],
    ['/v1/store/orders', `{"petId":${pet}}`],
    [`/v1/store/orders/${random.one(['1', ...known.orders])}/cancel`, ''],
    [`/v1/store/orders/${random.one(['1', ...known.orders])}/complete`, ''],
    ['/v1/messages', '{"message":"Poison"}'],
  ] as const);
  const isChunked = random.below(2) === 0;
  const framing = isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`;
  const type = random.one(['application/json', 'application/json; charset=utf-8', 'APPLICATION/JSON', 'text/plain']);
  const idempotency = random.below(3) === 0 ? [`Idempotency-Key: ${random.below(50)}`] : [];
  const headers = [framing, `Content-Type: ${type}`, ...idempotency];
  const sent = isChunked ? chunked(random, body) : body;
  return Buffer.concat([requestOf(random, 'POST', target(random, path), key, headers), Buffer.from(sent)]);
}

function chunked(random: Random, body: string): string {
  let text = '';
  for (let start = 0; start < body.length;) {
    const chunk = body.slice(start, start + 1 + random.below(random.one([1, 5, 100])));
    text += `${chunk.length.toString(16)}${random.one(['', ';a=b'])}\r\n${chunk}\r\n`;
    start += chunk.length;
  }
  return `${text}0\r\n\r\n`;
}

function requestOf(random: Random, method: string, url: string, key: string, own: readonly string[]): Buffer {
  const isBodied = own.length > 0;
  const extra = random.some(HEADERS, 4).filter((header) => !isBodied || !header.startsWith('Content-Type'));
  const ids = extra.filter((header) => header.startsWith('X-Request-Id'));
  const others = extra.filter((header) => !ids.includes(header));
  const authorization = random.below(10) === 0 ? [] : [`Authorization: ${random.one(['Bearer', 'bearer'])} ${key}`];
  const headers = [`Host: ${random.one(HOSTS)}`, ...authorization, ...others, ...ids.slice(0, 1), ...own];
  return Buffer.from(`${method} ${url} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`, 'latin1');
}
