import type { Admission } from '@adoption-store/admission';
import 'reflect-metadata';
import { portalSettings, readSettings } from '@adoption-store/config';
import { generateKeyText, HOUR, later, plan, type Scope, type Scopes, SCOPES } from '@adoption-store/domain';
import { PredictableCryptography } from '@adoption-store/domain/testing';
import { until } from '@adoption-store/test-support';
import { describe, expect, it } from '@jest/globals';
import type { ExecutionContext } from '@nestjs/common';
import type { ApiContext } from '../../src/http/answers/api-context.js';
import { ScopesGuard } from '../../src/accounts/scopes.guard.js';
import { startApi, useApi } from '../support/api.js';
import { bearer, PETS, post, rawHead, sendOnce } from '../support/client.js';
import { operations } from '../support/description.js';
import { expectError, expectHeadError } from '../support/expectations.js';
import { type RawResponse, request } from '../support/raw-http.js';

// RFC 6750 §3: no error attribute if the request has no credentials.
const CHALLENGE = /^Bearer realm="[^"]+"$/;
const INVALID_TOKEN = /^Bearer realm="[^"]+", error="invalid_token"$/;
const cryptography = new PredictableCryptography();

// No test uses up its address's minute.
const CONTACT = 'help@example.com';
const api = useApi({ contact: CONTACT }, { addressLimit: 1_000_000 });

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

it('a key in another place than the Authorization header is none: 401 missing_api_key', async () => {
  expectMissing(await list({ 'X-Api-Key': api.key }));
  expectMissing(await list({ Cookie: `Authorization=Bearer ${api.key}` }));
  expectMissing(await request(api, `/v1/pets?access_token=${api.key}`));
});

describe('a request is answered 401 invalid_api_key to', () => {
  it.each([
    ['another scheme', () => `Basic ${Buffer.from(`${api.key}:`).toString('base64')}`],
    ['the key without a scheme', () => api.key],
    ['two spaces', () => `Bearer  ${api.key}`],
    ['two tokens', () => `Bearer ${api.key} ${api.key}`],
    ['a letter beyond ASCII', () => `Bearer ${api.key}é`],
    ['a key cut short', () => `Bearer ${api.key.slice(0, -1)}`],
  ])('%s', async (_case, authorization) => {
    expectInvalid(await list({ Authorization: authorization() }));
  });

  it('two Authorization headers, also if both have the same good key', async () => {
    const good = `Authorization: Bearer ${api.key}`;
    for (const headers of [
      [good, good],
      [good, 'authorization: Basic eA=='],
      ['authorization: Basic eA==', good],
    ])
      expectInvalid(await sendOnce(api, rawHead(api, 'GET /v1/pets HTTP/1.1', headers, ['Host: localhost'])));
  });

  it("another environment's key, and says so, unless its checksum is wrong", async () => {
    const staging = generateKeyText('staging', cryptography);
    expect(expectInvalid(await list(bearer(staging)))).toMatch(/staging.*live/);
    expect(expectInvalid(await list(bearer(withOtherSecret(staging))))).not.toMatch(/staging/);
  });

  it('a wrong checksum in the same words as an unknown key, which is never repeated', async () => {
    const key = generateKeyText('live', cryptography);
    const unknown = expectInvalid(await list(bearer(key)));
    expect(unknown).not.toContain(key.slice(9, 20));
    expect(expectInvalid(await list(bearer(withOtherSecret(api.key))))).toBe(unknown);
  });

  it('a token of more than 256 characters, which is not looked up', async () => {
    const ofLength = (length: number) => list(bearer('a'.repeat(length)));
    expect(expectInvalid(await ofLength(256))).not.toContain('must be');
    expect(expectInvalid(await ofLength(257))).toContain('must be "Bearer <API key>"');
  });
});

/** Changes one character of the key's random part and keeps the checksum. */
function withOtherSecret(key: string): string {
  const place = 'aas_live_'.length + 3;
  return `${key.slice(0, place)}${key[place] === 'x' ? 'y' : 'x'}${key.slice(place + 1)}`;
}

it.each(['Bearer', 'BEARER'])('a valid key is accepted after the scheme %s', async (scheme) => {
  expect(await list({ AUTHORIZATION: `${scheme} ${api.key}` })).toMatchObject({ status: 200 });
});

type Key = Parameters<typeof api.application.revokeKey.execute>[0];

it.each([
  [
    'expired_api_key',
    () => {
      api.clock.advance(HOUR);
    },
  ],
  ['revoked_api_key', (key: Key) => api.application.revokeKey.execute(key)],
  ['disabled_api_key', (key: Key) => api.application.switchKey.execute({ ...key, isDisabled: true })],
] as const)('a key that has ended or is disabled is answered 401 %s from then on', async (code, end) => {
  const { account } = await api.openKey();
  const expiresAt = later(api.clock.now(), HOUR);
  const { key, text } = await api.application.issueKey.execute({ accountId: account.id, expiresAt });
  expect(await list(bearer(text))).toMatchObject({ status: 200 });
  await end({ id: key.id });
  // A change acts within a second.
  await until(async () => (await list(bearer(text))).status === 401);
  const response = await list(bearer(text));
  expect(expectError(response, 401, code)).toContain(code.replace('_api_key', ''));
  expect(response.headers['www-authenticate']).toMatch(INVALID_TOKEN);
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

const send = (key: string, method: string, path: string) => request(api, path, { method, headers: bearer(key) });

/** Whoever lacks the scopes: only an account's scopes are the operator's to give. */
function expectLacking(response: RawResponse, ...scopes: readonly Scope[]): string {
  const message = expectError(response, 403, 'insufficient_scope');
  const lack = `lacks the scope${scopes.length === 1 ? '' : 's'} ${scopes.join(' and ')}`;
  expect([`the API key ${lack}`, `the account ${lack}; contact ${CONTACT}`]).toContain(message);
  const challenge = `Bearer error="insufficient_scope", scope="${scopes.join(' ')}"`;
  expect(response.headers['www-authenticate']).toBe(challenge);
  return message;
}

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
  ])('$held, refuses exactly what lacks one of its scopes, and names each', async ({ has, ...held }) => {
    const { key } = await openKey(held);
    for (const { method, path, security } of operations) {
      const lacking = security?.[0].bearerAuth.filter((scope) => !has.includes(scope)) ?? [];
      const response = await send(key, method, path);
      // Often a refusal: the animal doesn't exist, or the body is missing.
      if (lacking.length === 0)
        expect([path, response.status]).toEqual([path, (await send(api.key, method, path)).status]);
      else expectLacking(response, ...lacking);
    }
  });

  it('a key that lacks its scope, answers HEAD as it answers GET', async () => {
    const { key } = await openKey({ key: ['messages:write'] });
    const response = await send(key, 'HEAD', '/v1/pets');
    expectHeadError(response, 403);
    expect(response.headers['www-authenticate']).toBe('Bearer error="insufficient_scope", scope="pets:read"');
  });
});

describe('a refusal for a scope', () => {
  it('says who lacks it, and whom to ask if only the operator can give it', async () => {
    const key = await openKey({ key: ['pets:read'] });
    expect(expectLacking(await send(key.key, 'POST', '/v1/pets'), 'pets:write')).toContain('API key');
    const account = await openKey({ account: ['pets:read'] });
    expect(expectLacking(await send(account.key, 'POST', '/v1/pets'), 'pets:write')).toContain(CONTACT);
    const silent = await startApi();
    const { key: without, account: held } = await silent.openKey();
    await silent.application.changeScopes.execute({ email: held.email, scopes: ['pets:read'] });
    const message = expectError(await post({ ...silent, key: without }, PETS), 403, 'insufficient_scope');
    expect(message).toBe('the account lacks the scope pets:write');
    await silent.close();
  });

  it('is not kept under an Idempotency-Key: the same request is done once the account has the scope', async () => {
    const { key, hold } = await openKey({ account: ['pets:read'] });
    const milo = { name: 'Milo', categoryId: 1 };
    const add = () => post({ ...api, key }, '/v1/pets', milo, { 'Idempotency-Key': 'one' });
    expectLacking(await add(), 'pets:write');
    await hold(undefined);
    expect((await add()).status).toBe(201);
    await hold(['pets:read']);
    expectLacking(await add(), 'pets:write');
  });
});

describe('the scope is judged', () => {
  it('after the limits, of which it uses a request', async () => {
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
    if (path === '/v1/store/orders') expect(response.headers['allow']).toBe('GET, HEAD, OPTIONS, POST');
  });

  it('before the parameters', async () => {
    const { key } = await openKey({ key: ['messages:write'] });
    expectLacking(await send(key, 'GET', '/v1/pets?limit=0'), 'pets:read');
  });
});

describe('an account that has signed up, where a database is given,', () => {
  const { SIGNUP_SCOPES: given } = readSettings(portalSettings, { DATABASE_URL: 'postgres://a/b' });

  it('may change nothing but its own: by the description only these operations', () => {
    const writes = operations.filter(({ method, security }) => {
      const needed = security?.[0].bearerAuth ?? [];
      return method !== 'GET' && needed.every((scope) => given?.includes(scope) ?? true);
    });
    const names = writes.map(({ method, path }) => `${method} ${path.replaceAll('4711', '…')}`);
    expect(names.filter((name) => !name.includes('/v1/webhooks'))).toEqual([
      ...['POST /v1/pets', 'POST /v1/store/orders', 'POST /v1/store/orders/…/cancel', 'POST /v1/messages'],
    ]);
  });
});

it('a handler that defines no operation is a defect, and never runs', () => {
  const request = { route: { operation: undefined } };
  const context = { getClass: () => Object, switchToHttp: () => ({ getRequest: () => request }) };
  const guard = new ScopesGuard({} as Admission, {} as ApiContext);
  expect(() => guard.canActivate(context as unknown as ExecutionContext)).toThrow('nobody has decided who may use it');
});
