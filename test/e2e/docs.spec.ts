import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { descriptionText } from '../../apps/api/src/openapi/description.js';
import { useApi } from '../support/api.js';
import { expectError } from '../support/expectations.js';
import { bearer } from '../support/pets-client.js';
import { request, type RawResponse } from '../support/raw-http.js';

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

describe('beside the pages', () => {
  it.each(['/docs/', '/docs/index.html', '/docs/../package.json', '/docs/%2e%2e/package.json', '/v1/docs', '/openapi'])(
    'nothing is to be had at %s',
    async (path) => {
      expectError(await send(path), 401, 'missing_api_key');
      expectError(await send(path, 'GET', bearer(api.key)), 404, 'not_found');
    },
  );
});

describe('the committed description', () => {
  it('equals the served one; `npm run openapi -w @adoption-store/api` writes it', async () => {
    const committed = readFileSync(join(__dirname, '../../apps/api/openapi.json'), 'utf8');
    expect(committed).toBe(descriptionText());
    expect((await send('/openapi.json')).body).toBe(committed);
  });
});
