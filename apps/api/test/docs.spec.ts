import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { readQuickStarts } from '@adoption-store/web';
import { referencePage } from '../src/docs/reference-page.js';
import { descriptionText } from '../src/openapi/description.js';
import { startApi, useApi } from './support/api.js';
import { expectError } from './support/expectations.js';
import { bearer, rawHead, sendOnce } from './support/pets-client.js';
import { request, type RawResponse } from './support/raw-http.js';

const api = useApi();

const send = (path: string, method = 'GET', headers: Readonly<Record<string, string>> = {}) =>
  request(api, path, { method, headers });

function expectPage(response: RawResponse, type: string): void {
  expect(response).toMatchObject({
    status: 200,
    headers: { 'content-type': type, 'cache-control': 'public, no-cache', 'x-content-type-options': 'nosniff' },
  });
  expect(Object.keys(response.headers).filter((name) => /ratelimit|authenticate|stability/.test(name))).toEqual([]);
  const policy = response.headers['content-security-policy'];
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toMatch(/unsafe|https?:|\*/);
}

describe.each([
  ['/openapi.json', 'application/json; charset=utf-8'],
  ['/docs', 'text/html; charset=utf-8'],
  ['/docs/page.css', 'text/css; charset=utf-8'],
  ['/docs/operations.css', 'text/css; charset=utf-8'],
  ['/docs/page.js', 'text/javascript; charset=utf-8'],
  ['/docs/swagger-ui.css', 'text/css; charset=utf-8'],
  ['/docs/swagger-ui-bundle.js', 'text/javascript; charset=utf-8'],
])('%s', (path, type) => {
  it('needs no key, and may load nothing from other hosts', async () => {
    expectPage(await send(path), type);
    expectPage(await send(`${path}?x=1`), type);
  });

  it('is not sent again to a client that has it', async () => {
    const { body, headers } = await send(path);
    const etag = headers['etag'] ?? '';
    expect(etag).toMatch(/^"[\w-]{22}"$/);
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      expect(await send(path, 'GET', { 'If-None-Match': known })).toMatchObject({ status: 304, body: '' });
    }
    expect(await send(path, 'GET', { 'If-None-Match': '"other"' })).toMatchObject({ status: 200, body });
  });

  it('answers HEAD as GET, without the body', async () => {
    const { headers } = await send(path);
    const response = await send(path, 'HEAD');
    expect(response).toMatchObject({ status: 200, body: '' });
    expect(response.headers).toMatchObject({ etag: headers['etag'], 'content-length': headers['content-length'] });
  });

  it('answers OPTIONS with 204 and Allow, and refuses other methods with 405', async () => {
    const allow = 'GET, HEAD, OPTIONS';
    expect(await send(path, 'OPTIONS')).toMatchObject({ status: 204, body: '', headers: { allow } });
    for (const method of ['POST', 'PUT', 'DELETE']) {
      const response = await send(path, method);
      expect(response).toMatchObject({ status: 405, headers: { allow } });
      expect(JSON.parse(response.body)).toMatchObject({ code: 'method_not_allowed', status: 405 });
    }
  });

  it('counts against no address', async () => {
    api.clock.advance(60_000);
    for (let sent = 0; sent < 61; sent += 1) await send(path, 'HEAD');
    expect((await send('/v1/pets')).headers['x-ratelimit-remaining']).toBe('59');
  });
});

describe('a file that is compressed', () => {
  const path = '/docs/swagger-ui.css';

  it.each([
    ['gzip, deflate, br', 'br'],
    ['gzip', 'gzip'],
    ['br;q=0, gzip', 'gzip'],
    ['*', 'br'],
    ['deflate', undefined],
    ['identity', undefined],
    ['gzip;q=0', undefined],
    ['', undefined],
  ])('is sent to a client that accepts "%s" as %s', async (accepted, encoding) => {
    const response = await send(path, 'GET', { 'Accept-Encoding': accepted });
    expect(response).toMatchObject({ status: 200, headers: { vary: 'Accept-Encoding' } });
    expect(response.headers['content-encoding']).toBe(encoding);
  });

  it('has a tag for each encoding (RFC 9110 §8.8.3.3)', async () => {
    const headersFor = async (encoding: string) => (await send(path, 'HEAD', { 'Accept-Encoding': encoding })).headers;
    const all = await Promise.all(['br', 'gzip', 'identity'].map(headersFor));
    expect(new Set(all.map(({ etag }) => etag)).size).toBe(3);
    const known = { 'Accept-Encoding': 'br', 'If-None-Match': all[0]?.['etag'] ?? '' };
    expect(await send(path, 'GET', known)).toMatchObject({ status: 304, body: '' });
  });

  it('is sent as it was', async () => {
    const plain = await (await fetch(`${api.origin}${path}`, { headers: { 'Accept-Encoding': 'identity' } })).text();
    for (const encoding of ['br', 'gzip']) {
      const response = await fetch(`${api.origin}${path}`, { headers: { 'Accept-Encoding': encoding } });
      expect([response.headers.get('content-encoding'), await response.text()]).toEqual([encoding, plain]);
    }
  });
});

describe('the page at /docs', () => {
  it.each([
    [undefined, '<li>The operator of this service gives out keys</li>'],
    ['https://portal.example.com', '<a href="https://portal.example.com/keys">Get a key</a>'],
    ['https://example.com/"><script>', '<a href="https://example.com/%22%3E%3Cscript%3E/keys">Get a key</a>'],
  ])('leads from the portal address %s to a key', (portalUrl, link) => {
    expect(referencePage(portalUrl)).toContain(link);
  });

  it('shows the quick starts', () => {
    const marks: Readonly<Record<string, string>> = { lt: '<', amp: '&' };
    const shown = referencePage(undefined).replace(/&(\w+);/g, (entity, name: string) => marks[name] ?? entity);
    const starts = readQuickStarts();
    expect(starts.map(({ language }) => language)).toEqual(['curl', 'TypeScript', 'Python']);
    for (const { file, command, text } of starts)
      for (const code of [file, command, text]) expect(shown).toContain(`<code>${code}</code>`);
    expect(shown).toContain('<code>npm install @adoption-store/client</code>');
  });
});

describe('beside the pages', () => {
  it.each(['/docs/', '/docs/index.html', '/docs/../package.json', '/docs/%2e%2e/package.json', '/v1/docs', '/openapi'])(
    'nothing is to be had at %s',
    async (path) => {
      expectError(await send(path), 401, 'missing_api_key');
      expectError(await send(path, 'GET', bearer(api.key)), 404, 'not_found');
    },
  );
});

describe('openapi.json', () => {
  it('is committed as the code has it; `npm run openapi -w @adoption-store/api` writes it', () => {
    expect(readFileSync(join(__dirname, '../openapi.json'), 'utf8')).toBe(descriptionText());
  });

  it('is served with the address at which this machine reaches the API', async () => {
    expect((await send('/openapi.json')).body).toBe(descriptionText(api.origin));
  });
});

describe('the first server of a served description', () => {
  const firstServer = async (origin: string, headers: Readonly<Record<string, string>>) => {
    const response = await fetch(`${origin}/openapi.json`, { headers });
    return ((await response.json()) as { servers: readonly { url: string }[] }).servers[0]?.url;
  };

  it('is PUBLIC_URL, where it is set', async () => {
    const published = await startApi({ publicUrl: 'https://api.example.com' });
    expect(await firstServer(published.origin, {})).toBe('https://api.example.com/v1');
    await published.close();
  });

  it('is never what a Host header says', async () => {
    const { body } = await sendOnce(
      api,
      rawHead(api, 'GET /openapi.json HTTP/1.1', [], ['Host: evil.example', 'X-Forwarded-Host: evil.example']),
    );
    expect(body).toBe(descriptionText(api.origin));
  });

  it('is the production server, where other machines reach the API and PUBLIC_URL is not set', async () => {
    const open = await startApi({}, undefined, undefined, '0.0.0.0');
    expect(await firstServer(open.origin, {})).toBe('https://api.adoption-store.example/v1');
    await open.close();
  });
});
