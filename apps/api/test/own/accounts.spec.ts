import 'reflect-metadata';
import { generateKeyText, HOUR, later, plan, type Scope, type Scopes, SCOPES } from '@adoption-store/domain';
import { PredictableCryptography } from '@adoption-store/domain/testing';
import { until } from '@adoption-store/test-support';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Controller, Get, Module } from '@nestjs/common';
import { APP_GUARD, NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import { OPERATIONS } from '../../src/api.module.js';
import { descriptionOf } from '../../src/openapi/description.js';
import { ApiContext } from '../../src/http/answers/api-context.js';
import { ScopesGuard } from '../../src/accounts/scopes.guard.js';
import { useApi } from '../support/api.js';
import { expectError, expectHeadError } from '../support/expectations.js';
import { bearer, rawHead, sendOnce } from '../support/pets-client.js';
import { type RawResponse, request } from '../support/raw-http.js';

// RFC 6750 §3: no error attribute if the request has no credentials.
const CHALLENGE = /^Bearer realm="[^"]+"$/;
const INVALID_TOKEN = /^Bearer realm="[^"]+", error="invalid_token"$/;
const cryptography = new PredictableCryptography();

// No test uses up its address's minute.
const api = useApi({}, { addressLimit: 1_000_000 });

const list = (headers: Readonly<Record<string, string>>) => request(api, '/v1/pets', { headers });

function expectMissing(response: RawResponse): void {
  expect(expectError(response, 401, 'missing_api_key')).toMatch(/Authorization.*Bearer/);
  expect(response.headers['www-authenticate']).toMatch(CHALLENGE);
}

function expectInvalid(response: RawResponse): string {
  const message = expectError(response, 401, 'invalid_api_key');
  expect(response.headers['www-authenticate']).toMatch(INVALID_TOKEN);
  return message;
}

describe('a request is answered 401 missing_api_key', () => {
  it.each([
    ['without any header', () => ({})],
    ['with the key in X-Api-Key', () => ({ 'X-Api-Key': api.key })],
    ['with the key in Proxy-Authorization', () => ({ 'Proxy-Authorization': `Bearer ${api.key}` })],
    ['with the key in a cookie', () => ({ Cookie: `Authorization=Bearer ${api.key}` })],
  ] satisfies [string, () => Record<string, string>][])('%s', async (_case, headers) => {
    expectMissing(await list(headers()));
  });

  it.each(['api_key', 'access_token', 'Authorization'])('with the key in the query as %s', async (name) => {
    expectMissing(await request(api, `/v1/pets?${name}=${api.key}`));
  });
});

describe('a request is answered 401 invalid_api_key to', () => {
  it.each([
    ['another scheme', () => `Basic ${Buffer.from(`${api.key}:`).toString('base64')}`],
    ['the key without a scheme', () => api.key],
    ['the scheme alone', () => 'Bearer'],
    ['two spaces', () => `Bearer  ${api.key}`],
    ['two tokens', () => `Bearer ${api.key} ${api.key}`],
    ['a letter beyond ASCII', () => `Bearer ${api.key}é`],
    ['a key cut short', () => `Bearer ${api.key.slice(0, -1)}`],
    ['the checksum of another key', () => `Bearer ${api.key.slice(0, -6)}000000`],
    ['a key whose secret has one other character', () => `Bearer ${withOtherSecret(api.key)}`],
    ['a well-formed key nobody was given', () => `Bearer ${generateKeyText('live', cryptography)}`],
  ])('%s', async (_case, authorization) => {
    expectInvalid(await list({ Authorization: authorization() }));
  });

  it('two Authorization headers with the same good key', async () => {
    expectInvalid(await sendOnce(api, rawHead(api, 'GET /v1/pets HTTP/1.1', [`Authorization: Bearer ${api.key}`])));
  });

  it.each([
    ['first', (good: string, bad: string) => [good, bad]],
    ['second', (good: string, bad: string) => [bad, good]],
  ])('two Authorization headers of which the %s is good', async (_case, order) => {
    const headers = order(`Authorization: Bearer ${api.key}`, 'authorization: Basic eA==');
    expectInvalid(await sendOnce(api, rawHead(api, 'GET /v1/pets HTTP/1.1', headers, ['Host: localhost'])));
  });

  it("another environment's key, and says so", async () => {
    const message = expectInvalid(await list(bearer(generateKeyText('staging', cryptography))));
    expect(message).toMatch(/staging.*live/);
  });

  it("another environment's key with a wrong checksum, without a word of environments", async () => {
    const message = expectInvalid(await list(bearer(withOtherSecret(generateKeyText('staging', cryptography)))));
    expect(message).not.toMatch(/staging/);
  });

  it('a wrong checksum in the same words as an unknown key', async () => {
    const unknown = expectInvalid(await list(bearer(generateKeyText('live', cryptography))));
    expect(expectInvalid(await list(bearer(withOtherSecret(api.key))))).toBe(unknown);
  });

  it('a key without ever repeating it', async () => {
    const key = generateKeyText('live', cryptography);
    expect((await list(bearer(key))).body).not.toContain(key.slice(9, 20));
  });
});

/** Changes one character of the key's random part and keeps the checksum. */
function withOtherSecret(key: string): string {
  const place = 'aas_live_'.length + 3;
  return `${key.slice(0, place)}${key[place] === 'x' ? 'y' : 'x'}${key.slice(place + 1)}`;
}

describe('a valid key is accepted', () => {
  it.each(['Bearer', 'bearer', 'BEARER'])('after the scheme %s', async (scheme) => {
    expect(await list({ AUTHORIZATION: `${scheme} ${api.key}` })).toMatchObject({ status: 200 });
  });

  it('with white space around the header value, which is not part of it', async () => {
    const headers = [`Authorization: \t Bearer ${api.key} \t`];
    const response = await sendOnce(api, rawHead(api, 'GET /v1/pets HTTP/1.1', headers, ['Host: localhost']));
    expect(response).toMatchObject({ status: 200 });
  });

  it('without a challenge', async () => {
    expect((await list(bearer(api.key))).headers).not.toHaveProperty('www-authenticate');
  });
});

describe('a key that has ended or is disabled is answered', () => {
  type Key = Parameters<typeof api.application.revokeKey.execute>[0];

  it.each([
    [
      'expired_api_key',
      () => {
        api.clock.advance(HOUR);
      },
    ],
    ['revoked_api_key', (key: Key) => api.application.revokeKey.execute(key)],
    ['disabled_api_key', (key: Key) => api.application.disableKey.execute({ ...key, isDisabled: true })],
  ] as const)('401 %s from then on', async (code, end) => {
    const { account } = await api.openKey();
    const expiresAt = later(api.clock.now(), HOUR);
    const { key, text } = await api.application.issueKey.execute({ accountId: account.id, expiresAt });
    expect(await list(bearer(text))).toMatchObject({ status: 200 });
    await end({ id: key.id });
    // A change acts within a second. Waits for it without a request.
    const accepted = async () => api.application.authenticate.execute(text);
    await until(() =>
      accepted().then(
        () => false,
        () => true,
      ),
    );
    const response = await list(bearer(text));
    expect(expectError(response, 401, code)).toContain(code.replace('_api_key', ''));
    expect(response.headers['www-authenticate']).toMatch(INVALID_TOKEN);
  });
});

describe('401 is answered before anything is revealed about', () => {
  it.each([
    ['an unknown path', 'GET', '/v2/cats'],
    ['an undecodable path', 'GET', '/v1/pets/%zz'],
    ['a wrong method', 'DELETE', '/v1/pets'],
    ['the allowed methods', 'OPTIONS', '/v1/pets'],
    ['the parameters', 'GET', '/v1/pets?limit=x'],
  ])('%s', async (_case, method, path) => {
    expectMissing(await request(api, path, { method }));
    expectInvalid(await request(api, path, { method, headers: bearer('nonsense') }));
  });

  it('anything to HEAD, whose answer has the challenge and no body', async () => {
    const response = await request(api, '/v1/pets', { method: 'HEAD' });
    expectHeadError(response, 401);
    expect(response.headers['www-authenticate']).toMatch(CHALLENGE);
  });
});

interface Described {
  readonly description: string;
  readonly security?: readonly [{ readonly bearerAuth: readonly string[] }];
  readonly responses: Readonly<Record<string, unknown>>;
}

const description = descriptionOf(OPERATIONS);
const paths = description['paths'] as Readonly<Record<string, Readonly<Record<string, Described>>>>;
const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([name, described]) => {
    const method = name.toUpperCase();
    return { name: `${method} ${path}`, method, path: `/v1${path.replace(/\{\w+\}/g, '4711')}`, described };
  }),
);

const DELIVERY: readonly Scope[] = ['events:read', 'webhooks:write'];

/** The scopes that each operation needs, as the contract has it. */
const NEEDED: Readonly<Record<string, Scope | readonly Scope[] | undefined>> = {
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
  'GET /events': 'events:read',
  'GET /webhooks': 'webhooks:write',
  'POST /webhooks': DELIVERY,
  'GET /webhooks/{webhookId}': 'webhooks:write',
  'PATCH /webhooks/{webhookId}': 'webhooks:write',
  'DELETE /webhooks/{webhookId}': 'webhooks:write',
  'POST /webhooks/{webhookId}/rotate-secret': 'webhooks:write',
  'POST /webhooks/{webhookId}/ping': 'webhooks:write',
  'GET /webhooks/{webhookId}/deliveries': 'webhooks:write',
  'POST /webhooks/{webhookId}/deliveries/{deliveryId}/retry': DELIVERY,
  'POST /webhooks/{webhookId}/recover': DELIVERY,
  'GET /rate_limit': undefined,
};
const neededBy = (name: string): readonly Scope[] => [NEEDED[name] ?? []].flat();

let opened = 0;

/** A key of a new account, held to these scopes. */
async function openKey({ key, account }: { readonly key?: Scopes; readonly account?: Scopes }, of = plan('business')) {
  const email = `scopes-${(opened += 1)}@example.com`;
  const { id: accountId } = await api.application.openAccount.execute({ email, plan: of });
  await api.application.changeScopes.execute({ email, scopes: account });
  const { text } = await api.application.issueKey.execute({ accountId, scopes: key });
  /** The change acts within a second. Waits for it without a request. */
  const hold = async (scopes: Scopes) => {
    await api.application.changeScopes.execute({ email, scopes });
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
    expect(Object.fromEntries(operations.map(({ name, described }) => [name, describedScopes(described)]))).toEqual(
      Object.fromEntries(Object.keys(NEEDED).map((name) => [name, neededBy(name)])),
    );
  });

  function describedScopes({ description: text, security, responses }: Described): readonly string[] {
    const scopes = security?.[0].bearerAuth ?? [];
    const [one, another] = scopes.map((scope) => `\`${scope}\``);
    const words = another === undefined ? `the scope ${one}` : `the scopes ${one} and ${another}`;
    expect(text).toContain(one === undefined ? 'It needs no scope.' : `It needs ${words}.`);
    expect('403' in responses).toBe(one !== undefined);
    return scopes;
  }

  it('says what each scope allows', () => {
    for (const scope of SCOPES) expect((description['info'] as Described).description).toContain(`| \`${scope}\` | `);
  });
});

const holdings = SCOPES.flatMap((scope) => {
  const others = SCOPES.filter((each) => each !== scope);
  return [
    { held: `the key to ${scope}`, has: [scope], key: [scope] },
    { held: `the account to all but ${scope}`, has: others, account: others },
  ];
});

describe('every operation, with', () => {
  it.each<{ held: string; has: readonly Scope[]; key?: Scopes; account?: Scopes }>([
    { held: 'nobody to anything', has: SCOPES },
    { held: 'both to every scope', has: SCOPES, key: SCOPES, account: SCOPES },
    { held: 'the key to one, the account to another', has: [], key: [SCOPES[0]], account: [SCOPES[1]] },
    ...holdings,
  ])('$held, refuses exactly what lacks its scope', async ({ has, ...held }) => {
    const { key } = await openKey(held);
    for (const { name, method, path } of operations) {
      const lacking = neededBy(name).find((scope) => !has.includes(scope));
      const response = await send(key, method, path);
      if (lacking === undefined) {
        // Often a refusal: the animal doesn't exist, or the body is missing.
        expect([name, response.status]).toEqual([name, (await send(api.key, method, path)).status]);
        expect([200, 400, 404]).toContain(response.status);
        expect(response.headers).not.toHaveProperty('www-authenticate');
      } else expectLacking(response, lacking);
    }
  });

  it('a key that lacks its scope, answers HEAD as it answers GET', async () => {
    const { key } = await openKey({ key: ['messages:write'] });
    for (const { name, method, path } of operations) {
      const [scope] = neededBy(name);
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
});

describe('the scope is judged', () => {
  it('after the limits', async () => {
    const { key } = await openKey({ key: ['pets:read'] }, plan('enterprise', { perMinute: 1, perDay: 10 }));
    expectLacking(await send(key, 'POST', '/v1/pets'), 'pets:write');
    const response = await send(key, 'POST', '/v1/pets');
    expectError(response, 429, 'rate_limited');
    expect(response.headers).not.toHaveProperty('www-authenticate');
  });

  it.each([
    ['an unknown path', 'GET', '/v1/cats', 404],
    ['an undecodable path', 'GET', '/v1/pets/%zz', 400],
    ['a wrong method', 'PUT', '/v1/store/orders', 405],
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

describe('a handler that defines no operation', () => {
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
      providers: [
        { provide: ApiContext, useValue: undefined },
        { provide: APP_GUARD, useClass: ScopesGuard },
      ],
    })
    class UndeclaredModule {}

    const adapter = new FastifyAdapter();
    adapter.getInstance<FastifyInstance>().addHook('onRequest', async (request) => {
      request.route = { url: '/undeclared', shown: '/undeclared', operation: undefined, observe: () => undefined };
    });
    undeclared = await NestFactory.create<NestFastifyApplication>(UndeclaredModule, adapter, { logger: false });
    await undeclared.init();
    expect(await undeclared.inject('/undeclared')).toMatchObject({ statusCode: 500 });
    expect(hasRun).toBe(false);
  });
});
