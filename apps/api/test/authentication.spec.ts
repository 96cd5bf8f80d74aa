import { generateKeyText, HOUR, later, MINUTE } from '@adoption-store/domain';
import { PredictableCryptography } from '@adoption-store/domain/testing';
import { until } from '@adoption-store/test-support';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { useApi } from './support/api.js';
import { expectError, expectHeadError } from './support/expectations.js';
import { bearer, rawHead, sendOnce } from './support/pets-client.js';
import { type RawResponse, request } from './support/raw-http.js';

// RFC 6750 §3: no error attribute if the request has no credentials.
const CHALLENGE = /^Bearer realm="[^"]+"$/;
const INVALID_TOKEN = /^Bearer realm="[^"]+", error="invalid_token"$/;
const cryptography = new PredictableCryptography();

const api = useApi();

// Each test has its own minute, so that no test uses up another's quota.
beforeEach(() => {
  api.clock.advance(MINUTE);
});

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
    ['another scheme with the key', () => `Token ${api.key}`],
    ['a scheme that only begins alike', () => `BearerX ${api.key}`],
    ['a scheme that only ends alike', () => `xBearer ${api.key}`],
    ['the key without a scheme', () => api.key],
    ['the scheme alone', () => 'Bearer'],
    ['the scheme and a space', () => 'Bearer '],
    ['two spaces', () => `Bearer  ${api.key}`],
    ['a tab', () => `Bearer\t${api.key}`],
    ['a space and a tab', () => `Bearer \t${api.key}`],
    ['no space', () => `Bearer${api.key}`],
    ['a colon', () => `Bearer: ${api.key}`],
    ['two tokens', () => `Bearer ${api.key} ${api.key}`],
    ['a comma behind', () => `Bearer ${api.key},`],
    ['two credentials in one header', () => `Bearer ${api.key}, Bearer ${api.key}`],
    ['quotes', () => `Bearer "${api.key}"`],
    ['angle brackets', () => `Bearer <${api.key}>`],
    ['padding', () => `Bearer ${api.key}==`],
    ['percent-encoding', () => `Bearer ${api.key.replace('_', '%5F')}`],
    ['a no-break space', () => `Bearer\u00a0${api.key}`],
    ['a letter beyond ASCII', () => `Bearer ${api.key}é`],
    ['a token of 256 characters', () => `Bearer ${'a'.repeat(256)}`],
    ['a token of 257 characters', () => `Bearer ${'a'.repeat(257)}`],
    ['a token of 8,000 characters', () => `Bearer ${'a'.repeat(8_000)}`],
    ['a word', () => 'Bearer secret'],
    ['the word null', () => 'Bearer null'],
    ['a key in lower case', () => `Bearer ${api.key.toLowerCase()}`],
    ['a key in upper case', () => `Bearer ${api.key.toUpperCase()}`],
    ['a key without its prefix', () => `Bearer ${api.key.slice('aas_live_'.length)}`],
    ['a key cut short', () => `Bearer ${api.key.slice(0, -1)}`],
    ['a key with a character more', () => `Bearer ${api.key}0`],
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
  it.each(['Bearer', 'bearer', 'BEARER', 'bEaReR'])('after the scheme %s', async (scheme) => {
    expect(await list({ Authorization: `${scheme} ${api.key}` })).toMatchObject({ status: 200 });
  });

  it.each(['authorization', 'AUTHORIZATION'])('under the header name %s', async (name) => {
    expect(await list({ [name]: `Bearer ${api.key}` })).toMatchObject({ status: 200 });
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

/** A change acts within a second. Waits for it without a request. */
const untilItIs = (isAccepted: boolean, key: string) =>
  until(() =>
    api.application.authenticate.execute(key).then(
      () => isAccepted,
      () => !isAccepted,
    ),
  );

describe('a key that has ended', () => {
  it('is accepted up to the last millisecond before its expiry', async () => {
    const { account } = await api.openKey();
    const expiresAt = later(api.clock.now(), HOUR);
    const { text } = await api.application.issueKey.execute({ accountId: account.id, expiresAt });
    api.clock.set(later(expiresAt, -1));
    expect(await list(bearer(text))).toMatchObject({ status: 200 });
  });

  it('is answered 401 expired_api_key from its expiry on', async () => {
    const { account } = await api.openKey();
    const expiresAt = later(api.clock.now(), HOUR);
    const { text } = await api.application.issueKey.execute({ accountId: account.id, expiresAt });
    api.clock.set(expiresAt);
    const response = await list(bearer(text));
    expect(expectError(response, 401, 'expired_api_key')).toMatch(/expired/);
    expect(response.headers['www-authenticate']).toMatch(INVALID_TOKEN);
  });

  it('is answered 401 revoked_api_key from its revocation on', async () => {
    const { id, key } = await api.openKey();
    expect(await list(bearer(key))).toMatchObject({ status: 200 });
    await api.application.revokeKey.execute({ id });
    await untilItIs(false, key);
    const response = await list(bearer(key));
    expect(expectError(response, 401, 'revoked_api_key')).toMatch(/revoked/);
    expect(response.headers['www-authenticate']).toMatch(INVALID_TOKEN);
  });

  it('is answered 401 disabled_api_key while it is disabled', async () => {
    const { id, key } = await api.openKey();
    expect(await list(bearer(key))).toMatchObject({ status: 200 });
    await api.application.disableKey.execute({ id, isDisabled: true });
    await untilItIs(false, key);
    const response = await list(bearer(key));
    expect(expectError(response, 401, 'disabled_api_key')).toMatch(/disabled/);
    expect(response.headers['www-authenticate']).toMatch(INVALID_TOKEN);
    await api.application.disableKey.execute({ id, isDisabled: false });
    await untilItIs(true, key);
    expect(await list(bearer(key))).toMatchObject({ status: 200 });
  });

  it('does not affect the other keys of its account', async () => {
    const { account, id } = await api.openKey();
    const { text } = await api.application.issueKey.execute({ accountId: account.id });
    await api.application.revokeKey.execute({ id });
    expect(await list(bearer(text))).toMatchObject({ status: 200 });
  });
});

describe('a rotated key', () => {
  it('works beside the new one until the last millisecond of 24 hours', async () => {
    const { id, key } = await api.openKey();
    const { text } = await api.application.rotateKey.execute({ id });
    expect(text).not.toBe(key);
    expect(await list(bearer(key))).toMatchObject({ status: 200 });
    api.clock.advance(24 * HOUR - 1);
    expect(await list(bearer(key))).toMatchObject({ status: 200 });
    expect(await list(bearer(text))).toMatchObject({ status: 200 });
  });

  it('is expired after 24 hours, and the new one is not', async () => {
    const { id, key } = await api.openKey();
    const { text } = await api.application.rotateKey.execute({ id });
    api.clock.advance(24 * HOUR);
    expectError(await list(bearer(key)), 401, 'expired_api_key');
    expect(await list(bearer(text))).toMatchObject({ status: 200 });
  });

  it('ends after a given overlap', async () => {
    const { id, key } = await api.openKey();
    await api.application.rotateKey.execute({ id, overlap: HOUR });
    api.clock.advance(HOUR - 1);
    expect(await list(bearer(key))).toMatchObject({ status: 200 });
    api.clock.advance(1);
    expectError(await list(bearer(key)), 401, 'expired_api_key');
  });

  it('ends at once without an overlap', async () => {
    const { id, key } = await api.openKey();
    const { text } = await api.application.rotateKey.execute({ id, overlap: 0 });
    expectError(await list(bearer(key)), 401, 'expired_api_key');
    expect(await list(bearer(text))).toMatchObject({ status: 200 });
  });
});

describe('401 is answered before anything is revealed about', () => {
  it.each([
    ['an unknown path', 'GET', '/v2/cats'],
    ['the root', 'GET', '/'],
    ['a path outside the version', 'GET', '/pets'],
    ['a trailing slash', 'GET', '/v1/pets/'],
    ['double slashes', 'GET', '//v1//pets'],
    ['an asterisk', 'OPTIONS', '*'],
    ['an undecodable path', 'GET', '/v1/pets/%zz'],
    ['an undecodable unknown path', 'GET', '/%'],
    ['a wrong method', 'DELETE', '/v1/pets'],
    ['a wrong method of an animal', 'PUT', '/v1/pets/1'],
    ['a wrong method of an unknown path', 'PATCH', '/cats'],
    ['a rare method', 'MKCOL', '/v1/pets'],
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
