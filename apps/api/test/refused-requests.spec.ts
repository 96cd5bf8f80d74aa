import { describe, expect, it } from '@jest/globals';
import { type AccountId, HOUR, later, MINUTE, type ShownRefusal } from '@adoption-store/domain';
import { ask, until } from '@adoption-store/test-support';
import { errorStatuses } from '../src/errors/error-codes.js';
import { useApi } from './support/api.js';
import { expectError } from './support/expectations.js';
import { bearer, rawHead } from './support/pets-client.js';
import { request, sendRaw } from './support/raw-http.js';

const api = useApi();

const logOf = (accountId: AccountId) => api.application.showRefusals.execute({ accountId });

/** Waits until that request is in the log of its account. */
async function logged(accountId: AccountId, requestId: string): Promise<ShownRefusal | undefined> {
  const find = () => api.application.showRefusals.execute({ accountId, requestId });
  await until(async () => (await find()).length > 0);
  const found = await find();
  expect(found).toHaveLength(1);
  return found[0];
}

const JSON_BODY = { 'Content-Type': 'application/json' };

describe('a refused request', () => {
  it('is in the log of its account by its id, with the code of the response, whatever the refusal', async () => {
    const { account, id, key } = await api.openKey('business');
    const limited = (await api.application.issueKey.execute({ accountId: account.id, scopes: ['pets:read'] })).text;
    const sent = [
      [400, 'invalid_parameter', 'GET', '/v1/pets?limit=0', 'GET /v1/pets', key],
      [400, 'invalid_json', 'POST', '/v1/pets', 'POST /v1/pets', key],
      [403, 'insufficient_scope', 'POST', '/v1/messages', 'POST /v1/messages', limited],
      [404, 'not_found', 'GET', '/v1/pets/123456789', 'GET /v1/pets/{petId}', key],
      [404, 'not_found', 'GET', `/v1/nothing/${key}`, 'GET *', key],
      [405, 'method_not_allowed', 'PUT', '/v1/pets', 'PUT *', key],
    ] as const;
    for (const [status, code, method, path, operation, used] of sent) {
      const response = await request(api, path, {
        method,
        headers: { ...bearer(used), ...(method === 'GET' ? {} : JSON_BODY) },
        ...(method === 'GET' ? {} : { body: '{' }),
      });
      expectError(response, status, code);
      const refusal = await logged(account.id, String(response.headers['x-request-id']));
      expect(refusal).toMatchObject({ at: api.clock.now(), operation, code });
      expect(refusal?.key.ending).toBe(used.slice(-4));
      if (used === key) expect(refusal?.keyId).toBe(id);
    }
    const rows = await ask<{ text: string }>(api.databaseUrl, 'SELECT refusals::text AS text FROM refusals');
    const all = rows.map(({ text }) => text).join('\n');
    // Nothing of what the client sent.
    for (const secret of [key, 'limit', '123456789', 'nothing', '{"']) expect(all).not.toContain(secret);
  });

  it('over the limit, or of a banned key, is in the log', async () => {
    const { account, key } = await api.openKey('free');
    const list = () => request(api, '/v1/pets', { headers: bearer(key) });
    for (let sent = 0; sent < 60; sent += 1) expect((await list()).status).toBe(200);
    const over = await list();
    expectError(over, 429, 'rate_limited');
    expect(await logged(account.id, String(over.headers['x-request-id']))).toMatchObject({ code: 'rate_limited' });
    for (let sent = 0; sent < 50; sent += 1) await list();
    const banned = await list();
    expectError(banned, 429, 'key_banned');
    expect(await logged(account.id, String(banned.headers['x-request-id']))).toMatchObject({ code: 'key_banned' });
  });

  it('with a revoked or expired key is in the log, also over the limit of the address', async () => {
    const { account, id, key } = await api.openKey();
    const { text: expiring } = await api.application.issueKey.execute({
      accountId: account.id,
      expiresAt: later(api.clock.now(), MINUTE),
    });
    await api.application.revokeKey.execute({ id });
    api.clock.advance(HOUR);
    const list = (used: string) => request(api, '/v1/pets', { headers: bearer(used) });
    for (const [used, code] of [
      [key, 'revoked_api_key'],
      [expiring, 'expired_api_key'],
    ] as const) {
      const response = await list(used);
      expectError(response, 401, code);
      const refusal = await logged(account.id, String(response.headers['x-request-id']));
      expect(refusal).toMatchObject({ code, operation: 'GET /v1/pets', key: { ending: used.slice(-4) } });
    }
    for (let sent = 0; sent < 60; sent += 1) await list(key);
    const over = await list(key);
    expectError(over, 429, 'rate_limited');
    expect(await logged(account.id, String(over.headers['x-request-id']))).toMatchObject({ code: 'rate_limited' });
    api.clock.advance(HOUR);
  });

  it('whose body turns out not to be HTTP is in the log once, with the code that was sent', async () => {
    const { account, key } = await api.openKey();
    const head = (id: string) =>
      rawHead({ ...api, key }, 'POST /v1/pets HTTP/1.1', [
        'Content-Type: application/json',
        'Transfer-Encoding: chunked',
        `X-Request-Id: ${id}`,
      ]);
    const [response] = await sendRaw(api, `${head('broken-chunk')}zz\r\n`);
    expectError(response, 400, 'bad_request');
    expect(await logged(account.id, 'broken-chunk')).toMatchObject({ code: 'bad_request', operation: 'POST /v1/pets' });
  });

  it('shows a client’s own id, but not a key that was sent as one', async () => {
    const { account, key } = await api.openKey();
    const send = (id: string) => request(api, '/v1/pets?limit=0', { headers: { ...bearer(key), 'X-Request-Id': id } });
    expect((await send(key)).headers['x-request-id']).toBe(key);
    await send('my-own_id');
    await logged(account.id, 'my-own_id');
    expect((await logOf(account.id)).map(({ requestId }) => requestId).sort()).toEqual(['my-own_id', 'redacted']);
  });

  it('without a known key is in no log, nor is an admitted request', async () => {
    const { account, key } = await api.openKey();
    const before = await ask<{ count: number }>(api.databaseUrl, 'SELECT count(*)::integer AS count FROM refusals');
    await request(api, '/v1/pets', {});
    await request(api, '/v1/pets', { headers: bearer(`${key.slice(0, -1)}!`) });
    expect((await request(api, '/v1/pets', { headers: bearer(key) })).status).toBe(200);
    const last = await request(api, '/v1/pets?limit=0', { headers: bearer(key) });
    await logged(account.id, String(last.headers['x-request-id']));
    expect(await logOf(account.id)).toHaveLength(1);
    const after = await ask<{ count: number }>(api.databaseUrl, 'SELECT count(*)::integer AS count FROM refusals');
    expect((after[0]?.count ?? 0) - (before[0]?.count ?? 0)).toBe(1);
  });

  it('is one of the last 100 of 300', async () => {
    const { account, key } = await api.openKey('business');
    for (let sent = 0; sent < 300; sent += 100) {
      await Promise.all(
        Array.from({ length: 100 }, (_, index) =>
          request(api, '/v1/pets?limit=0', { headers: { ...bearer(key), 'X-Request-Id': `number-${sent + index}` } }),
        ),
      );
      api.clock.advance(1);
    }
    await logged(account.id, 'number-299');
    const log = await logOf(account.id);
    expect(log.map(({ requestId }) => requestId).sort()).toEqual(
      Array.from({ length: 100 }, (_, index) => `number-${200 + index}`),
    );
  });
});

it('every code of a refusal fits into the log', () => {
  for (const code of Object.keys(errorStatuses)) expect(code).toMatch(/^[a-z_]{1,64}$/);
});
