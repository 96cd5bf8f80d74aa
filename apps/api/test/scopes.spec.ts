import 'reflect-metadata';
import { plan, type Scope, type Scopes, SCOPES } from '@adoption-store/domain';
import { until } from '@adoption-store/test-support';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Controller, Get, Module } from '@nestjs/common';
import { APP_GUARD, NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { description } from '../src/openapi/description.js';
import { ScopesGuard } from '../src/scopes/scopes.guard.js';
import { useApi } from './support/api.js';
import { expectError, expectHeadError } from './support/expectations.js';
import { bearer } from './support/pets-client.js';
import { type RawResponse, request } from './support/raw-http.js';

interface Described {
  readonly description: string;
  readonly security?: readonly [{ readonly bearerAuth: readonly string[] }];
  readonly responses: Readonly<Record<string, unknown>>;
}

const paths = description['paths'] as Readonly<Record<string, Readonly<Record<string, Described>>>>;
const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([name, described]) => {
    const method = name.toUpperCase();
    return { name: `${method} ${path}`, method, path: `/v1${path.replace(/\{\w+\}/g, '4711')}`, described };
  }),
);

/** The scope that each operation needs, as the contract has it. */
const NEEDED: Readonly<Record<string, Scope | undefined>> = {
  'GET /pets': 'pets:read',
  'POST /pets': 'pets:write',
  'GET /pets/{petId}': 'pets:read',
  'PATCH /pets/{petId}': 'pets:write',
  'DELETE /pets/{petId}': 'pets:write',
  'GET /categories': 'pets:read',
  'POST /categories': 'pets:write',
  'GET /categories/{categoryId}': 'pets:read',
  'PUT /categories/{categoryId}': 'pets:write',
  'DELETE /categories/{categoryId}': 'pets:write',
  'GET /store/orders': 'orders:read',
  'POST /store/orders': 'orders:write',
  'GET /store/orders/{orderId}': 'orders:read',
  'POST /store/orders/{orderId}/complete': 'orders:write',
  'POST /store/orders/{orderId}/cancel': 'orders:write',
  'POST /messages': 'messages:write',
  'GET /messages/{messageId}': 'messages:read',
  'GET /rate_limit': undefined,
};

const api = useApi();
let opened = 0;

/** A key of a new account, held to these scopes. */
async function openKey({ key, account }: { readonly key?: Scopes; readonly account?: Scopes }, of = plan('business')) {
  const email = `scopes-${(opened += 1)}@example.com`;
  const { id: accountId } = await api.application.openAccount.execute({ email, plan: of });
  await api.application.holdToScopes.execute({ email, scopes: account });
  const { text } = await api.application.issueKey.execute({ accountId, scopes: key });
  /** The change acts within a second. Waits for it without a request. */
  const hold = async (scopes: Scopes) => {
    await api.application.holdToScopes.execute({ email, scopes });
    const held = async () => (await api.application.authenticate.execute(text)).account.scopes;
    await until(async () => String(await held()) === String(scopes));
  };
  return { key: text, hold };
}

const send = (key: string, method: string, path: string, options: Parameters<typeof request>[2] = {}) =>
  request(api, path, { method, ...options, headers: { ...options.headers, ...bearer(key) } });
const json = (body: object) => ({ headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });

function expectLacking(response: RawResponse, scope: Scope, holder = '(API key|account)'): void {
  const message = expectError(response, 403, 'insufficient_scope');
  expect(message).toMatch(new RegExp(`^the ${holder} lacks the scope ${scope}$`));
  expect(response.headers['www-authenticate']).toBe(`Bearer error="insufficient_scope", scope="${scope}"`);
}

describe('the description', () => {
  it('has the scope that each operation needs, as a requirement, in words, and as a refusal', () => {
    expect(Object.fromEntries(operations.map(({ name, described }) => [name, describedScope(described)]))).toEqual(
      NEEDED,
    );
  });

  function describedScope({ description: text, security, responses }: Described): string | undefined {
    const scope = security?.[0].bearerAuth[0];
    expect(text).toContain(scope === undefined ? 'It needs no scope.' : `It needs the scope \`${scope}\`.`);
    expect('403' in responses).toBe(scope !== undefined);
    return scope;
  }

  it('says what each scope allows', () => {
    for (const scope of SCOPES) expect((description['info'] as Described).description).toContain(`| \`${scope}\` | `);
  });
});

const holdings = SCOPES.flatMap((scope) => {
  const others = SCOPES.filter((each) => each !== scope);
  return [
    { held: `the key to ${scope}`, has: [scope], key: [scope] },
    { held: `the account to ${scope}`, has: [scope], account: [scope] },
    { held: `both to ${scope}`, has: [scope], key: [scope], account: [scope] },
    { held: `the key to all but ${scope}`, has: others, key: others },
    { held: `the account to all but ${scope}`, has: others, account: others },
    { held: `the key to ${scope}, the account to the others`, has: [], key: [scope], account: others },
  ];
});

describe('every operation, with', () => {
  it.each([
    { held: 'nobody to anything', has: SCOPES },
    { held: 'both to every scope', has: SCOPES, key: SCOPES, account: SCOPES },
    ...holdings,
  ])('$held, refuses exactly what lacks its scope', async ({ has, ...held }) => {
    const { key } = await openKey(held);
    for (const { name, method, path } of operations) {
      const scope = NEEDED[name];
      const response = await send(key, method, path);
      if (scope === undefined || has.includes(scope)) {
        // Often a refusal: the animal doesn't exist, or the body is missing.
        expect([name, response.status]).toEqual([name, (await send(api.key, method, path)).status]);
        expect([200, 400, 404]).toContain(response.status);
        expect(response.headers).not.toHaveProperty('www-authenticate');
      } else expectLacking(response, scope);
    }
  });

  it('a key that lacks its scope, answers HEAD as it answers GET', async () => {
    const { key } = await openKey({ key: ['messages:write'] });
    for (const { name, method, path } of operations) {
      const scope = NEEDED[name];
      if (method !== 'GET' || scope === undefined) continue;
      const response = await send(key, 'HEAD', path);
      expectHeadError(response, 403);
      expect(response.headers['www-authenticate']).toBe(`Bearer error="insufficient_scope", scope="${scope}"`);
    }
  });
});

describe('a refusal for a scope', () => {
  it('says who lacks it', async () => {
    const key = await openKey({ key: ['pets:read'] });
    expectLacking(await send(key.key, 'POST', '/v1/pets'), 'pets:write', 'API key');
    const account = await openKey({ account: ['pets:read'] });
    expectLacking(await send(account.key, 'POST', '/v1/pets'), 'pets:write', 'account');
  });

  it('counts like any request', async () => {
    const { key } = await openKey({ key: ['pets:read'] }, plan('free'));
    expect((await send(key, 'POST', '/v1/pets')).headers['x-ratelimit-remaining']).toBe('59');
    expect((await send(key, 'POST', '/v1/pets')).headers['x-ratelimit-remaining']).toBe('58');
  });

  it('changes nothing', async () => {
    const { key, hold } = await openKey({});
    const animal = await api.application.addAnimal.execute({ name: 'Luna', categoryId: 1n });
    const free = await api.application.addAnimal.execute({ name: 'Rex', categoryId: 1n });
    const placed = await send(key, 'POST', '/v1/store/orders', json({ petId: Number(animal.id) }));
    expect(placed.status).toBe(201);
    await hold(['pets:read', 'orders:read', 'messages:read']);
    const order = placed.headers['location']?.replace(api.origin, '') ?? '';
    const refused = [
      await send(key, 'POST', '/v1/pets', json({ name: 'Milo', categoryId: 1 })),
      await send(key, 'PATCH', `/v1/pets/${animal.id}`, json({ name: 'Other' })),
      await send(key, 'DELETE', `/v1/pets/${free.id}`),
      await send(key, 'POST', `${order}/complete`),
      await send(key, 'POST', `${order}/cancel`),
      await send(key, 'POST', '/v1/messages', json({ message: 'hello' })),
    ];
    expect(refused.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403, 403]);
    const animals = await send(
      key,
      'GET',
      `/v1/pets?${[0n, 1n, 2n].map((more) => `id=${animal.id + more}`).join('&')}`,
    );
    expect(JSON.parse(animals.body)).toMatchObject([{ name: 'Luna', status: 'pending' }, { name: 'Rex' }]);
    expect(JSON.parse((await send(key, 'GET', order)).body)).toMatchObject({ status: 'placed' });
  });

  it('is not kept under an Idempotency-Key: the same request is done once the account has the scope', async () => {
    const { key, hold } = await openKey({ account: ['pets:read'] });
    const body = json({ name: 'Milo', categoryId: 1 });
    const add = () =>
      send(key, 'POST', '/v1/pets', { ...body, headers: { ...body.headers, 'Idempotency-Key': 'one' } });
    expectLacking(await add(), 'pets:write');
    await hold(undefined);
    expect((await add()).status).toBe(201);
    await hold(['pets:read']);
    expectLacking(await add(), 'pets:write');
  });
});

describe('a key', () => {
  it('of an account that is held to less has less within a second, and again more', async () => {
    const { key, hold } = await openKey({});
    expect((await send(key, 'GET', '/v1/pets')).status).toBe(200);
    await hold(['orders:read']);
    expectLacking(await send(key, 'GET', '/v1/pets'), 'pets:read', 'account');
    await hold(undefined);
    expect((await send(key, 'GET', '/v1/pets')).status).toBe(200);
  });

  it('has the same scopes after a rotation', async () => {
    const account = await api.application.openAccount.execute({ email: 'rotated@example.com' });
    const { key } = await api.application.issueKey.execute({ accountId: account.id, scopes: ['pets:read'] });
    const { text } = await api.application.rotateKey.execute({ id: key.id });
    expect((await send(text, 'GET', '/v1/pets')).status).toBe(200);
    expectLacking(await send(text, 'POST', '/v1/pets'), 'pets:write', 'API key');
  });
});

describe('the scope is judged', () => {
  it('after the key', async () => {
    const response = await send('nonsense', 'POST', '/v1/pets');
    expectError(response, 401, 'invalid_api_key');
    expect(response.headers['www-authenticate']).toMatch(/^Bearer realm="[^"]+", error="invalid_token"$/);
  });

  it('after the limits', async () => {
    const { key } = await openKey({ key: ['pets:read'] }, plan('enterprise', { perMinute: 1, perDay: 10 }));
    expectLacking(await send(key, 'POST', '/v1/pets'), 'pets:write');
    const response = await send(key, 'POST', '/v1/pets');
    expectError(response, 429, 'rate_limited');
    expect(response.headers).not.toHaveProperty('www-authenticate');
  });

  it.each([
    ['an unknown path', 'GET', '/v1/cats', 404],
    ['a path outside the version', 'GET', '/pets', 404],
    ['an undecodable path', 'GET', '/v1/pets/%zz', 400],
    ['a wrong method', 'PUT', '/v1/store/orders', 405],
    ['a wrong method of an order', 'DELETE', '/v1/store/orders/1', 405],
    ['the allowed methods', 'OPTIONS', '/v1/store/orders', 204],
  ])('after the route: %s', async (_case, method, path, status) => {
    const { key } = await openKey({ key: ['messages:write'] });
    const response = await send(key, method, path);
    expect(response.status).toBe(status);
    expect(response.headers['allow']).toBe(status === 405 || status === 204 ? allowOf(path) : undefined);
  });

  const allowOf = (path: string) => (path.endsWith('/orders') ? 'GET, HEAD, OPTIONS, POST' : 'GET, HEAD, OPTIONS');

  it.each([
    ['the media type', { headers: { 'Content-Type': 'text/plain' }, body: '{}' }],
    ['the JSON', { headers: { 'Content-Type': 'application/json' }, body: '{' }],
    ['the fields', json({ name: '' })],
    ['the Idempotency-Key', { headers: { 'Idempotency-Key': 'ä'.repeat(300) } }],
  ])('before %s', async (_case, options) => {
    const { key } = await openKey({ key: ['pets:read'] });
    expectLacking(await send(key, 'POST', '/v1/pets', options), 'pets:write');
  });

  it('before the parameters, and before the resource', async () => {
    const { key } = await openKey({ key: ['messages:write'] });
    expectLacking(await send(key, 'GET', '/v1/pets?limit=0'), 'pets:read');
    expectLacking(await send(key, 'GET', '/v1/pets/x'), 'pets:read');
    expectLacking(await send(key, 'GET', '/v1/store/orders/x'), 'orders:read');
  });
});

describe('a handler that declares no scope', () => {
  let undeclared: NestFastifyApplication | undefined;
  afterEach(() => undeclared?.close());

  it('is a defect: it never runs', async () => {
    let hasRun = false;

    @Controller()
    class Undeclared {
      @Get('undeclared')
      get(): string {
        hasRun = true;
        return 'everything';
      }
    }

    @Module({
      controllers: [Undeclared],
      providers: [{ provide: APP_GUARD, useClass: ScopesGuard }],
    })
    class UndeclaredModule {}

    undeclared = await NestFactory.create<NestFastifyApplication>(UndeclaredModule, new FastifyAdapter(), {
      logger: false,
    });
    await undeclared.init();
    expect(await undeclared.inject('/undeclared')).toMatchObject({ statusCode: 500 });
    expect(hasRun).toBe(false);
  });
});
