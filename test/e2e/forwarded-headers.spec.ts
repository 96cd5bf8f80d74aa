import { MINUTE } from '@adoption-store/domain';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { useApi } from '../support/api.js';
import { expectError } from '../support/expectations.js';
import { bearer, rawHead, sendOnce } from '../support/pets-client.js';
import { request, type RawResponse } from '../support/raw-http.js';

const LUNA = '{"name":"Luna","categoryId":1}';

const trusting = useApi({ trustProxy: ['127.0.0.1'] });
const plain = useApi();

beforeEach(() => {
  trusting.clock.advance(MINUTE);
  plain.clock.advance(MINUTE);
});

const stranger = (forwardedFor: string) =>
  request(trusting, '/v1/pets', { headers: { 'x-forwarded-for': forwardedFor } });

/** The remaining requests after a request with each of these headers. */
async function remainders(...forwardedFor: readonly string[]): Promise<number[]> {
  const left: number[] = [];
  for (const each of forwardedFor) left.push(Number((await stranger(each)).headers['x-ratelimit-remaining']));
  return left;
}

function add(api: typeof plain, ...headers: readonly string[]): Promise<RawResponse> {
  const all = ['Content-Type: application/json', `Content-Length: ${LUNA.length}`, ...headers];
  return sendOnce(api, Buffer.from(`${rawHead(api, 'POST /v1/pets HTTP/1.1', all)}${LUNA}`, 'latin1'));
}

describe('X-Forwarded-For of a trusted proxy', () => {
  it.each([
    'garbage',
    'a',
    '1.2.3',
    '1.2.3.4.5',
    '999.1.1.1',
    '1.2.3.4:',
    '1.2.3.4:x',
    '[::1',
    '::1%eth0',
    '\xe9',
    '<x>',
    ',',
  ])('that is no address, such as %s, is counted as the proxy’s own', async (garbage) => {
    expect(await remainders('127.0.0.1', garbage, `192.0.2.1, ${garbage}`)).toEqual([59, 58, 57]);
  });

  it('gets no bucket of its own for invalid text', async () => {
    for (let count = 0; count < 60; count += 1) await stranger(`garbage-${count}`);
    expectError(await stranger('another'), 429, 'rate_limited');
  });

  it('is the same with and without a port', async () => {
    expect(await remainders('192.0.2.5', '192.0.2.5:1', '192.0.2.5:65535')).toEqual([59, 58, 57]);
    expect(await remainders('2001:db8::1', '[2001:db8::2]', '[2001:db8::3]:443')).toEqual([59, 58, 57]);
  });

  it('is the address nearest to the trusted ones, whatever precedes it', async () => {
    expect(await remainders('192.0.2.6', 'garbage, 192.0.2.6', '192.0.2.7, 192.0.2.6')).toEqual([59, 58, 57]);
  });
});

describe('X-Forwarded-Host and -Proto', () => {
  it('of a trusted proxy are used for links', async () => {
    const answer = await add(trusting, 'X-Forwarded-Host: pets.example:8443', 'X-Forwarded-Proto: HTTPS');
    expect(answer.headers['location']).toMatch(/^https:\/\/pets\.example:8443\/v1\/pets\/\d+$/);
  });

  it.each(['\xe9', 'a b', 'a/b', 'user@a', '<script>', '"', 'a:b', 'x'.repeat(300), 'a, \xe9', ' '])(
    'that are not valid are not used: %s',
    async (garbage) => {
      const headers = [`X-Forwarded-Host: ${garbage}`, `X-Forwarded-Proto: ${garbage}`];
      const answer = await add(trusting, ...headers);
      expect(answer.status).toBe(201);
      expect(answer.headers['location']).toMatch(/^http:\/\/[\w.:-]+\/v1\/pets\/\d+$/);
      const list = rawHead(trusting, 'GET /v1/pets?limit=1 HTTP/1.1', headers);
      expect(await sendOnce(trusting, Buffer.from(list, 'latin1'))).toMatchObject({ status: 200 });
    },
  );

  it('of other senders are not used', async () => {
    const answer = await add(plain, 'X-Forwarded-Host: evil.example', 'X-Forwarded-Proto: https');
    expect(answer.headers['location']).toMatch(/^http:\/\/(?!evil)[\w.:-]+\/v1\/pets\/\d+$/);
    const list = await request(plain, '/v1/pets?limit=1', {
      headers: { ...bearer(plain.key), 'x-forwarded-host': '\xe9', 'x-forwarded-proto': 'javascript' },
    });
    expect(list.status).toBe(200);
  });
});
