import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { sendUndescribed } from '@adoption-store/api/testing/raw-http';
import { HAPROXY, Proxy } from '../support/proxy.js';

const PORTAL_HOST = 'portal.example.com';
const KEY = 'Idempotency-Key: one\r\n';

/** A server whose readiness the test sets. */
class Instance {
  isReady = true;
  private port = 0;
  private readonly server: Server;

  constructor(private readonly answers: (request: IncomingMessage) => boolean) {
    this.server = createServer((request, response) => {
      if (request.url === '/readyz') response.writeHead(this.isReady ? 200 : 503).end();
      else if (this.answers(request)) response.end();
      else request.socket.destroy();
    });
  }

  get address(): string {
    return `127.0.0.1:${this.port}`;
  }

  async start(): Promise<void> {
    await once(this.server.listen(this.port, '127.0.0.1'), 'listening');
    this.port = (this.server.address() as AddressInfo).port;
  }

  kill(): void {
    this.server.close();
    this.server.closeAllConnections();
  }
}

(HAPROXY === undefined ? describe.skip : describe)('the proxy', () => {
  /** How often each request has reached an instance, by its path. */
  let deliveries: Map<string, number>;
  const answers = ({ url = '' }: IncomingMessage) => {
    const count = (deliveries.get(url) ?? 0) + 1;
    deliveries.set(url, count);
    return !url.startsWith('/lost') || count > 1;
  };
  const [first, second, portal] = [new Instance(answers), new Instance(answers), new Instance(answers)];
  const instances = [first, second, portal];
  let proxy: Proxy;

  beforeAll(async () => {
    await Promise.all(instances.map((instance) => instance.start()));
    const [API_1, API_2, PORTAL] = [first.address, second.address, portal.address];
    proxy = await Proxy.start({ API_1, API_2, PORTAL, PORTAL_URL: `http://${PORTAL_HOST}` });
    await proxy.hasServers('api', 2);
    await proxy.hasServers('portal', 1);
  });

  beforeEach(() => {
    deliveries = new Map();
  });

  afterAll(async () => {
    for (const instance of instances) instance.kill();
    await proxy.stop();
  });

  async function statusesOf(line: string, host: string, headers = '', body = ''): Promise<readonly number[]> {
    const length = body === '' ? '' : `Content-Length: ${body.length}\r\n`;
    const bytes = `${line} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n${length}${headers}\r\n${body}`;
    const responses = await sendUndescribed({ host: '127.0.0.1', port: proxy.port }, bytes);
    return responses.map(({ status }) => status);
  }

  /** The distinct statuses of some reads and writes. */
  async function usualStatuses(host = 'a'): Promise<readonly number[]> {
    const statuses = [];
    for (let turn = 0; turn < 5; turn += 1)
      for (const method of ['GET', 'POST']) statuses.push(...(await statusesOf(`${method} /`, host, KEY, 'a')));
    return [...new Set(statuses)];
  }

  const serversSince = (line: number) => [...new Set(proxy.lines.slice(line).map(({ server }) => server))].sort();

  it('uses instances that aren’t ready only while none is, also if one of them is killed', async () => {
    for (const instance of [first, second]) instance.isReady = false;
    await proxy.hasServers('api', 0);
    expect(await usualStatuses()).toEqual([200]);
    first.kill();
    const after = proxy.lines.length;
    expect(await usualStatuses()).toEqual([200]);
    expect(serversSince(after)).toEqual(['api-2-unready']);
    second.isReady = true;
    await proxy.hasServers('api', 1);
    const again = proxy.lines.length;
    expect(await usualStatuses()).toEqual([200]);
    expect(serversSince(again)).toEqual(['api-2']);
    await first.start();
    first.isReady = true;
    await proxy.hasServers('api', 2);
  });

  it('uses a portal that isn’t ready', async () => {
    portal.isReady = false;
    await proxy.hasServers('portal', 0);
    expect(await usualStatuses(PORTAL_HOST)).toEqual([200]);
    portal.isReady = true;
    await proxy.hasServers('portal', 1);
    const again = proxy.lines.length;
    expect(await usualStatuses(PORTAL_HOST)).toEqual([200]);
    expect(serversSince(again)).toEqual(['portal']);
  });

  it.each<[what: string, times: number, method: string, host: string, headers: string, body: string]>([
    ['a read', 2, 'GET', 'a', '', ''],
    ['a read of the portal', 2, 'GET', PORTAL_HOST, '', ''],
    ['a POST with an Idempotency-Key', 2, 'POST', 'a', KEY, 'a'.repeat(29_000)],
    ['a POST without an Idempotency-Key', 1, 'POST', 'a', '', 'a'],
    ['a POST to the portal', 1, 'POST', PORTAL_HOST, KEY, 'a'],
    ['a PATCH, which ignores the Idempotency-Key', 1, 'PATCH', 'a', KEY, 'a'],
    ['a DELETE, which ignores the Idempotency-Key', 1, 'DELETE', 'a', KEY, ''],
    ['a body that is larger than its buffer', 1, 'POST', 'a', KEY, 'a'.repeat(40_000)],
  ])(
    'sends %s %d times if an instance is killed before it answers',
    async (what, times, method, host, headers, body) => {
      const path = `/lost-${what.replaceAll(' ', '-')}`;
      const statuses = await statusesOf(`${method} ${path}`, host, headers, body);
      expect([statuses.includes(200), deliveries.get(path)]).toEqual([times === 2, times]);
    },
  );
});
