import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { useApi } from '@adoption-store/api/testing/api';
import { CHROMIUM_ARGS, findChromium, folderOf, makeCertificate, temporaryFolder } from '@adoption-store/test-support';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Browser, chromium, type Page } from 'playwright-core';
import { Webhook } from 'standardwebhooks';
import { forward } from '../support/forward.js';

const executablePath = findChromium();
if (executablePath === undefined) console.warn('SKIPPED: the client in a browser, for there is no Chromium here');

const IMPORTS = {
  '@adoption-store/client': '/dist/index.js',
  '@ungap/raw-json': '/raw-json.js',
  'http-link-header': '/link-header.js',
  standardwebhooks: '/standardwebhooks.js',
};
const DOCUMENT = `<!doctype html><link rel="icon" href="data:,"><script type="importmap">${JSON.stringify({ imports: IMPORTS })}</script>`;

/** An expression for what a CommonJS module exports. */
function commonJs(name: string, from = __dirname): string {
  const file = require.resolve(name, { paths: [from] });
  const source = readFileSync(file, 'utf8');
  const required = Array.from(
    source.matchAll(/\brequire\("([^"]+)"\)/g),
    ([, each = '']) => `'${each}': ${commonJs(each, dirname(file))}`,
  );
  return `(() => {
    const module = { exports: {} }, { exports } = module, modules = { ${required.join()} }, require = (name) => modules[name];
    ${source}
    return module.exports; })()`;
}

const read = (name: string) => readFileSync(name, 'utf8');

/** The client's dependencies, as a bundler would serve them. Every other file is one of the built package. */
const DEPENDENCIES: Readonly<Record<string, string>> = {
  '/raw-json.js': read(require.resolve('@ungap/raw-json')),
  '/link-header.js': `export default ${commonJs('http-link-header')};`,
  '/standardwebhooks.js': `export const { Webhook } = ${commonJs('standardwebhooks')};`,
};

/** Chromium takes a page of this name for one of another machine: only with https it is a secure context. */
const NAME = 'store.test';
const OPENSSL = folderOf('a page of https', 'openssl', 'openssl');

(executablePath === undefined ? describe.skip : describe)('a page of another origin, in Chromium,', () => {
  let browser: Browser;
  let page: Page;
  const servers: Server[] = [];
  // Before the API's own end, which would wait for a connection that the browser has opened and not used.
  afterAll(async () => {
    await browser.close();
    for (const server of servers) server.close();
  });
  const api = useApi();

  beforeAll(async () => {
    const args = [...CHROMIUM_ARGS, `--host-resolver-rules=MAP ${NAME} 127.0.0.1`];
    browser = await chromium.launch({ ...(executablePath && { executablePath }), args });
    page = await open(createServer(serve), 'http', '127.0.0.1');
  });

  /** A server of the page, and behind it the API. */
  const serve: RequestListener = (request, response) => {
    const { url = '/' } = request;
    if (url.startsWith('/v1/')) {
      forward(request, response, api.origin);
      return;
    }
    response.setHeader('content-type', url === '/' ? 'text/html' : 'text/javascript');
    response.end(url === '/' ? DOCUMENT : (DEPENDENCIES[url] ?? read(join(__dirname, '../..', url))));
  };

  /** The page of this server, opened by this name. */
  async function open(server: Server, scheme: string, name: string): Promise<Page> {
    servers.push(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const opened = await browser.newPage({ ignoreHTTPSErrors: true });
    await opened.goto(`${scheme}://${name}:${(server.address() as AddressInfo).port}`);
    return opened;
  }

  /** What this program of the page returns. */
  const run = (key: string, program: string) =>
    page.evaluate<unknown>(`(async () => {
      const { AdoptionStore, verifyWebhook } = await import('@adoption-store/client');
      const store = new AdoptionStore({ baseUrl: '${api.origin}/v1', apiKey: '${key}', maxTries: 1 });
      ${program}
    })()`);

  it('lists, adds, changes with If-Match, and reads limits, entity tags, links and locations', async () => {
    const { key } = await api.openKey('free');
    const seen = await run(
      key,
      `
      await store.pets.create({ name: 'Bella', categoryId: 1n });
      const { data, response } = await store.pets.create({ name: 'Luna', categoryId: 2n ** 63n - 1n }).withResponse();
      const names = [];
      for await (const { items } of store.pets.list({ limit: 1 }).pages()) names.push(...items.map(({ name }) => name));
      const stored = await store.request('GET', '/pets/{petId}', { path: { petId: data.id } }).withResponse();
      const { etag: ifMatch } = stored.response;
      const changed = await store.pets.change(data.id, { status: 'pending' }, { ifMatch }).withResponse();
      return { names, data: changed.data, location: response.headers.get('location'),
        sunset: stored.response.headers.get('sunset'), limits: [response.limits, changed.response.limits] };
    `,
    );
    const id = 2n;
    expect(seen).toEqual({
      names: ['Bella', 'Luna'],
      data: { id, name: 'Luna', categoryId: 2n ** 63n - 1n, status: 'pending' },
      location: `${api.origin}/v1/pets/${id}`,
      sunset: 'Thu, 05 Dec 2030 00:00:00 GMT',
      limits: [58, 54].map((remaining) => ({ limit: 60, remaining, reset: expect.any(Number) })),
    });
  });

  it('sends the headers of its tools, none of a proxy, and reads the headers of refusals', async () => {
    const { key } = await api.openKey('free');
    const tools = {
      baggage: 'a=b',
      'cache-control': 'no-cache',
      'sentry-trace': 'a',
      tracestate: 'a=b',
      'x-requested-with': 'XMLHttpRequest',
    };
    const seen = await run(
      key,
      `
      const call = async (method, headers, shown) => {
        const sent = { 'x-requested-with': 'a', authorization: 'Bearer ${key}' };
        const answer = await fetch('${api.origin}/v1/pets', { method, headers: Object.assign(sent, headers) })
          .catch(({ name }) => name);
        return answer.status === undefined ? answer : [answer.status, answer.headers.get(shown)];
      };
      return [
        await call('GET', ${JSON.stringify(tools)}, 'ratelimit-policy'),
        await call('DELETE', {}, 'allow'),
        await call('GET', { authorization: 'x' }, 'www-authenticate'),
        await call('GET', { 'x-forwarded-for': '192.0.2.1' }, ''),
        await call('GET', { '*': 'a', forwarded: 'for=192.0.2.1' }, ''),
      ];
    `,
    );
    expect(seen).toEqual([
      [200, '"minute";q=60;w=60, "day";q=1000;w=86400'],
      [405, 'GET, HEAD, OPTIONS, POST'],
      [401, expect.stringContaining('Bearer realm=')],
      'TypeError',
      'TypeError',
    ]);
  });

  it('follows the events, and verifies deliveries without anything of Node.js', async () => {
    const { key } = await api.openKey('free');
    const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
    const body = `{"type":"pet.added","timestamp":"2026-11-21T12:00:00.000Z","sequence":1,"data":{"id":${2n ** 63n - 1n}}}`;
    const at = new Date();
    const headers = {
      'webhook-id': 'evt_1',
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': new Webhook(secret).sign('evt_1', at, body),
    };
    const seen = await run(
      key,
      `
      const { id } = await store.pets.create({ name: 'Coco', categoryId: 1n });
      const received = { headers: new Headers(${JSON.stringify(headers)}), secret: '${secret}' };
      const body = new TextEncoder().encode('${body}');
      for await (const { data } of store.events.follow({ types: ['pet.added'] }))
        if (data.id === id) return [data.name, typeof Buffer, verifyWebhook({ ...received, body }).data.id];
    `,
    );
    expect(seen).toEqual(['Coco', 'undefined', 2n ** 63n - 1n]);
  });

  it.each([
    { scheme: 'http', isSecure: false },
    ...(OPENSSL === undefined ? [] : [{ scheme: 'https', isSecure: true }]),
  ])('works on $scheme with the given fetch of the browser, and shows its errors as what they are', async (its) => {
    const folder = await temporaryFolder();
    const { key } = await api.openKey('free');
    const tls = () => {
      const { pem } = makeCertificate(folder.path);
      return createSecureServer({ key: pem, cert: pem }, serve);
    };
    const opened = await open(its.isSecure ? tls() : createServer(serve), its.scheme, NAME);
    await folder.remove();
    const seen = await opened.evaluate<unknown>(`(async () => {
      const { AdoptionStore } = await import('@adoption-store/client');
      const options = { baseUrl: location.origin + '/v1', apiKey: '${key}', allowHttp: true, maxTries: 1 };
      const store = new AdoptionStore({ ...options, fetch: globalThis.fetch });
      const { id } = await store.pets.create({ name: 'Rex', categoryId: 7n });
      const { id: other } = await store.pets.create({ name: 'Max', categoryId: 7n });
      const names = [];
      for await (const { items } of store.pets.list({ id: [id, other], limit: 1 }).pages()) names.push(items[0].name);
      const withErrors = (more) => new AdoptionStore({ ...options, ...more }).pets.get(id).catch(({ name, code }) => [name, code]);
      return {
        isSecure: isSecureContext && crypto.randomUUID !== undefined,
        names,
        illegal: await withErrors({ fetch: (...call) => fetch.call({}, ...call) }),
        lost: await withErrors({ baseUrl: 'http://127.0.0.1:1/v1' }),
      };
    })()`);
    expect(seen).toEqual({
      isSecure: its.isSecure,
      names: ['Rex', 'Max'],
      illegal: ['TypeError', undefined],
      lost: ['ApiError', 'network_error'],
    });
    await opened.close();
  });
});
