import { instant, InvalidInput, MINUTE, type WebhookRequest } from '@adoption-store/domain';
import { folderOf, temporaryFolder, until } from '@adoption-store/test-support';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { HttpWebhookSender } from '../src/webhooks/http-webhook-sender.js';
import { type ResolveName, resolveName } from '../src/webhooks/webhook-targets.js';
import { leavesNothing } from './open-resources.js';

const LOOPBACK = ['127.0.0.0/8', '::1'];
const HTTPS = 'url must be a URL that starts with https://';
const PUBLIC = '93.184.216.34';
/** Longer than any test: what ends earlier wasn't ended by the time-out. */
const LONG = 10 * MINUTE;
/** Milliseconds for attempts that nothing else ends. */
const SHORT = 300;

const words = (text: string) => text.trim().split(/\s+/);
const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`;
const SECRET = newSecret();

function request(url: string, changes: Partial<WebhookRequest> = {}): WebhookRequest {
  const id = `evt_${randomUUID().replaceAll('-', '')}`;
  return { url, id, at: instant(Date.now()), body: '{"type":"ping"}', secrets: [SECRET], ...changes };
}

async function portOf(server: TcpServer, host?: string): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  return (server.address() as AddressInfo).port;
}

/** A machine without IPv6 gives such servers an IPv4 address. */
const hasIpv6 = (server: TcpServer) => (server.address() as AddressInfo).family === 'IPv6';

async function end(server: TcpServer): Promise<void> {
  if (!server.listening) return;
  await new Promise((resolve) => server.close(resolve));
}

/** A sender whose names have these addresses, one list for each look-up; the last list stays. */
function sender(policy: { allow?: string[]; mayUseLocalhost?: boolean }, ...answers: string[][]) {
  const asked: string[] = [];
  const resolve = async (name: string) => {
    asked.push(name);
    return answers[Math.min(asked.length, answers.length) - 1] ?? [];
  };
  return { asked, sender: new HttpWebhookSender({ mayUseLocalhost: false, ...policy }, { resolve }) };
}

describe('a forbidden target', () => {
  /** Listens on every address of this machine, loopback ones too. Accepts connections and notes the address they reached. */
  let listener: TcpServer;
  let port: number;
  const seen: string[] = [];

  beforeAll(async () => {
    listener = createTcpServer((socket) => {
      seen.push(socket.localAddress ?? '');
      socket.resume().end('HTTP/1.1 204 No Content\r\n\r\n');
      socket.on('error', () => undefined);
    });
    port = await portOf(listener);
  });
  afterEach(() => void seen.splice(0));
  afterAll(() => end(listener));

  const HOSTS = words(`
    127.0.0.1 127.0.0.2 127.1 127.0.1 127.255.255.254 2130706433 017700000001 0x7f000001 0x7f.1 0x7F.0.0.0X1 0177.0.0.1
    0177.1 00000177.0.0.0x1 127.0.0.1. 127.1. 2130706433. 127。0。0。1 127．0｡0.1 １２７.0.0.1 ①②⑦.0.0.1 %31%32%37.0.0.1
    127%2e0%2E0.1 ０ｘ７ｆ.1 0 0.0.0.0 0.1 0.0.0.0. 0x0 localhost LOCALHOST LocalHost. ｌocalhost loc%61lhost
    10.0.0.1 10.1 0xa000001 012.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 192.168.257 100.64.0.1 100.127.255.254
    100.100.100.200 169.254.169.254 2852039166 0xa9fea9fe 0251.0376.0251.0376 169.254.43518 169.254.170.2 168.63.129.16
    192.0.0.192 192.0.2.2 198.18.0.1 198.51.100.1 203.0.113.1 192.88.99.1 224.0.0.1 239.255.255.250 240.0.0.1
    255.255.255.255 4294967295 [::1] [0:0:0:0:0:0:0:1] [::0001] [::] [::ffff:127.0.0.1] [::FFFF:7F00:2]
    [0:0:0:0:0:ffff:169.254.169.254] [::ffff:10.0.0.1] [::ffff:93.184.216.34] [::127.0.0.1] [::7f00:1]
    [::ffff:0:127.0.0.1] [64:ff9b::127.0.0.1] [64:ff9b::a9fe:a9fe] [64:ff9b:1::a00:1] [100::1] [2002:7f00:1::]
    [2002:a9fe:a9fe::1] [2001:0:7f00:1::] [2001:db8::1] [3fff::1] [4000::1] [fe80::1] [fe80::1%25lo] [fe80::1%lo]
    [::1%25lo] [febf::1] [fec0::1] [ff02::1] [ff0e::1] [fc00::1] [fd00:ec2::254] [fd20:ce::254] [fd00::2] [5f00::1]
    [2001:2::1] [2001:20::1]`);
  /** With the port in place of PORT. Their names lead to a public address. */
  const URLS = words(String.raw`
    https://user@hooks.example:PORT/ https://user:pass@hooks.example/ https://:pass@hooks.example/ https:127.0.0.1:PORT
    https://hooks.example@127.0.0.1:PORT/ https://hooks.example%40127.0.0.1:PORT/ https://127.0.0.1:PORT\@hooks.example/
    https://127.0.0.1:PORT#@hooks.example/ https:///127.0.0.1:PORT HTTPS:\\127.0.0.1:PORT https://127.0.0.1:PORT?.a.b
    http://hooks.example/ http://hooks.example:PORT/ http://93.184.216.34:PORT/ https://hooks.example:22/ https://
    https://hooks.example:80/ https://hooks.example:1023/ https://hooks.example:0/ http://hooks.example:443
    127.0.0.1:PORT //127.0.0.1:PORT /hooks ftp://hooks.example/ file:///etc/passwd ws://hooks.example/ data:,x
    gopher://127.0.0.1:PORT/ unix:/run/docker.sock https://[::1`);
  const NAMED = words('127.0.0.1 127.0.0.2 ::1 ::ffff:127.0.0.1 :: 0.0.0.0 fe80::1%lo 64:ff9b::7f00:1');

  /** Refused as a new webhook and at the attempt, and nothing was connected to. */
  async function expectRefused(url: string, addresses: string[] = [PUBLIC]) {
    const { sender: tested } = sender({}, addresses);
    for (const attempt of [() => tested.check(url), () => tested.send(request(url), LONG)]) {
      const error: unknown = await attempt().catch((thrown: unknown) => thrown);
      expect([url, error]).toEqual([url, expect.any(InvalidInput)]);
      const message: unknown = expect.stringMatching(/^url must /);
      expect(error).toMatchObject({ code: 'invalid_parameter', field: 'url', message });
    }
  }

  it('is refused in each of many spellings, and sees no connection', async () => {
    for (const host of HOSTS)
      for (const url of [`https://${host}:${port}/`, `http://${host}:${port}/`, `https://${host}/`])
        await expectRefused(url, ['127.0.0.1', '::1']);
    for (const url of [...URLS, '', ' https://127.0.0.1:PORT', 'https://127.0.\t0.1:PORT/'])
      await expectRefused(url.replace('PORT', String(port)));
    for (const address of NAMED) await expectRefused(`https://hooks.example:${port}/`, [address]);
    await expectRefused(`https://hooks.example:${port}/`, NAMED);
    await expectRefused('https://unknown.example/', []);
    expect(seen).toEqual([]);
  });

  it('is refused when a name leads there after it has led to a public address', async () => {
    for (const address of NAMED) {
      const { sender: tested, asked } = sender({}, [PUBLIC], [address]);
      const url = `https://hooks.example:${port}/`;
      await tested.check(url);
      await expect(tested.send(request(url), LONG)).rejects.toThrow('url must lead to a public address: ');
      expect(asked).toHaveLength(2);
    }
    expect(seen).toEqual([]);
  });

  it('sees nothing of an attempt that reaches an allowed address of the same name, which is resolved once', async () => {
    const allow = ['127.0.0.5/32'];
    const { sender: tested, asked } = sender({ allow }, ['127.0.0.1', '::1', '127.0.0.5', '10.0.0.1'], ['127.0.0.2']);
    expect(await tested.send(request(`http://hooks.example:${port}/`), LONG)).toMatchObject({ status: 204 });
    expect([asked, seen]).toEqual([['hooks.example'], [expect.stringMatching(/127\.0\.0\.5$/)]]);
  });

  it('is allowed by http, too, in networks that the operator names, and in no other', async () => {
    const { sender: tested } = sender({ allow: LOOPBACK });
    const hosts = ['127.0.0.1', '0x7f.1', ...(hasIpv6(listener) ? ['[::1]', '[::ffff:127.0.0.1]'] : [])];
    for (const host of hosts)
      expect(await tested.send(request(`http://${host}:${port}/`), LONG)).toMatchObject({ status: 204 });
    expect(seen).toHaveLength(hosts.length);
    for (const url of ['http://10.0.0.1/', 'ftp://127.0.0.1/']) await expect(tested.check(url)).rejects.toThrow(HTTPS);
  });

  it('is localhost, except by its name where the store runs on one machine', async () => {
    const local = new HttpWebhookSender({ mayUseLocalhost: true });
    expect(await local.send(request(`http://localhost:${port}/`), LONG)).toMatchObject({ status: 204 });
    for (const url of words('http://127.0.0.1:PORT/ http://localhost/ http://hooks.example:PORT/ https://[::1]:PORT/'))
      await expect(local.check(url.replace('PORT', String(port)))).rejects.toThrow('url must ');
    const { sender: elsewhere } = sender({ mayUseLocalhost: true }, ['10.0.0.1', PUBLIC]);
    await expect(elsewhere.check(`http://localhost:${port}/`)).rejects.toThrow('url must lead to a public address: ');
    expect(seen).toHaveLength(1);
  });

  it('is refused in the words of a name that does not exist, so that nobody learns which names exist inside', async () => {
    for (const url of words(
      'https://hooks.example/ http://hooks.example/ https://hooks.example:22/ http://hooks.example:22/',
    ))
      for (const addresses of [['10.0.0.1'], ['fd00::2'], ['169.254.169.254', '::1'], NAMED]) {
        const failure = async (found: string[]) => sender({}, found).sender.check(url).catch(String);
        expect(await failure(addresses)).toBe(await failure([]));
      }
  });

  it('is no public address by https, at port 443 or from 1024', async () => {
    for (const end of ['', ':443/', ':1024/a?b=c', ':65535/'])
      for (const host of [PUBLIC, '[2606:2800:220:1::1]', 'hooks.example', 'Bücher.example.'])
        await sender({}, ['10.0.0.1', PUBLIC]).sender.check(`https://${host}${end}`);
  });
});

describe('a URL', () => {
  const { sender: tested } = sender({ allow: LOOPBACK }, [PUBLIC]);

  it.each([
    ['https://Hooks.Example:443', 'https://hooks.example/'],
    ['HTTPS:hooks.example/a/../b?c=d#e', 'https://hooks.example/b?c=d'],
    ['https://bücher.example/ä b?ö', 'https://xn--bcher-kva.example/%C3%A4%20b?%C3%B6'],
    ['http://127.1:8080/#x', 'http://127.0.0.1:8080/'],
  ])('is stored as the WHATWG’s parser writes it: %s', async (url, written) => {
    expect(await tested.check(url)).toBe(written);
    expect(await tested.check(written)).toBe(written);
  });

  it('is refused with outer white space, a control character or a backslash', async () => {
    const host = 'https://hooks.example/';
    const outer = [' ', '\n', '\t', '\u00a0', '\u3000', '\ufeff'].flatMap((space) => [space + host, host + space]);
    const inner = ['\0', '\t', '\n', '\u001f', '\u007f', '\u0085', '\\'].map((character) => `${host}a${character}b?c`);
    for (const url of [...outer, ...inner, String.raw`https:\\hooks.example`, `${host}?\\`, `${host}#\\`])
      await expect(tested.check(url)).rejects.toMatchObject({
        code: 'invalid_parameter',
        message: 'url must have no outer white space, control character or backslash',
      });
  });
});

describe('an attempt', () => {
  type Answer = (response: ServerResponse, request: IncomingMessage) => void;
  let server: Server;
  let url: string;
  let answer: Answer;
  let sockets: Socket[];
  let received: { headers: IncomingMessage['headers']; path: string | undefined; body: string }[];
  const { sender: tested } = sender({ allow: LOOPBACK }, ['127.0.0.1']);

  function receive(incoming: IncomingMessage, response: ServerResponse) {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      received.push({ headers: incoming.headers, path: incoming.url, body: Buffer.concat(chunks).toString() });
      answer(response, incoming);
    });
  }

  beforeEach(async () => {
    [sockets, received] = [[], []];
    answer = (response) => response.writeHead(200).end('ok');
    server = createServer({ keepAliveTimeout: 0 }, receive).on('connection', (socket) => sockets.push(socket));
    url = `http://127.0.0.1:${await portOf(server, '127.0.0.1')}/hooks?to=us`;
  });
  afterEach(() => end(server));

  /** The attempts have closed all connections, which this server leaves open. */
  const closed = () => until(() => sockets.every((socket) => socket.destroyed));

  it('gives the status of each response, and follows no redirect', async () => {
    const statuses = [204, 302, 308, 404, 410, 503];
    for (const status of statuses) {
      answer = (response) => response.writeHead(status, { location: '/elsewhere' }).end();
      expect(await tested.send(request(url), LONG)).toEqual({ status, retryAfter: undefined });
    }
    expect(received.map(({ path }) => path)).toEqual(statuses.map(() => '/hooks?to=us'));
    expect(sockets).toHaveLength(statuses.length);
    await closed();
  });

  it('reaches a URL that was stored before its spelling was judged', async () => {
    const old = `\t${url.replace('//', '\\\\').replace('127.0.0.1', '127.1')}#x \n`;
    expect(await tested.send(request(old), LONG)).toMatchObject({ status: 200 });
    expect(received.map(({ path }) => path)).toEqual(['/hooks?to=us']);
  });

  it.each<[string | string[], number | undefined]>([
    ['120', 2 * MINUTE],
    ['0', 0],
    ['Thu, 01 Jan 2026 00:02:00 GMT', 2 * MINUTE],
    ['Thursday, 01-Jan-26 00:02:00 GMT', 2 * MINUTE],
    ['Thu Jan  1 00:02:00 2026', 2 * MINUTE],
    ['Wed, 31 Dec 2025 23:59:59 GMT', 0],
    ['Mon, 30 Feb 2026 00:02:00 GMT', undefined],
    ['2026-01-01T00:02:00Z', undefined],
    ['-1', undefined],
    [['1', '2'], undefined],
  ])('gives the milliseconds of Retry-After: %j is %s', async (header, retryAfter) => {
    answer = (response) => response.setHeader('retry-after', header).writeHead(503).end();
    const at = instant(Date.UTC(2026, 0, 1));
    expect(await tested.send(request(url, { at }), LONG)).toEqual({ status: 503, retryAfter });
  });

  it.each<[string, Answer]>([
    ['a body in which it is cut off', (response) => response.write('x', () => response.destroy())],
    ['a body in which it is reset', (response) => response.write('x', () => response.socket?.resetAndDestroy())],
    ['a body that stalls', (response) => response.writeHead(200, { 'content-length': 2 }).write('x')],
  ])('gives the status before %s', async (_, behave) => {
    answer = behave;
    expect(await tested.send(request(url), LONG)).toMatchObject({ status: 200 });
    await closed();
  });

  /** Writes the first text, then the second one again and again. */
  const raw =
    (first: string, again?: string): Answer =>
    (response) => {
      response.socket?.write(first);
      if (again === undefined) return;
      const timer = setInterval(() => response.socket?.write(again), 5);
      response.on('close', () => {
        clearInterval(timer);
      });
    };
  const OK = 'HTTP/1.1 200 OK\r\n';
  it.each<[string, number, RegExp, Answer]>([
    ['says nothing', SHORT, /^no response within 300 ms$/, () => undefined],
    ['drips its headers', SHORT, /^no response/, raw(`${OK}a: `, 'b')],
    ['switches protocols', LONG, /no response/, raw('HTTP/1.1 101 X\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n')],
    ['speaks another protocol', LONG, /HTTP/, raw('220 mail.example ESMTP\r\n')],
    ['resets the connection', LONG, /ECONNRESET|closed/, (to) => to.socket?.resetAndDestroy()],
  ])('fails if the receiver %s', async (_, timeout, reason, behave) => {
    answer = behave;
    await expect(tested.send(request(url), timeout)).rejects.toThrow(reason);
    await closed();
  });

  /** Writes the first text, then the second one as often as the connection takes it. */
  const flood =
    (first: string, again: string): Answer =>
    ({ socket }) => {
      const repeat = () => {
        while (socket?.destroyed === false && socket.write(again));
      };
      socket?.on('drain', repeat).write(first, repeat);
    };
  /** The result, and the bytes that a connection of this process has read from the network. */
  async function measured<Result>(work: () => Promise<Result>): Promise<[result: Result, bytes: number]> {
    const opened: Socket[] = [];
    const note = (message: unknown) => opened.push((message as { readonly socket: Socket }).socket);
    subscribe('net.client.socket', note);
    try {
      return [await work(), Math.max(...opened.map(({ bytesRead }) => bytesRead))];
    } finally {
      unsubscribe('net.client.socket', note);
    }
  }
  /** Two reads of the worker. As much again may be in the kernel's buffers. */
  const MOST_READ = 128 * 1_024;
  const CHUNKED = `${OK}transfer-encoding: chunked\r\n\r\n`;
  const LINES = `a: ${'b'.repeat(1_000)}\r\n`;
  const ENDLESS_BODY = flood(`${OK}\r\n`, LINES);
  it.each<[string, number | RegExp, Answer]>([
    ['an endless body', 200, ENDLESS_BODY],
    ['an endless body without a length', 200, flood('HTTP/1.0 200 OK\r\n\r\n', LINES)],
    ['endless chunk extensions', 200, flood(CHUNKED, `1;${'e'.repeat(8_000)}\r\nx\r\n`)],
    ['endless trailers', 200, flood(`${CHUNKED}0\r\n`, LINES)],
    ['endless further responses', 200, flood('', `${OK}content-length: 0\r\n\r\n`.repeat(1_000))],
    ['endless headers', /Header overflow/, flood(OK, LINES)],
    ['an endless reason', /overflow|longer/, flood('HTTP/1.1 200 ', 'x'.repeat(60_000))],
    ['endless early hints', /longer than/, flood('', `HTTP/1.1 103 Early Hints\r\n${LINES}\r\n`)],
    ['endless empty lines', /longer than/, flood('', '\r\n'.repeat(30_000))],
  ])('reads little of %s: if the status comes before it, it is no failure', async (_, outcome, behave) => {
    answer = behave;
    const [result, bytes] = await measured(() => tested.send(request(url), LONG).catch(String));
    expect(typeof result === 'string' ? result : result.status).toEqual(
      typeof outcome === 'number' ? outcome : expect.stringMatching(outcome),
    );
    expect(bytes).toBeLessThanOrEqual(MOST_READ);
    await closed();
  });

  it('fails within its time while a name is resolved, or a connection is made secure', async () => {
    const questions: Buffer[] = [];
    const silentDns = createSocket('udp4', (question) => questions.push(question)).bind(0, '127.0.0.1');
    await once(silentDns, 'listening');
    const servers = [`127.0.0.1:${silentDns.address().port}`];
    const resolve: ResolveName = (name, signal) => resolveName(name, signal, servers);
    const asking = new HttpWebhookSender({ mayUseLocalhost: false }, { resolve });
    await expect(asking.send(request('https://hooks.example/'), SHORT)).rejects.toThrow('no response');
    silentDns.close();
    // One for IPv4 and one for IPv6. None was repeated, as it is after 2 seconds: nobody waits for an answer any more.
    expect(questions).toHaveLength(2);
    const silent = createTcpServer((socket) => sockets.push(socket.resume()));
    const port = await portOf(silent, '127.0.0.1');
    await expect(tested.send(request(`https://127.0.0.1:${port}/`), SHORT)).rejects.toThrow('no response');
    await closed();
    await end(silent);
  });

  it('leaves no timer and no socket behind, however long it might have taken', async () => {
    await leavesNothing(() => tested.send(request(url), LONG));
    await leavesNothing(() => tested.check(url));
  });

  it('tries the next allowed address of a name where nobody listens, of at most eight', async () => {
    const { sender: several } = sender({ allow: LOOPBACK }, ['::1', '127.0.0.9', '127.0.0.1']);
    const target = url.replace('127.0.0.1', 'hooks.example');
    expect(await several.send(request(target), LONG)).toMatchObject({ status: 200 });
    expect(received[0]?.headers.host).toBe(new URL(target).host);
    const { sender: scanning } = sender({ allow: LOOPBACK }, [...Array<string>(8).fill('127.0.0.9'), '127.0.0.1']);
    await expect(scanning.send(request(target), LONG)).rejects.toThrow();
    expect(received).toHaveLength(1);
  });

  const OPENSSL = folderOf('TLS of webhooks', 'openssl', 'openssl');
  const itWithOpenssl = OPENSSL === undefined ? it.skip : it;
  itWithOpenssl('by https is made only to the certified name, and reads as little', async () => {
    const folder = await temporaryFolder();
    const [key, certificate] = [join(folder.path, 'key'), join(folder.path, 'certificate')];
    const kind = '-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=x';
    const names = '-addext subjectAltName=DNS:hooks.example';
    const args = words(`req -x509 ${kind} ${names} -keyout ${key} -out ${certificate}`);
    execFileSync(join(OPENSSL ?? '', 'openssl'), args, { stdio: 'ignore' });
    const ca = readFileSync(certificate, 'utf8');
    const secure = createTlsServer({ cert: ca, key: readFileSync(key) }, receive);
    const target = `https://hooks.example:${await portOf(secure, '127.0.0.1')}/`;
    const network = { resolve: async () => ['127.0.0.1'], ca };
    const trusting = new HttpWebhookSender({ allow: LOOPBACK, mayUseLocalhost: false }, network);
    await expect(tested.send(request(target), LONG)).rejects.toThrow('self-signed certificate');
    await expect(trusting.send(request(target.replace('hooks', 'other')), LONG)).rejects.toThrow('altnames');
    expect(received).toEqual([]);
    expect(await trusting.send(request(target), LONG)).toMatchObject({ status: 200 });
    answer = ENDLESS_BODY;
    const [response, bytes] = await measured(() => trusting.send(request(target), LONG));
    expect([response.status, bytes <= MOST_READ]).toEqual([200, true]);
    await end(secure);
    await folder.remove();
  });

  const [FORMER, NEXT] = [newSecret(), newSecret()];
  it.each([
    ['its secret', [NEXT]],
    ['both of its secrets during a rotation', [NEXT, FORMER]],
  ])('is signed with %s: standardwebhooks verifies it, unless it was changed', async (_which, secrets) => {
    const sent = request(url, { secrets, body: '{"type":"pet.added","data":{"name":"Zoë 🐈"}}' });
    await tested.send(sent, LONG);
    const [got] = received;
    expect(got).toMatchObject({ body: sent.body, headers: { 'user-agent': 'adoption-store-webhooks' } });
    const headers = got?.headers as Record<string, string>;
    expect(headers).toMatchObject({ 'content-type': 'application/json', 'webhook-id': sent.id });
    const verify = (secret: string, text = sent.body, changes = {}) =>
      new Webhook(secret).verify(text, { ...headers, ...changes });
    for (const secret of secrets) {
      expect(verify(secret)).toEqual(JSON.parse(sent.body));
      expect(() => verify(secret, sent.body.replace('Zoë', 'Zoe'))).toThrow('No matching signature');
      expect(() => verify(secret, sent.body, { 'webhook-id': 'evt_other' })).toThrow('No matching signature');
    }
    for (const secret of [FORMER, NEXT].filter((each) => !secrets.includes(each)))
      expect(() => verify(secret)).toThrow('No matching signature');
    await closed();
  });
});
