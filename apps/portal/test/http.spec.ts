import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { sendUndescribed } from '@adoption-store/api/testing/raw-http';
import { TooManyAtOnce } from '@adoption-store/infrastructure/turns';
import { until } from '@adoption-store/test-support';
import fastify from 'fastify';
import { boundUnfinishedBodies } from '../src/http/unfinished-bodies.js';
import { PASSWORD } from './support/portal-visitor.js';
import { portal } from './support/store.js';

const port = () => Number(new URL(portal.origin).port);
const POLICY =
  "default-src 'none';script-src 'self';style-src 'self';img-src 'self';font-src 'self';form-action 'self';" +
  "base-uri 'none';frame-ancestors 'none'";

describe('a form', () => {
  it.each([
    ['without a token', () => ''],
    ['with a token that was made up', () => 'made-up'],
    ['with somebody else’s token', (other: string) => other],
  ])('%s is refused and does nothing', async (_what, token) => {
    const [visitor, other] = [await portal.signedUp(), await portal.signedUp()];
    await visitor.get('/account');
    await other.get('/account');
    for (const path of ['/account/close', '/keys', '/sign-out', '/catalogue', '/sign-in']) {
      const { status } = await visitor.post(path, { _csrf: token(other.token), password: PASSWORD });
      expect([path, status]).toEqual([path, 403]);
    }
    expect((await visitor.get('/account')).status).toBe(200);
  });

  it('of another site is not shown again: what it names would be sent by a click', async () => {
    const visitor = await portal.signedUp();
    await visitor.get('/keys');
    const sent = { name: 'Rex', 'kept-action': '/account/address', 'kept-email': 'attacker@evil.example' };
    for (const path of ['/catalogue', '/sign-in']) {
      for (const person of [visitor, portal.visitor()]) {
        const refused = await person.post(path, { ...sent, _csrf: 'made-up' });
        expect([path, refused.status]).toEqual([path, 403]);
        expect(refused.text).not.toMatch(/Rex|evil\.example|kept-/);
      }
    }
  });

  it('without any cookie is refused', async () => {
    const visitor = portal.visitor();
    await visitor.get('/sign-in');
    visitor.cookies.clear();
    expect((await visitor.post('/sign-in')).status).toBe(403);
  });

  it.each([
    ['too large', 413, { headers: {}, body: new URLSearchParams({ name: 'x'.repeat(20_000) }) }],
    ['not a form', 415, { headers: {}, body: new Blob(['{}'], { type: 'application/json' }) }],
  ])('that is %s is answered with a page: %d', async (_what, status, init) => {
    const answer = await portal.visitor().send('/sign-in', { method: 'POST', ...init });
    expect(answer.status).toBe(status);
    expect(answer.headers.get('content-type')).toContain('text/html');
  });
});

describe('bytes that are not UTF-8', () => {
  const TYPE = 'application/x-www-form-urlencoded';
  const bytes = (text: string) => Buffer.from(text, 'latin1');

  it.each(['Zo%E9', 'Zo\u00e9', '%ED%A0%80', '%', '%C3+%A9', '100%'])(
    'are refused in a form, as in %s',
    async (name) => {
      const visitor = await portal.signedUp();
      await visitor.get('/keys');
      for (const body of [`access=full&name=${name}`, `access=full&name=x&${name}=x`]) {
        const form = bytes(`_csrf=${encodeURIComponent(visitor.token)}&${body}`);
        const { status } = await visitor.send('/keys', {
          method: 'POST',
          headers: { 'content-type': TYPE },
          body: form,
        });
        expect([body, status]).toEqual([body, 400]);
      }
      expect((await visitor.get('/keys')).text).not.toMatch(/<bdi[^>]*>Zo/);
    },
  );

  it.each(['/keys?name=Zo%E9', '/catalogue?%E9=1', '/sign-in?%'])(
    'are refused in an address, as in %s',
    async (path) => {
      expect((await portal.visitor().get(path)).status).toBe(400);
    },
  );

  it('are told from UTF-8, percent-encoded or not', async () => {
    const visitor = await portal.signedUp();
    for (const name of ['Zo+ë', 'Zo+%C3%AB', 'Zo+%EF%BF%BD']) {
      await visitor.get('/keys');
      const body = `_csrf=${encodeURIComponent(visitor.token)}&access=full&name=${name}`;
      await visitor.send('/keys', { method: 'POST', headers: { 'content-type': TYPE }, body });
    }
    const { text } = await visitor.get('/keys');
    expect(text.match(/<bdi dir="auto">Zo .<\/bdi>/gu)).toEqual(
      ['\ufffd', 'ë', 'ë'].map((last) => `<bdi dir="auto">Zo ${last}</bdi>`),
    );
  });
});

describe('every page', () => {
  it.each(['/', '/keys', '/nowhere'])('%s is kept nowhere and loads nothing else', async (path) => {
    const { headers } = await portal.visitor().get(path);
    expect(Object.fromEntries(headers)).toMatchObject({
      'cache-control': 'no-store',
      'content-security-policy': POLICY,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    });
  });

  it('names its files by their content, so that browsers can cache them', async () => {
    const { text } = await portal.visitor().get('/');
    const [address = ''] = /\/public\/style\.css\?[\w-]+/.exec(text) ?? [];
    const file = await fetch(portal.origin + address);
    expect(file.status).toBe(200);
    expect(file.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect((await fetch(`${portal.origin}/public/style.css`)).headers.get('cache-control')).toBe('no-cache');
    expect((await fetch(`${portal.origin}/favicon.ico`)).headers.get('content-type')).toBe('image/svg+xml');
  });
});

describe('broken HTTP', () => {
  const HOST = 'Host: portal.example';
  const FORM = 'Content-Type: application/x-www-form-urlencoded';
  const CHUNKED = 'Transfer-Encoding: chunked';
  const lines = (...all: readonly string[]) => `${all.join('\r\n')}\r\n\r\n`;
  const get = (target: string, ...headers: readonly string[]) => lines(`GET ${target} HTTP/1.1`, HOST, ...headers);
  const post = (...headers: readonly string[]) => lines('POST /sign-in HTTP/1.1', HOST, ...headers);
  const send = (bytes: string, answers = 1) => sendUndescribed({ host: '127.0.0.1', port: port() }, bytes, answers);

  // [bytes, status, whether the connection is closed]
  const BROKEN: Readonly<Record<string, readonly [bytes: string, status: number, isClosed: boolean]>> = {
    'a path with a bad percent-encoding': [get('/%zz'), 400, false],
    'a fragment': [get('/sign-in#x'), 400, false],
    'a path with a parameter of 300 characters': [get(`/webhooks/${'x'.repeat(300)}`), 303, false],
    'a URL of 9 KB': [get(`/sign-in?${'x'.repeat(9_000)}`), 414, false],
    'a URL of 20 KB': [get(`/sign-in?${'x'.repeat(20_000)}`), 414, true],
    'headers of 20 KB': [get('/sign-in', `Cookie: a=${'x'.repeat(20_000)}`), 431, true],
    'a bad request line': ['nonsense\r\n\r\n', 400, true],
    'an unknown method': [lines('FOO /keys HTTP/1.1', HOST), 405, true],
    CONNECT: [lines('CONNECT x:443 HTTP/1.1', HOST), 405, true],
    'no Host': [lines('GET /sign-in HTTP/1.1'), 400, false],
    'an odd Expect': [get('/sign-in', 'Expect: x'), 417, false],
    'a bad chunk': [`${post(FORM, CHUNKED)}zz\r\n`, 400, true],
    'a bad chunk that nobody reads': [`${get('/sign-in', CHUNKED)}zz\r\n`, 400, true],
    'a coding before chunked': [`${post(FORM, 'Transfer-Encoding: gzip, chunked')}0\r\n\r\n`, 400, true],
    'a coding in HTTP/1.0': [lines('POST /sign-in HTTP/1.0', FORM, CHUNKED, 'Connection: keep-alive'), 400, true],
    'two Content-Types': [`${post(FORM, FORM, 'Content-Length: 3')}a=b`, 400, true],
    'two Cookies': [get('/sign-in', 'Cookie: a=b', 'Cookie: c=d'), 400, false],
    'a method that a page does not take': [lines('PUT /keys HTTP/1.1', HOST), 405, false],
  };

  it.each(Object.entries(BROKEN))('%s is answered with a page and the headers of every page', async (_case, row) => {
    const [bytes, status, isClosed] = row;
    const [response, ...more] = await send(bytes, isClosed ? Infinity : 1);
    expect(more).toEqual([]);
    expect(response?.status).toBe(status);
    const { headers } = await portal.visitor().get('/');
    const common = ['cache-control', ...[...headers.keys()].filter((name) => /security|origin|policy|^x-/.test(name))];
    expect(common.length).toBeGreaterThan(10);
    for (const name of common) expect([name, response?.headers[name]]).toEqual([name, headers.get(name)]);
    expect(response?.headers['connection']).toBe(isClosed ? 'close' : 'keep-alive');
    if (status === 303) return;
    expect(response?.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(response?.body).toMatch(new RegExp(`Status ${status}[^]*</html>\\n$`));
  });

  it.each([
    ['PUT', '/keys', 'GET, HEAD, POST'],
    ['GET', '/sign-out', 'POST'],
    ['POST', '/livez', 'GET, HEAD'],
    ['FOO', '/account/password', 'POST'],
  ])('%s %s is 405 and says what is allowed: %s', async (method, path, allow) => {
    const [response] = await send(lines(`${method} ${path} HTTP/1.1`, HOST));
    expect(response).toMatchObject({ status: 405, headers: { allow } });
  });

  it('behind a good request is answered after it', async () => {
    const responses = await send(`${get('/sign-in')}nonsense\r\n\r\n`, Infinity);
    expect(responses.map(({ status }) => status)).toEqual([200, 400]);
  });
});

describe('what an account does at once', () => {
  it('waits in its own line: 200 slow pages of one account take 16 turns, and another’s page is shown meanwhile', async () => {
    const [person, neighbour] = [await portal.signedUp(), await portal.signedUp()];
    const account = await portal.application.findAccount.execute(person.email);
    const { orders } = portal.ports;
    const list = orders.list.bind(orders);
    const begun: ((found: []) => void)[] = [];
    const slow = jest.spyOn(orders, 'list').mockImplementation((query) => {
      return query.accountId === account?.id ? new Promise((resolve) => begun.push(resolve)) : list(query);
    });
    let refused = 0;
    const pages = Array.from({ length: 200 }, async () => {
      const { status } = await person.get('/orders');
      if (status === 503) refused += 1;
      return status;
    });
    await until(() => begun.length >= 16);
    expect((await neighbour.get('/orders')).status).toBe(200);
    await until(() => refused === 184);
    expect(begun).toHaveLength(16);
    for (const end of begun) end([]);
    expect((await Promise.all(pages)).filter((status) => status === 200)).toHaveLength(16);
    slow.mockRestore();
  });

  it('is 429 with Retry-After if its own requests keep it waiting', async () => {
    const person = await portal.signedUp();
    jest.spyOn(portal.ports.orders, 'list').mockRejectedValueOnce(new TooManyAtOnce());
    const { status, headers, text } = await person.get('/orders');
    expect([status, headers.get('retry-after')]).toEqual([429, '1']);
    expect(text).toContain('Too many at once');
  });
});

describe('requests with unfinished bodies', () => {
  const MOST = 32;
  const FORM = 'application/x-www-form-urlencoded';
  const opened = new Set<Client>();
  let addresses = 0;

  /** A connection with an unfinished request. */
  class Client {
    answer = '';
    /** How long it was open, in milliseconds. */
    readonly closed: Promise<number>;
    readonly socket = connect(port(), '127.0.0.1');

    constructor(bytes: string) {
      const startedAt = performance.now();
      opened.add(this);
      this.socket.on('data', (chunk) => {
        this.answer += chunk.toString();
      });
      this.socket.on('error', () => undefined);
      this.socket.write(bytes);
      this.closed = once(this.socket, 'close').then(() => performance.now() - startedAt);
    }

    get status(): string | undefined {
      return /^HTTP\/1\.1 (\d+)/.exec(this.answer)?.[1];
    }
  }

  afterEach(() => {
    for (const { socket } of opened) socket.destroy();
    opened.clear();
  });

  const newAddress = () => `198.51.100.${(addresses += 1)}`;

  /** Sends the head of a form of 30 bytes, and the beginning of its body. */
  function begin(address: string, { path = '/sign-in', method = 'POST', type = FORM } = {}): Client {
    const head = `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: ${address}\r\nContent-Type: ${type}`;
    return new Client(`${head}\r\nContent-Length: 30\r\n\r\nemail=`);
  }

  const fill = (addressOf: (index: number) => string, options = {}) =>
    Array.from({ length: MOST }, (_, index) => begin(addressOf(index), options));

  /** Whether a further body of the address is refused: then the response comes at once. */
  async function isRefused(address: string): Promise<boolean> {
    const form = await fetch(`${portal.origin}/sign-in`, {
      method: 'POST',
      headers: { 'x-forwarded-for': address },
      body: new URLSearchParams({ email: 'nobody@example.com' }),
    });
    expect([403, 429]).toContain(form.status);
    return form.status === 429;
  }

  /** The client may see the end of its connection before the server does. */
  const makesRoom = (address: string) => until(async () => !(await isRefused(address)));

  /** An address that has as many unfinished bodies as it may. */
  async function full(): Promise<{ readonly address: string; readonly held: readonly Client[] }> {
    const address = newAddress();
    const held = fill(() => address);
    await until(() => isRefused(address));
    return { address, held };
  }

  /** The requests that wait for their timeout are begun before the other tests, which run meanwhile. */
  const left = {} as Awaited<ReturnType<typeof full>> & { inHeaders: Client };

  beforeAll(async () => {
    Object.assign(left, await full(), { inHeaders: new Client('POST /sign-in HTTP/1.1\r\nHost: loc') });
    opened.clear();
  });

  it('one address may have 32 unfinished bodies; one more is 429 at once, and closed; pages and others are answered', async () => {
    const { address, held } = await full();
    const further = begin(address);
    await further.closed;
    expect(further.status).toBe('429');
    for (const header of ['connection: close', 'retry-after: 8', 'cache-control: no-store', 'content-security-policy'])
      expect(further.answer.toLowerCase()).toContain(`\r\n${header}`);
    expect(held.filter(({ status }) => status !== undefined)).toEqual([]);
    const page = await fetch(`${portal.origin}/sign-in`, { headers: { 'x-forwarded-for': address } });
    expect(page.status).toBe(200);
    expect(await isRefused(newAddress())).toBe(false);
  });

  it('the addresses of one IPv6 /64 network count together, as for forms', async () => {
    fill((index) => `2001:db8:0:7::${(index + 1).toString(16)}`);
    await until(() => isRefused('2001:db8:0:7:ffff::1'));
    expect(await isRefused('2001:db8:0:8::1')).toBe(false);
  });

  it.each([
    ['for its type', { type: 'text/plain' }, '415'],
    ['as its method takes no body', { method: 'GET' }, '200'],
    ['as its address is no page', { path: '/nowhere', type: 'text/plain' }, '404'],
  ])('a request that is answered before its body, %s, is closed and makes room', async (_why, options, expected) => {
    const address = newAddress();
    const clients = fill(() => address, options);
    await Promise.all(clients.map(({ closed }) => closed));
    for (const { answer, status } of clients) {
      expect(status).toBe(expected);
      expect(answer).toMatch(/^connection: close\r$/im);
      expect(answer).not.toMatch(/^HTTP\/1\.1 408/m);
    }
    await makesRoom(address);
  });

  it('a body that times out makes room', async () => {
    const { address, held } = left;
    await Promise.all(held.map(({ closed }) => closed));
    expect(held.filter(({ status }) => status !== '408')).toEqual([]);
    await makesRoom(address);
  });

  it('a request that ends within its headers is cut long before the minute that is Node’s default', async () => {
    expect(await left.inHeaders.closed).toBeLessThan(40_000);
    expect(left.inHeaders.status).toBe('408');
  });

  it('a request counts only until its body has arrived', async () => {
    const server = fastify();
    let arrived = 0;
    boundUnfinishedBodies(server, 8_000);
    server.post('/', async () => {
      arrived += 1;
      await until(() => arrived === MOST + 1);
      return 'taken';
    });
    const origin = await server.listen({ port: 0, host: '127.0.0.1' });
    const requests = Array.from({ length: MOST + 1 }, () => fetch(origin, { method: 'POST', body: 'text' }));
    expect((await Promise.all(requests)).filter(({ status }) => status !== 200)).toEqual([]);
    await server.close();
  });
});
