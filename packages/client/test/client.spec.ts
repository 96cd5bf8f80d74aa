import { inspect } from 'node:util';
import { AdoptionStore, ApiError, type ClientOptions, type Clock, type Pet } from '../src/index.js';
import { instant, MINUTE, plan } from '@adoption-store/domain';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { useApi } from '@adoption-store/api/testing/api';

const api = useApi();

// Each test has its own minute, so that no test uses up another's quota.
beforeEach(() => {
  api.clock.advance(MINUTE);
});

const MAX_INT64 = 2n ** 63n - 1n;

const storeOf = (options: Partial<ClientOptions> = {}) =>
  new AdoptionStore({ baseUrl: `${api.origin}/v1`, apiKey: api.key, ...options });

/** A `fetch` that loses the responses to the first requests and returns these results instead. */
function losing(...instead: readonly (() => Response)[]): NonNullable<ClientOptions['fetch']> {
  const left = [...instead];
  return async (url, init) => {
    const response = await fetch(url, init);
    return left.shift()?.() ?? response;
  };
}

/** A clock whose waits are over at once, except the time limits of tries, which end with the tries. */
function passing(onWait: (milliseconds: number) => void): Clock {
  let time = 0;
  return {
    now: () => time,
    wait: async (milliseconds, signal) => {
      if (milliseconds === TRY_TIMEOUT || milliseconds === MAX_WAIT)
        return new Promise((_, reject) => {
          signal?.addEventListener('abort', () => {
            reject(new Error('the try has ended'));
          });
        });
      time += milliseconds;
      onWait(milliseconds);
    },
  };
}

/** Defaults of the client, in milliseconds. */
const TRY_TIMEOUT = 30_000;
const MAX_WAIT = 65_000;

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}

const named = async (name: string): Promise<Pet[]> =>
  (await all(storeOf().pets({ limit: 100 }))).filter((pet) => pet.name === name);

describe('pets', () => {
  it('iterates over 250 animals, each once and in order', async () => {
    const ids: bigint[] = [];
    for (let count = 0; count < 250; count += 1) {
      const { id } = await api.application.addAnimal.execute({ name: 'Walker', categoryId: 1n, status: 'pending' });
      ids.push(id);
    }
    const walked = await all(storeOf().pets({ status: 'pending', limit: 100 }));
    expect(walked.filter(({ name }) => name === 'Walker').map(({ id }) => id)).toEqual(ids);
  });

  it('returns one page, and later the next', async () => {
    const store = storeOf();
    for (const name of ['One', 'Two', 'Three']) await store.createPet({ name, categoryId: 7n, status: 'sold' });
    const first = await store.pets({ status: 'sold', limit: 2 }).page();
    expect(first.items.map(({ name }) => name)).toEqual(['One', 'Two']);
    const second = await storeOf()
      .pets()
      .from(first.next ?? '')
      .page();
    expect(second).toEqual({ items: [expect.objectContaining({ name: 'Three' })], next: undefined });
  });

  it.each([MAX_INT64, -(2n ** 63n), 2n ** 53n + 1n, 0n])('keeps %s exactly, there and back', async (categoryId) => {
    const store = storeOf();
    const created = await store.createPet({ name: 'Luna', categoryId });
    expect(created).toEqual({ id: expect.any(BigInt), name: 'Luna', categoryId, status: 'available' });
    expect(await all(store.pets({ id: [created.id, MAX_INT64] }))).toEqual([created]);
  });
});

describe('an animal', () => {
  it('is changed field by field, and withdrawn', async () => {
    const store = storeOf();
    const added = await store.createPet({ name: 'Luna', categoryId: 1n });
    const changed = { ...added, categoryId: MAX_INT64, status: 'pending' };
    expect(await store.changePet(added.id, { categoryId: MAX_INT64, status: 'pending' })).toEqual(changed);
    expect(await all(store.pets({ id: [added.id] }))).toEqual([changed]);
    await store.withdrawPet(added.id);
    expect(await all(store.pets({ id: [added.id] }))).toEqual([]);
    await expect(store.changePet(added.id, { name: 'Milo' })).rejects.toMatchObject({ code: 'not_found' });
    await expect(store.withdrawPet(added.id)).rejects.toMatchObject({ code: 'not_found', status: 404 });
  });

  it('counts as withdrawn if the response to its withdrawal was lost', async () => {
    const { id } = await storeOf().createPet({ name: 'Luna', categoryId: 1n });
    const cut = (): Response => {
      throw new TypeError('the connection was reset');
    };
    const store = storeOf({ fetch: losing(cut), clock: passing(() => undefined) });
    await store.withdrawPet(id);
    await expect(store.withdrawPet(id)).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('categories', () => {
  it('are added, named, listed and removed, and animals are found by them', async () => {
    const store = storeOf();
    const id = MAX_INT64 - 1n;
    const cats = await store.createCategory({ name: 'Cats' });
    expect(cats).toEqual({ id: expect.any(BigInt), name: 'Cats' });
    const otters = await store.nameCategory(id, { name: 'Otters' });
    expect(otters).toEqual({ id, name: 'Otters' });
    expect(await store.getCategory(id)).toEqual(otters);
    expect(await all(store.categories({ limit: 1 }))).toEqual([cats, otters]);
    const pet = await store.createPet({ name: 'Luna', categoryId: cats.id });
    expect(await all(store.pets({ categoryId: [cats.id] }))).toEqual([pet]);
    await expect(store.createCategory({ name: 'CATS' })).rejects.toMatchObject({ code: 'category_name_taken' });
    await expect(store.removeCategory(cats.id)).rejects.toMatchObject({ code: 'category_in_use', status: 409 });
    await store.removeCategory(id);
    expect(await all(store.categories())).toEqual([cats]);
  });
});

describe('orders', () => {
  it('are placed, got, completed and cancelled', async () => {
    const store = storeOf();
    const { id: petId } = await store.createPet({ name: 'Luna', categoryId: 1n });
    const placed = await store.placeOrder({ petId });
    expect(placed).toMatchObject({ id: expect.any(BigInt), petId, status: 'placed' });
    expect(await store.getOrder(placed.id)).toEqual(placed);
    expect(await store.cancelOrder(placed.id)).toMatchObject({ id: placed.id, status: 'cancelled' });
    const again = await store.placeOrder({ petId });
    expect(await store.completeOrder(again.id)).toMatchObject({ id: again.id, status: 'completed' });
    expect(await all(store.pets({ id: [petId] }))).toMatchObject([{ status: 'sold' }]);
  });

  it('are iterated over all pages', async () => {
    const store = storeOf({ apiKey: (await api.openKey()).key });
    const placed = [];
    for (let count = 0; count < 5; count += 1) {
      const { id: petId } = await store.createPet({ name: 'Luna', categoryId: 1n });
      placed.push(await store.placeOrder({ petId }));
    }
    expect(await all(store.orders({ status: 'placed', limit: 2 }))).toEqual(placed);
  });
});

describe('messages', () => {
  it('are queued and got', async () => {
    const store = storeOf();
    const queued = await store.queueMessage({ message: 'Łuna? 🐈\n' });
    expect(queued).toMatchObject({ message: 'Łuna? 🐈\n', status: 'queued' });
    expect(await store.getMessage(queued.id)).toEqual(queued);
  });
});

describe('limits', () => {
  it('are returned as numbers', async () => {
    const store = storeOf({ apiKey: (await api.openKey('free')).key });
    expect(await store.getRateLimit()).toMatchObject({ plan: 'free', minute: { limit: 60, remaining: 60 }, ban: null });
  });

  it('are waited for as long as Retry-After says', async () => {
    api.clock.set(instant((Math.ceil(api.clock.now() / MINUTE) + 1) * MINUTE + 18_000));
    const { key } = await api.openKey(plan('enterprise', { perMinute: 2, perDay: 100 }));
    const waits: number[] = [];
    const store = storeOf({
      apiKey: key,
      clock: passing((milliseconds) => {
        waits.push(milliseconds);
        api.clock.advance(milliseconds);
      }),
    });
    const messages = [];
    for (const message of ['1', '2', '3']) messages.push(await store.queueMessage({ message }));
    expect(messages.map(({ message }) => message)).toEqual(['1', '2', '3']);
    expect(waits).toEqual([expect.any(Number)]);
    expect(waits[0]).toBeGreaterThanOrEqual(42_000);
    expect(waits[0]).toBeLessThanOrEqual(43_000);
  });

  it('are not waited for if that takes too long', async () => {
    const { key } = await api.openKey(plan('enterprise', { perMinute: 5, perDay: 1 }));
    const store = storeOf({
      apiKey: key,
      clock: passing(() => {
        throw new Error('waited');
      }),
    });
    await store.pets().page();
    const error: unknown = await store
      .pets()
      .page()
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ code: 'wait_too_long', kind: 'rate_limit', retryAfter: expect.any(Number) });
  });

  it('end at once when the wait is aborted', async () => {
    const { key } = await api.openKey(plan('enterprise', { perMinute: 1, perDay: 100 }));
    const controller = new AbortController();
    const fetched: ClientOptions['fetch'] = async (url, init) => {
      const response = await fetch(url, init);
      // Abort while the client waits for the next minute.
      setTimeout(() => {
        controller.abort(new Error('enough'));
      }, 20);
      return response;
    };
    const store = storeOf({ apiKey: key, fetch: fetched });
    await expect(all(store.pets({ status: 'pending', limit: 1 }, { signal: controller.signal }))).rejects.toMatchObject(
      { code: 'aborted', cause: new Error('enough') },
    );
  });
});

describe('a POST whose answer was lost', () => {
  it.each([
    ['a proxy said 503', () => new Response('<h1>Service Unavailable</h1>', { status: 503 })],
    [
      'the connection broke',
      () => {
        throw new TypeError('fetch failed');
      },
    ],
  ])('is sent again and runs once: %s', async (name, instead) => {
    const waits: number[] = [];
    const store = storeOf({
      fetch: losing(instead, instead),
      clock: passing((milliseconds) => {
        waits.push(milliseconds);
      }),
    });
    const created = await store.createPet({ name, categoryId: 1n });
    expect(waits).toHaveLength(2);
    expect(await named(name)).toEqual([created]);
  });
});

describe('a refusal', () => {
  it('is an ApiError with the API’s code and message, and the request id of its log', async () => {
    const store = storeOf();
    const error: unknown = await store.placeOrder({ petId: MAX_INT64 }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ code: 'not_found', status: 404, requestId: expect.stringMatching(/\S/) });
  });

  it('of a wrong key does not contain the key', async () => {
    const store = storeOf({ apiKey: `${api.key.slice(0, -1)}!` });
    const error = await store.getRateLimit().catch((reason: unknown) => reason as ApiError);
    expect(error).toMatchObject({ code: 'invalid_api_key', status: 401 });
    expect(inspect(error, { showHidden: true, depth: null })).not.toContain(api.key.slice(0, -1));
  });
});

it('follows links to the API only', async () => {
  const asked: string[] = [];
  const store = storeOf({
    fetch: async (url, init) => {
      asked.push(url.href);
      const { body, status } = await fetch(url, init);
      return new Response(body, { status, headers: { Link: '<http://evil.example/v1/pets?cursor=a>; rel="next"' } });
    },
  });
  await expect(all(store.pets())).rejects.toMatchObject({ code: 'unexpected_response' });
  expect(asked).toEqual([`${api.origin}/v1/pets?limit=100`]);
});
