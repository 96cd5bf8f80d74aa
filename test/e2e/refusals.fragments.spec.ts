import { beforeEach, describe, expect, it } from '@jest/globals';
import { MINUTE } from '@adoption-store/domain';
import { useApi } from '../support/api.js';
import { expectError } from '../support/expectations.js';
import { bearer } from '../support/pets-client.js';
import { request, sendRaw } from '../support/raw-http.js';

const api = useApi();

beforeEach(() => {
  api.clock.advance(MINUTE);
});

const get = (path: string, key = api.key) => request(api, path, { headers: bearer(key) });

describe('a target with a fragment', () => {
  it.each([
    '/v1/pets#limit=1',
    '/v1/pets#?limit=1',
    '/v1/pets?#limit=1',
    '/v1/pets?limit=1#',
    '/v1/pets?status=sold#x',
    '/v1/pets/1#x',
    '/v1/store/orders#status=placed',
    '/v1/store/orders/1#x',
    '/v1/messages/msg_1#x',
    '/v1/rate_limit#x',
    '/v1/unknown#x',
    '/v1/%zz#x',
    '/#',
    '//v1/pets#x',
    'http://pets.example/v1/pets#limit=1',
  ])('is 400 bad_request with a key and without one: %s', async (target) => {
    expect(expectError(await get(target), 400, 'bad_request')).toMatch(/#/);
    expectError(await request(api, target), 400, 'bad_request');
  });

  it.each(['/docs#x', '/docs/page.css#x', '/openapi.json#x', '/livez#x', '/readyz#x'])(
    'is 400 on a page beside the API, too: %s',
    async (target) => {
      const { status, body } = await request(api, target);
      expect([status, JSON.parse(body)]).toEqual([400, expect.objectContaining({ code: 'bad_request', status: 400 })]);
    },
  );

  it('is 400 with a method that is not known', async () => {
    const [answer] = await sendRaw(api, `FIND /v1/pets#x HTTP/1.1\r\nHost: localhost\r\n\r\n`, Infinity);
    expectError(answer, 400, 'bad_request');
  });

  it('never changes another caller’s response', async () => {
    const plain = ['/v1/pets', '/v1/pets?', '/v1/store/orders', '/v1/store/orders?'];
    for (const name of ['Luna', 'Milo', 'Nala']) await api.application.addAnimal.execute({ name, categoryId: 1n });
    const { key } = await api.openKey('business');
    const before = await Promise.all(plain.map((path) => get(path, key)));
    for (const path of plain) {
      for (const trick of ['limit=1', 'limit=0', 'status=sold', 'cursor=x', 'id=1']) {
        await get(`${path}#${trick}`);
        await get(`${path}#?${trick}`);
      }
    }
    const after = await Promise.all(plain.map((path) => get(path, key)));
    expect(after.map(({ status, body }) => [status, body])).toEqual(before.map(({ status, body }) => [status, body]));
    expect(JSON.parse(after[0]?.body ?? '')).toHaveLength(3);
  });
});

it('an encoded number sign is data', async () => {
  expectError(await get('/v1/pets%23limit=1'), 404, 'not_found');
  expectError(await get('/v1/pets/%23'), 404, 'not_found');
  expect(expectError(await get('/v1/pets?status=%23'), 400, 'invalid_parameter')).toMatch(/status/);
});
