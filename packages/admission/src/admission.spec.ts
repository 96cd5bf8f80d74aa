import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Application, plan, requireScopes } from '@adoption-store/domain';
import { inMemoryApplication, inMemoryPorts } from '@adoption-store/domain/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { normalizeIp } from '@nestjs/throttler';
import fc from 'fast-check';
import { Admission } from './admission.js';
import { admit } from './admit.js';
import { networkOf } from './network.js';
import { serverOf } from '../examples/server.js';

const LIMITS = ['ratelimit', 'ratelimit-policy', 'x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'];

let ports: ReturnType<typeof inMemoryPorts>;
let application: Application;
let admission: Admission;
let server: Server;
let origin = '';

beforeEach(async () => {
  ports = inMemoryPorts();
  application = inMemoryApplication({ addressLimit: 2 }, ports);
  admission = new Admission(application, ports.clock);
  server = serverOf(admission, () => '[]');
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

async function keyFor(perMinute: number, scopes?: readonly string[]) {
  const limits = plan('enterprise', { perMinute, perDay: 1_000 });
  const { id: accountId } = await application.openAccount.execute({ email: 'dev@example.com', plan: limits });
  const { key, text } = await application.issueKey.execute({ accountId, scopes });
  return { accountId, keyId: key.id, text };
}

async function ask(authorization?: string) {
  const response = await fetch(origin, authorization === undefined ? {} : { headers: { authorization } });
  return { status: response.status, headers: response.headers, body: JSON.parse(await response.text()) as unknown };
}

describe('a server that admits requests', () => {
  it('refuses a request without a key: 401 with a challenge and the address’s limits, then 429', async () => {
    const first = await ask();
    expect(first).toMatchObject({ status: 401, body: { code: 'missing_api_key', status: 401 } });
    expect(first.headers.get('www-authenticate')).toBe('Bearer realm="animal-adoption-store"');
    expect(LIMITS.filter((name) => !first.headers.has(name))).toEqual([]);
    expect(await ask('Bearer none')).toMatchObject({ status: 401, body: { code: 'invalid_api_key' } });
    const third = await ask('Basic bm9uZQ==');
    expect(third).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
    expect(Number(third.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
  });

  it('admits a key with its limits, and records what it used', async () => {
    const { accountId, text } = await keyFor(10);
    const { status, headers, body } = await ask(`bearer ${text}`);
    expect([status, body, headers.get('x-ratelimit-remaining')]).toEqual([200, [], '9']);
    expect(LIMITS.filter((name) => !headers.has(name))).toEqual([]);
    const used = await ports.requestRecords.listUsage(accountId, 'hour', ports.clock.now());
    expect(used).toMatchObject([{ admitted: 1, refused: 0 }]);
  });

  it('refuses a key without the scope: 403 that names it, counted and recorded', async () => {
    const { accountId, text } = await keyFor(10, ['orders:read']);
    const { status, headers } = await ask(`Bearer ${text}`);
    expect([status, headers.get('x-ratelimit-remaining')]).toEqual([403, '9']);
    expect(headers.get('www-authenticate')).toBe('Bearer error="insufficient_scope", scope="pets:read"');
    const refused = await ports.requestRecords.listFailedRequests(accountId);
    expect(refused).toMatchObject([{ code: 'insufficient_scope', operation: 'GET /animals' }]);
  });

  it('refuses a key over its limit: 429, and bans one that goes on', async () => {
    const { accountId, text } = await keyFor(1);
    await ask(`Bearer ${text}`);
    const over = await ask(`Bearer ${text}`);
    expect(over).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
    expect(Number(over.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    for (let refusals = 1; refusals < 50; refusals += 1) await ask(`Bearer ${text}`);
    const banned = await ask(`Bearer ${text}`);
    expect(banned).toMatchObject({ status: 429, body: { code: 'key_banned' } });
    expect(banned.headers.get('retry-after')).toBe('300');
    const used = await ports.requestRecords.listUsage(accountId, 'hour', ports.clock.now());
    expect(used).toMatchObject([{ admitted: 1, refused: 51 }]);
  });

  it('records the refusal of a revoked key for its account, and not as a use', async () => {
    const { accountId, keyId, text } = await keyFor(10);
    await application.revokeKey.execute({ accountId, id: keyId });
    expect(await ask(`Bearer ${text}`)).toMatchObject({ status: 401, body: { code: 'revoked_api_key' } });
    expect(await ports.requestRecords.listFailedRequests(accountId)).toMatchObject([{ code: 'revoked_api_key' }]);
    expect(await ports.requestRecords.listUsage(accountId, 'hour', ports.clock.now())).toEqual([]);
  });
});

describe('admission', () => {
  const from = (address: string, ...rawHeaders: string[]) =>
    admit(admission, { rawHeaders, address, operation: 'any', requestId: 'request-1' }, []);

  it('counts the addresses of one /64 network together', async () => {
    for (const end of ['1', '2', '3']) await from(`2001:db8:1:2::${end}`);
    expect(await from('2001:db8:1:2:ffff::')).toMatchObject({ status: 429 });
    expect(await from('2001:db8:1:3::1')).toMatchObject({ status: 401 });
  });

  it('refuses a second Authorization header, also if the first one has a valid key', async () => {
    const { text } = await keyFor(10);
    const headers = ['Authorization', `Bearer ${text}`, 'AUTHORIZATION', `Bearer ${text}`];
    expect(await from('192.0.2.1', ...headers)).toMatchObject({ status: 401, code: 'invalid_api_key' });
  });

  it('takes each step without a promise if it can, and by the domain’s rule for scopes', async () => {
    const { text } = await keyFor(10);
    const caller = await application.authenticate.execute(text);
    const verdict = await application.meterRequest.execute(caller);
    const atOnce = {
      authenticate: { execute: () => caller },
      meterRequest: { execute: () => verdict },
      recordRequest: application.recordRequest,
    };
    const steps = new Admission(atOnce as unknown as typeof application, ports.clock);
    expect(steps.authenticate({ authorization: `Bearer ${text}`, isRepeated: false })).toBe(caller);
    expect(steps.meter(caller)).toMatchObject({ verdict, refusal: undefined });
    expect(steps.requireScopes).toBe(requireScopes);
  });
});

describe('the network of an address', () => {
  const group = fc.oneof(fc.constant('0'), fc.constant('ffff'), fc.stringMatching(/^[0-9A-Fa-f]{1,5}$/));
  const written = fc
    .tuple(fc.array(group, { maxLength: 9 }), fc.constantFrom(':', '::'), fc.array(group, { maxLength: 9 }), fc.ipV4())
    .chain(([left, between, right, end]) =>
      fc.constantFrom(
        `${left.join(':')}${between}${right.join(':')}`,
        `${left.join(':')}${between}${[...right, end].join(':')}`,
        `::ffff:${end}`,
      ),
    );
  const zone = fc.constantFrom('', '%eth0');

  it('is what @nestjs/throttler counts', () => {
    const address = fc.tuple(fc.oneof(fc.ipV4Extended(), fc.ipV6(), written, fc.string(), fc.constant('::1')), zone);
    fc.assert(
      fc.property(address, ([text, itsZone]) => {
        expect(networkOf(text + itsZone)).toBe(normalizeIp(text + itsZone));
      }),
      { numRuns: 2_000 },
    );
  });
});

it('the README shows the tested example', () => {
  const readme = readFileSync(join(__dirname, '../README.md'), 'utf8');
  expect(readme).toContain(readFileSync(join(__dirname, '../examples/server.ts'), 'utf8'));
});
