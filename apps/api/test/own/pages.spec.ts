import { readQuickStarts } from '@adoption-store/web';
import { describe, expect, it } from '@jest/globals';
import { OPERATIONS } from '../../src/api.module.js';
import { referencePage } from '../../src/docs/reference-page.js';
import { useApi } from '../support/api.js';
import { request } from '../support/raw-http.js';

const api = useApi();

const fetchPage = (path: string, method = 'GET', headers: Readonly<Record<string, string>> = {}) =>
  request(api, path, { method, headers });

describe.each([
  ['/openapi.json', 'application/json; charset=utf-8'],
  ['/llms.txt', 'text/plain; charset=utf-8'],
  ['/favicon.ico', 'image/x-icon'],
  ['/docs', 'text/html; charset=utf-8'],
  ['/docs/page.js', 'text/javascript; charset=utf-8'],
  ['/docs/swagger-ui.css', 'text/css; charset=utf-8'],
  ['/docs/swagger-ui-bundle.js', 'text/javascript; charset=utf-8'],
])('%s', (path, type) => {
  it('needs no key, has no limits, and may load nothing from other hosts', async () => {
    const { status, headers } = await fetchPage(`${path}?x=1`);
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'content-type': type,
      'cache-control': 'public, no-cache',
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.stringContaining("default-src 'none'"),
    });
    expect(headers['content-security-policy']).not.toMatch(/unsafe|https?:|\*/);
    expect(Object.keys(headers).filter((name) => /ratelimit|authenticate|stability/.test(name))).toEqual([]);
  });

  it('is not sent again to a client that has it', async () => {
    const { body, headers } = await fetchPage(path);
    const etag = headers['etag'] ?? '';
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*'])
      expect(await fetchPage(path, 'GET', { 'If-None-Match': known })).toMatchObject({ status: 304, body: '' });
    expect(await fetchPage(path, 'GET', { 'If-None-Match': '"other"' })).toMatchObject({ status: 200, body });
  });

  it('answers HEAD as GET, without the body, OPTIONS with 204 and Allow, and refuses another method with 405', async () => {
    const { headers } = await fetchPage(path);
    const same = { etag: headers['etag'], 'content-length': headers['content-length'] };
    expect(await fetchPage(path, 'HEAD')).toMatchObject({ status: 200, body: '', headers: same });
    const allow = { allow: 'GET, HEAD, OPTIONS' };
    expect(await fetchPage(path, 'OPTIONS')).toMatchObject({ status: 204, body: '', headers: allow });
    const response = await fetchPage(path, 'POST');
    expect(response).toMatchObject({ status: 405, headers: allow });
    expect(JSON.parse(response.body)).toMatchObject({ code: 'method_not_allowed', status: 405 });
  });

  it('counts against no address', async () => {
    api.clock.advance(60_000);
    await fetchPage(path);
    expect((await fetchPage('/v1/pets')).headers['x-ratelimit-remaining']).toBe('59');
  });
});

it.each(['GET', 'HEAD'])('%s of / leads to the page at /docs, without a key', async (method) => {
  const { status, headers, body } = await fetchPage('/?x=1', method);
  expect([status, body, headers['location'], headers['cache-control']]).toEqual([303, '', '/docs', 'no-store']);
  expect(Object.keys(headers).filter((name) => /ratelimit|authenticate/.test(name))).toEqual([]);
});

describe('a file that is compressed', () => {
  const path = '/docs/swagger-ui.css';

  it.each([
    ['gzip, deflate, br', 'br'],
    ['gzip', 'gzip'],
    ['br;q=0, gzip', 'gzip'],
    ['gzip;q=0', undefined],
    ['', undefined],
  ])('is sent to a client that accepts "%s" as %s', async (accepted, encoding) => {
    const response = await fetchPage(path, 'GET', { 'Accept-Encoding': accepted });
    expect(response).toMatchObject({ status: 200, headers: { vary: 'Accept-Encoding' } });
    expect(response.headers['content-encoding']).toBe(encoding);
  });

  it('has a tag for each encoding (RFC 9110 §8.8.3.3)', async () => {
    const tags = new Set<string | undefined>();
    for (const encoding of ['br', 'gzip', 'identity'])
      tags.add((await fetchPage(path, 'HEAD', { 'Accept-Encoding': encoding })).headers['etag']);
    expect(tags.size).toBe(3);
  });
});

describe('the page at /docs', () => {
  const shown = (portalUrl?: string) => referencePage({ operations: OPERATIONS, server: undefined, portalUrl });

  it.each([
    [undefined, 'The operator of this service gives out keys.'],
    ['https://portal.example.com', '<a href="https://portal.example.com/keys">Get a key</a>'],
    ['https://portal.example.com', '<a href="https://portal.example.com/quickstart">Quickstart</a>'],
    ['https://portal.example.com', '<a href="https://portal.example.com/account" class="who">Account</a>'],
    ['https://example.com/"><script>', '<a href="https://example.com/%22%3E%3Cscript%3E/keys">Get a key</a>'],
  ])('leads from the portal address %s to a key, and as the portal does: %s', (portalUrl, link) => {
    expect(shown(portalUrl)).toContain(link);
  });

  it('shows the address that the operator has set', () => {
    const page = referencePage({ operations: OPERATIONS, server: 'https://api.example.com/v1', portalUrl: undefined });
    expect(page).toContain("'https://api.example.com/v1/pets?limit=2'");
    expect(page).not.toContain('HOST_OF_THIS_PAGE');
  });

  it('shows the quick starts', () => {
    const marks: Readonly<Record<string, string>> = { lt: '<', amp: '&' };
    const html = shown().replace(/&(\w+);/g, (entity, name: string) => marks[name] ?? entity);
    const starts = readQuickStarts();
    expect(starts.map(({ language }) => language)).toEqual(['curl', 'TypeScript', 'Python']);
    for (const { file, command, text } of starts)
      for (const code of command === undefined ? [text] : [file, command, text])
        expect(html).toContain(`<code>${code}</code>`);
  });
});
