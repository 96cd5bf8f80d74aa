import { describe, expect, it } from '@jest/globals';
import { cats, clientOf, created, DISCONNECTED, errorOf, refusal } from '../test/support/scripted-client.js';
import type { AdoptionStore } from './index.js';

const CATS = { id: 1n, name: 'Cats' };
const DATE = 'Wed, 25 Nov 2026 12:00:00 GMT';
const RANDOM = /^[\da-f]{32}$/;
const KEY_IN_USE = refusal(409, {}, 'idempotency_key_in_use');

const create = (store: AdoptionStore) => store.pets.create({ name: 'Luna', categoryId: 2n });
const changeIfMatch = (store: AdoptionStore) => store.pets.change(1n, { name: 'Milo' }, { ifMatch: '"1"' });

describe('a GET', () => {
  it.each([400, 401, 403, 404, 409, 410, 412, 501, 599])('is not sent again after %i', async (status) => {
    const { store, sent } = clientOf([refusal(status), cats()]);
    expect(await errorOf(store.categories.get(1n))).toMatchObject({ status });
    expect(sent).toHaveLength(1);
  });

  it.each([408, 429, 500, 502, 503, 504])('is sent again after %i, also of a proxy', async (status) => {
    const { store } = clientOf([refusal(status), new Response('<h1>', { status }), cats()]);
    expect(await store.categories.get(1n)).toEqual(CATS);
  });

  it('is sent again after its connection was lost, and may succeed at the fifth try', async () => {
    const { store } = clientOf([...Array<Error>(4).fill(DISCONNECTED), cats()]);
    expect(await store.categories.get(1n)).toEqual(CATS);
  });
});

describe('a POST', () => {
  it('is sent again with its own Idempotency-Key, which its error has', async () => {
    const { store, sent } = clientOf([DISCONNECTED, refusal(503), KEY_IN_USE]);
    const error = await errorOf(create(store));
    expect(error).toMatchObject({ code: 'idempotency_key_in_use', kind: 'conflict' });
    expect(error.idempotencyKey).toMatch(RANDOM);
    const keys = sent.map(({ headers }) => headers.get('Idempotency-Key'));
    expect(keys).toEqual(Array.from({ length: 5 }, () => error.idempotencyKey));
  });

  it('is not sent again after 500, a defect that may stay', async () => {
    const { store, sent } = clientOf([refusal(500), created()]);
    expect(await errorOf(create(store))).toMatchObject({ kind: 'server', status: 500 });
    expect(sent).toHaveLength(1);
  });
});

describe('what must happen once, without a key for it,', () => {
  const calls: readonly (readonly [string, (store: AdoptionStore) => Promise<unknown>])[] = [
    ['a change with If-Match', changeIfMatch],
    ['another secret of a webhook', (store) => store.webhooks.rotateSecret('whk_1')],
  ];

  it.each(calls)('is not sent again if it may have happened: %s', async (_what, call) => {
    const { store, sent } = clientOf([DISCONNECTED]);
    expect(await errorOf(call(store))).toMatchObject({ kind: 'network', idempotencyKey: undefined });
    expect(sent).toHaveLength(1);
  });

  it.each(calls)('is sent again after 429: %s', async (_what, call) => {
    const { store, sent } = clientOf([refusal(429), DISCONNECTED]);
    expect(await errorOf(call(store))).toMatchObject({ kind: 'network' });
    expect(sent).toHaveLength(2);
  });
});

it('a DELETE whose answer was lost is done if there is nothing any more', async () => {
  const { store } = clientOf([DISCONNECTED, refusal(404, {}, 'not_found')]);
  await expect(store.pets.remove(1n)).resolves.toBeUndefined();
});

describe('the wait for the next try', () => {
  const waitsOf = (sent: readonly { readonly at: number }[]) =>
    sent.slice(1).map(({ at }, index) => at - (sent[index]?.at ?? 0));

  it('is random within bounds that double', async () => {
    const { store, sent } = clientOf([DISCONNECTED], { maxTries: 8 });
    await errorOf(store.categories.get(1n));
    for (const [index, wait] of waitsOf(sent).entries()) {
      const bound = Math.min(8_000, 500 * 2 ** index);
      expect(wait).toBeGreaterThanOrEqual(bound / 2);
      expect(wait).toBeLessThanOrEqual(bound);
    }
  });

  it.each([
    ['5', 5_000],
    ['30', 30_000],
    ['Wed, 25 Nov 2026 12:00:20 GMT', 20_000],
    ['Wednesday, 25-Nov-26 12:00:20 GMT', 20_000],
    ['Wed Nov 25 12:00:20 2026', 20_000],
  ])('is not shorter than Retry-After: %s', async (value, least) => {
    const { store, sent } = clientOf([refusal(503, { Date: DATE, 'Retry-After': value }), cats()]);
    await store.categories.get(1n);
    expect(waitsOf(sent)[0]).toBeGreaterThanOrEqual(least);
    expect(waitsOf(sent)[0]).toBeLessThanOrEqual(least + 2_000);
  });

  it.each([
    ...['0', '-5', '1.5', '1e3', '+5', 'soon', '', '5, 10', '2026-11-25T12:00:20Z'],
    ...[
      'Tue, 31 Nov 2026 12:00:20 GMT',
      'Tuesday, 31-Nov-26 12:00:20 GMT',
      'Tue Nov 31 12:00:20 2026',
      'Wed, 25 Nov 2015 12:00:00 GMT',
    ],
  ])('takes no notice of a Retry-After that is none, or over: %s', async (value) => {
    const { store, sent } = clientOf([refusal(503, { Date: DATE, 'Retry-After': value }), cats()]);
    await store.categories.get(1n);
    expect(waitsOf(sent)[0]).toBeLessThanOrEqual(1_500);
  });

  it.each([
    ['66', 66],
    ['2147484', 2_147_484],
    ['Thu, 25 Nov 2027 12:00:00 GMT', 31_536_000],
  ])('is not begun if it is too long, and the error says so: %s', async (value, retryAfter) => {
    const { store, sent } = clientOf([refusal(429, { Date: DATE, 'Retry-After': value })]);
    expect(await errorOf(store.categories.get(1n))).toMatchObject({ kind: 'rate_limit', status: 429, retryAfter });
    expect(sent).toHaveLength(1);
  });

  it('is counted with those before, up to maxWait', async () => {
    const { store, sent } = clientOf([refusal(429, { 'Retry-After': '20' })], { maxWait: 60_000 });
    expect(await errorOf(store.categories.get(1n))).toMatchObject({ kind: 'rate_limit', retryAfter: 20 });
    expect(sent).toHaveLength(3);
  });

  it('never makes a request that was tried one that was not sent, whatever other calls are told meanwhile', async () => {
    const { store } = clientOf([], {
      fetch: async (_, { method }) => {
        if (method === 'GET') return refusal(429, { 'Retry-After': '600' });
        await errorOf(store.pets.list().page());
        throw DISCONNECTED;
      },
    });
    expect(await errorOf(create(store))).toMatchObject({ code: 'network_error', cause: DISCONNECTED });
  });
});
