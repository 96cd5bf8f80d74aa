import { inspect } from 'node:util';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { AdoptionStore, ApiError, type ClientOptions } from '../src/index.js';
import {
  bytes,
  failure,
  hang,
  json,
  linked,
  raw,
  redirect,
  reset,
  startHostile,
  type Step,
} from './support/hostile-server.js';
import { VirtualClock } from './support/virtual-clock.js';

type Call = (store: AdoptionStore, clock: VirtualClock) => PromiseLike<unknown>;
/** How a call ends: with this value, or with an ApiError that matches. */
type End =
  { readonly value: unknown } | { readonly code: unknown; readonly kind: unknown; readonly [more: string]: unknown };

interface More {
  /** Default: `categories.get(1n)`. */
  readonly call?: Call;
  readonly options?: ClientOptions;
  /** The requests that the server gets. Default: one for each step. */
  readonly requests?: number;
  /** The least milliseconds between the requests. Default: the back-off. */
  readonly waits?: readonly number[];
}

/** What the server does with each request, the last for all after it; how the call ends; what else is unusual. */
type Row = readonly [server: string, steps: readonly Step[], end: End, more?: More];

const KEY = 'aas_test_SecretSecretSecretSecret012345';
/** The least waits: half of a bound that doubles, from 500 ms. A call has at most five tries. */
const BACK_OFF = [250, 500, 1_000, 2_000];
const TRIES = BACK_OFF.length + 1;
const AFTER_TIMEOUTS = BACK_OFF.map((wait) => 30_000 + wait);
const MIB = 2 ** 20;
const MOST = 10 * MIB;
const DATE = 'Wed, 25 Nov 2026 12:00:00 GMT';

const TEXT = '{"id":1,"name":"Cats"}';
const CATS: End = { value: { id: 1n, name: 'Cats' } };
const PET = '{"id":1,"name":"Luna","categoryId":2,"status":"available"}';
const LUNA: End = { value: { id: 1n, name: 'Luna', categoryId: 2n, status: 'available' } };
const NETWORK: End = { code: 'network_error', kind: 'network', status: 0 };
const TIMEOUT: End = { code: 'timeout', kind: 'timeout', status: 0 };
const unexpected = (status: number): End => ({ code: 'unexpected_response', kind: 'unexpected_response', status });
const tooLarge = (status: number): End => ({ code: 'response_too_large', kind: 'unexpected_response', status });
const UNEXPECTED = unexpected(200);

const create: Call = (store) => store.pets.create({ name: 'Luna', categoryId: 2n });
const changeIfMatch: Call = (store) => store.pets.change(1n, { name: 'Milo' }, { ifMatch: '"1"' });
const withdraw: Call = (store) => store.pets.remove(1n);
const pets: Call = async (store) => (await store.pets.list().page()).items;
const limits: Call = (store) => store.getRateLimit();
const rotate: Call = (store) => store.webhooks.rotateSecret('whk_1');
const names: Call = async (store) => {
  const found: string[] = [];
  for await (const { name } of store.pets.list()) found.push(name);
  return found;
};

const cats = bytes(200, TEXT);
const gzip = { 'Content-Encoding': 'gzip' };
const http = (lines: string, body = TEXT) => raw(`HTTP/1.1 200 OK\r\n${lines}\r\n${body}`);
/** A category of that many bytes, with spaces behind it. */
const padded = (size: number) => Buffer.concat([Buffer.from(TEXT), Buffer.alloc(size - TEXT.length, ' ')]);
// Each part unpacks to 10 MiB; a gzip file may have any number of them.
const packed = gzipSync(Buffer.alloc(MOST, ' '));
const BOMB = Buffer.concat(Array.from({ length: 20 }, () => packed));
const headersOnly: Step = (response) => {
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': TEXT.length }).flushHeaders();
};
const half: Step = (response, exchange) => {
  void headersOnly(response, exchange);
  response.write(TEXT.slice(0, 10));
};
/** Sends the text byte by byte, one a second. */
const drip =
  (text: string): Step =>
  async (response, { clock }) => {
    response.writeHead(200, { 'Content-Type': 'application/json' });
    for (const byte of text.split('')) {
      if (response.destroyed) return;
      response.write(byte);
      await clock.pause(1_000);
    }
    response.end();
  };
const GONE = new Error('the caller has gone');
const aborted: Call = async (store, clock) => {
  const controller = new AbortController();
  void clock.wait(1_000).then(() => {
    controller.abort(GONE);
  });
  return store.categories.get(1n, { signal: controller.signal });
};
const limited = (status: number, ...retryAfter: readonly string[]) =>
  failure(status, 'limited', { Date: DATE, ...(retryAfter.length > 0 && { 'Retry-After': retryAfter }) });

const WINDOW = { limit: 60, used: 1, remaining: 59, reset: 1_795_262_460 };
const LIMITS = { plan: 'free', minute: WINDOW, day: WINDOW };
const BAN = { until: 1_795_262_460 };

const NEXT = '<HERE/v1/pets?cursor=2>';
const luna = [{ id: 1, name: 'Luna', categoryId: 2, status: 'available' }];
const milo = json(200, [{ id: 2, name: 'Milo', categoryId: 2, status: 'available' }]);
const page = (...links: readonly string[]) => linked(luna, links);
const next = (cursor: string) => page(`<HERE/v1/pets?cursor=${cursor}>; rel="next"`);

/** Bodies of 200 that are no category. */
const NO_CATEGORY: Readonly<Record<string, string | Uint8Array>> = {
  null: 'null',
  'no name': '{"id":1}',
  'an id of 1.0': '{"id":1.0,"name":"Cats"}',
  'an id of 2^63': '{"id":9223372036854775808,"name":"Cats"}',
  'its properties in a __proto__': `{"__proto__":${TEXT}}`,
  'a value cut short': '{"id":1,"name":"Ca',
  'invalid UTF-8': Buffer.concat([Buffer.from('{"id":1,"name":"'), Buffer.of(0xff, 0xfe), Buffer.from('"}')]),
  HTML: '<!doctype html><title>Sign in</title>',
  '100,000 objects in each other': `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`,
};

/** Ways in which no complete response comes. */
const BROKEN: Readonly<Record<string, Step>> = {
  'reset before the headers': reset(),
  'reset in the body': reset(half),
  'closed before the last chunk': http('Transfer-Encoding: chunked\r\n', '5\r\n{"id"\r\n'),
  'a header of 1 MiB': http(`X-Long: ${'x'.repeat(MIB)}\r\n`),
  'gzip that is none': bytes(200, TEXT, gzip),
  '407, which fetch takes for a proxy’s': bytes(407, TEXT),
};

const HANGS: Readonly<Record<string, Step>> = {
  'no answer': hang(),
  'headers only': hang(headersOnly),
  'half a body': hang(half),
  'a byte a second': drip('x'.repeat(100)),
};

/** Bodies of an error that are not the API's Error. */
const NO_ERRORS = ['', '{"code":"a"}', '['.repeat(100_000)];

/** Link headers with a next page at `/v1/pets?cursor=2`. */
const FOLLOWED: readonly (readonly string[])[] = [
  [`${NEXT}; rel="next"`],
  [`${NEXT}; title="<a>, b; rel=\\"prev\\""; rel="next"`],
  ['<HERE/v1/pets?cursor=0>; rel="prev"', `${NEXT}; rel="next"`],
  ['</v1/pets?cursor=2>; rel="next"'],
];
const NO_NEXT = ['', `${NEXT}; rel="nextish"`, `${NEXT}; title="a, <b>; rel=next"; rel="prev"`];
/** Addresses that are not those of the list. */
const ELSEWHERE = [
  'FOREIGN/v1/pets?cursor=2',
  'HERE@OTHER_HOST/v1/pets?cursor=2',
  'http://user:password@THIS_HOST/v1/pets?cursor=2',
  'HERE/v1/orders?cursor=2',
  'HERE/v1/pets/../../admin?cursor=2',
  'http://[/v1/pets',
];
const NO_LINKS = ['<HERE/v1/pets?cursor=2; rel="next"', '<>; rel="next"', 'next', `,, ${NEXT}; rel="next"`];

/** Refusals that stay, and those that pass, with their kinds. */
const REFUSALS = { 400: 'invalid_request', 401: 'authentication', 403: 'permission', 404: 'not_found' };
const STAYS = { ...REFUSALS, 409: 'conflict', 410: 'not_found', 412: 'precondition', 501: 'server', 599: 'server' };
const PASSES = { 408: 'invalid_request', 429: 'rate_limit', 500: 'server', 502: 'server', 504: 'server' };

/** Retry-After, and the least wait that it brings. */
const OBEYED: readonly (readonly [wait: number, ...values: readonly string[]])[] = [
  [250, '0'],
  [5_000, '5'],
  [30_000, '30'],
  [20_000, 'Wed, 25 Nov 2026 12:00:20 GMT'],
  [250, 'Wed, 25 Nov 2015 12:00:00 GMT'],
  // These say nothing.
  ...['-5', '1.5', '1e3', '+5', 'soon', '', '5, 10', '2026-11-25T12:00:20Z', 'Tue, 31 Nov 2026 12:00:20 GMT'].map(
    (value) => [250, value] as const,
  ),
  [250, '5', '10'],
  [250],
];
const TOO_LONG = { '66': 66, '2147484': 2_147_484, 'Thu, 25 Nov 2027 12:00:00 GMT': 31_536_000 };

const refused = (code: string, message: string, more = {}) => json(400, { code, message }, more);
const refusal = (code: unknown, message: unknown): End => ({ code, kind: 'invalid_request', status: 400, message });
const odd = (status: number | string) => failure(Number(status), 'odd');
const AGAIN = { requests: TRIES };
const ONCE = { requests: 1 };
const LIMITED = { code: 'limited', kind: 'rate_limit', status: 429 };
const ODD = { code: 'odd', kind: 'server' };
const ANY_KEY = expect.stringMatching(/^[\w-]{36}$/);
const KEYLESS = expect.not.stringContaining(KEY);
const IN_USE = { code: 'idempotency_key_in_use', kind: 'conflict', status: 409 };

const ROWS: Readonly<Record<string, readonly Row[]>> = {
  'a body of 200': [
    ...Object.entries(NO_CATEGORY).map(([name, body]): Row => [name, [bytes(200, body)], UNEXPECTED]),
    ['a broken one is not asked for again', [bytes(200, '<html>'), cats], UNEXPECTED, ONCE],
    ['a byte order mark', [bytes(200, `\uFEFF${TEXT}`)], CATS],
    ['gzip', [bytes(200, gzipSync(TEXT), gzip)], CATS],
    ['a property of tomorrow', [bytes(200, TEXT.replace('}', ',"x":[]}'))], { value: { id: 1n, name: 'Cats', x: [] } }],
    ['limits without a ban', [json(200, LIMITS)], UNEXPECTED, { call: limits }],
    ['limits with one', [json(200, { ...LIMITS, ban: BAN })], { value: { ...LIMITS, ban: BAN } }, { call: limits }],
    ['a list whose last animal has no name', [bytes(200, `[${PET},{"id":2}]`)], UNEXPECTED, { call: pets }],
  ],
  'another success': [
    ['204 to a GET', [bytes(204, '')], unexpected(204)],
    ['204 to a DELETE', [bytes(204, '')], { value: undefined }, { call: withdraw }],
    ['200 {} to a DELETE', [json(200, {})], UNEXPECTED, { call: withdraw }],
    ['201 a category to a POST of an animal', [bytes(201, TEXT)], unexpected(201), { call: create }],
    ['201 an animal', [bytes(201, PET)], LUNA, { call: create }],
  ],
  'the size of a body': [
    ['10 MiB', [bytes(200, padded(MOST))], CATS],
    ['10 MiB and a byte', [bytes(200, padded(MOST + 1))], tooLarge(200)],
    ['a gzip bomb in gzip', [bytes(200, gzipSync(BOMB), { 'Content-Encoding': 'gzip, gzip' })], tooLarge(200)],
  ],
  'a connection': [
    ...Object.entries(BROKEN).map(([name, step]): Row => [name, [step], NETWORK, AGAIN]),
    ['reset; then 200', [reset(half), cats], CATS],
    ['reset, to a POST', [reset()], { ...NETWORK, idempotencyKey: ANY_KEY }, { ...AGAIN, call: create }],
    ['reset, to a PATCH with If-Match', [reset()], NETWORK, { call: changeIfMatch }],
    ['reset, to a POST without a key', [reset()], { ...NETWORK, idempotencyKey: undefined }, { call: rotate }],
  ],
  'a server that hangs': [
    ...Object.entries(HANGS).flatMap(([name, step]): Row[] => [
      [name, [step], TIMEOUT, { requests: TRIES, waits: AFTER_TIMEOUTS }],
      [`${name}; then 201 to the same POST`, [step, bytes(201, PET)], LUNA, { call: create, waits: AFTER_TIMEOUTS }],
      [`${name}, to a PATCH with If-Match`, [step], TIMEOUT, { call: changeIfMatch }],
      [`${name}; timeout 5 s`, [step], TIMEOUT, { options: { timeout: 5_000 } }],
      [`${name}; aborted after 1 s`, [step], { code: 'aborted', kind: 'aborted', cause: GONE }, { call: aborted }],
    ]),
    ['22 bytes, one a second', [drip(TEXT)], CATS],
    [
      'no answer to a DELETE; then 404, as it is done',
      [hang(), failure(404, 'not_found')],
      { value: undefined },
      { call: withdraw },
    ],
  ],
  'an error': [
    ...Object.entries(STAYS).map(([status, kind]): Row => [
      `${status}, which stays`,
      [failure(Number(status), 'odd', { 'X-Request-Id': 'r1' }), cats],
      { code: 'odd', kind, status: Number(status), message: 'a test: odd', requestId: 'r1' },
      ONCE,
    ]),
    ...Object.entries(PASSES).flatMap(([status, kind]): Row[] => [
      [`${status}, for ever`, [odd(status)], { code: 'odd', kind, status: Number(status) }, AGAIN],
      [`${status} HTML, for ever`, [bytes(Number(status), '<h1>')], unexpected(Number(status)), AGAIN],
      [`${status}; then 200`, [odd(status), cats], CATS],
    ]),
    ...NO_ERRORS.map((body): Row => [`400 ${body.slice(0, 40)}, not the API’s`, [bytes(400, body)], unexpected(400)]),
    ['500 to a POST, which might be done twice', [odd(500)], ODD, { call: create }],
    ['the code __proto__', [refused('__proto__', 'later')], refusal('__proto__', 'later')],
    ['a message with the key', [refused('a', `not ${KEY}, ${KEY}!`)], refusal('a', KEYLESS)],
    ['a code with the key', [refused(KEY, 'b')], refusal(KEYLESS, 'b')],
    ['a request id with the key', [refused('a', 'b', { 'X-Request-Id': KEY })], refusal('a', 'b')],
    ['a body that is the key', [bytes(400, KEY)], unexpected(400)],
    ['409, the key is in use; then 201', [failure(409, IN_USE.code), bytes(201, PET)], LUNA, { call: create }],
    ['409, the key is in use, for ever', [failure(409, IN_USE.code)], IN_USE, { ...AGAIN, call: create }],
  ],
  'Retry-After': [
    ...OBEYED.map(([wait, ...values]): Row => [
      `429 ${values.join(' and ')}`,
      [limited(429, ...values), cats],
      CATS,
      { waits: [wait] },
    ]),
    ...Object.entries(TOO_LONG).map(([value, retryAfter]): Row => [
      `429 ${value}, too long`,
      [limited(429, value)],
      { ...LIMITED, retryAfter },
    ]),
    ['503 20', [limited(503, '20'), cats], CATS, { waits: [20_000] }],
    ['429 0, to a PATCH with If-Match; then reset', [limited(429, '0'), reset()], NETWORK, { call: changeIfMatch }],
    ['429 0, to a POST without a key; then reset', [limited(429, '0'), reset()], NETWORK, { call: rotate }],
    ['429 0, for ever', [limited(429, '0')], { ...LIMITED, retryAfter: 0 }, AGAIN],
    [
      '429 20, for ever; maxWait 60 s',
      [limited(429, '20')],
      { ...LIMITED, retryAfter: 20 },
      { options: { maxWait: 60_000 }, requests: 3, waits: [20_000, 20_000] },
    ],
  ],
  'a redirect, which is no answer': [
    ...[300, 301, 302, 303, 304, 307, 308].map((status): Row => [
      `${status} to elsewhere`,
      [redirect(status, 'FOREIGN/v1/categories/1'), cats],
      unexpected(status),
      ONCE,
    ]),
    ['302 to nowhere', [redirect(302, ''), cats], unexpected(302), ONCE],
    ['302 to the key', [redirect(302, `/v1/${KEY}`)], unexpected(302)],
  ],
  'a Link': [
    ...FOLLOWED.map((links): Row => [
      links.join(' and '),
      [page(...links), milo],
      { value: ['Luna', 'Milo'] },
      { call: names, waits: [0] },
    ]),
    ...NO_NEXT.map((link): Row => [
      `${link}, the last`,
      [page(link), milo],
      { value: ['Luna'] },
      { ...ONCE, call: names },
    ]),
    ...ELSEWHERE.map((address): Row => [
      `to ${address}`,
      [page(`<${address}>; rel="next"`), milo],
      UNEXPECTED,
      { ...ONCE, call: names },
    ]),
    ...NO_LINKS.map((link): Row => [`${link}, broken`, [page(link), milo], UNEXPECTED, { ...ONCE, call: names }]),
    ['back to the first page', [page('<?limit=100>; rel="next"')], UNEXPECTED, { call: names }],
    ['to itself', [next('a')], UNEXPECTED, { call: names, requests: 2, waits: [0] }],
  ],
};

describe.each(Object.entries(ROWS))('%s', (_what, rows) => {
  it.each(rows.map((row) => [row[0], row] as const))('%s', async (_server, [, steps, end, more = {}]) => {
    const {
      call = (store: AdoptionStore) => store.categories.get(1n),
      options,
      requests = steps.length,
      waits = BACK_OFF,
    } = more;
    const clock = new VirtualClock();
    const server = await startHostile(steps, clock);
    const store = new AdoptionStore({ baseUrl: `${server.origin}/v1`, apiKey: KEY, clock, ...options });
    const outcome = await settled(call(store, clock));
    server.close();
    if ('value' in end) expect(outcome).toEqual(end);
    else {
      expect(outcome).toEqual({ error: expect.any(ApiError) });
      expect(outcome).toMatchObject({ error: end });
    }
    expect(textsOf(outcome).filter((text) => text.includes(KEY))).toEqual([]);
    expect(server.strayed).toEqual([]);
    expect(server.received).toHaveLength(requests);
    for (const [index, { at, url, headers }] of server.received.entries()) {
      expect(url).toMatch(/^\/v1\//);
      expect(headers.authorization).toBe(`Bearer ${KEY}`);
      if (index > 0) expect(at - (server.received[index - 1]?.at ?? 0)).toBeGreaterThanOrEqual(waits[index - 1] ?? 0);
    }
    // A POST happens once, because each of its requests has the same key.
    const keys = server.received.map(({ headers }) => headers['idempotency-key']);
    expect(new Set(keys).size).toBeLessThanOrEqual(1);
    for (const { method, url } of server.received)
      expect(typeof keys[0]).toBe(method === 'POST' && !url.endsWith('-secret') ? 'string' : 'undefined');
  });
});

async function settled(call: PromiseLike<unknown>): Promise<object> {
  try {
    return { value: await call };
  } catch (error) {
    return { error };
  }
}

/** All that a program could print of an outcome. */
function textsOf(outcome: object): string[] {
  const { error } = outcome as { error?: unknown };
  return [
    inspect(outcome, { depth: null, showHidden: true, getters: true }),
    ...(error instanceof Error ? [String(error), error.message, error.stack ?? '', JSON.stringify(error)] : []),
  ];
}

it('of 200 MiB no more than 10 MiB are read', async () => {
  let sent = 0;
  // As many parts as the client takes.
  const flood: Step = async (response) => {
    const part = Buffer.alloc(MIB / 4, ' ');
    response.writeHead(200, { 'Content-Type': 'application/json' });
    for (; sent < 200 * MIB && !response.destroyed; sent += part.length)
      await new Promise((written) => response.write(part, written));
    response.end();
  };
  const server = await startHostile([flood], new VirtualClock());
  const store = new AdoptionStore({ baseUrl: `${server.origin}/v1`, apiKey: KEY, clock: new VirtualClock() });
  await expect(store.categories.get(1n)).rejects.toMatchObject({ code: 'response_too_large' });
  server.close();
  expect(sent).toBeLessThan(30 * MIB);
});
