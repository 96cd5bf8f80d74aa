import { isDeepStrictEqual } from 'node:util';
import { crc32 } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ask, createDatabase, expectDatabaseErrors, type TestDatabase, until } from '@adoption-store/test-support';
import { type Answered, type Asked, Flood, sendHalf } from '../support/flood.js';
import { type Api, issueKey, startApi } from '../support/services.js';

/** Requests that one account sends at once: nearly a minute of the plan business. */
const MANY = 980;
/** Answers that others may get between a neighbour's request and its answer. */
const FEW = 100;
/** The same where an answer costs so little that Node reads as many requests before it reads the neighbour's socket. */
const CHEAP = 300;
/** The same where statements are shared: two of 256 animals may have begun before. */
const SHARED = 2 * 256 + FEW;
const PETS = 2_000;
const CATEGORIES = 300;
/** Milliseconds. On a busy machine: so many times a neighbour's slowest write when it is undisturbed. */
const SLOWEST = 250;
const TIMES_UNDISTURBED = 10;

/** Floods after which a failure is the service's fault, not that of a busy machine. */
const FLOODS = 3;

// The flood's statements that are not done in time.
expectDatabaseErrors('55P03', '57014');

let database: TestDatabase;
let api: Api;
let flood: Flood;
/** Of one account, and of another one. */
let flooding: readonly string[];
let alsoFlooding: string;
let neighbour: string;
/** Keys that nobody has used lately. The first one has waited longest. */
let unused: string[];

async function open(connections: number): Promise<void> {
  database = await createDatabase();
  const environment = { DATABASE_URL: database.url, DATABASE_POOL_SIZE: String(connections) };
  api = await startApi(environment);
  flood = new Flood(api.origin);
  const keys = (email: string, count: number) =>
    Promise.all(Array.from({ length: count }, () => issueKey(environment, email)));
  flooding = await keys('flooding@example.com', 2);
  [alsoFlooding = ''] = await keys('other@example.com', 1);
  [neighbour = '', ...unused] = await keys('neighbour@example.com', 5);
  await ask(
    database.url,
    `INSERT INTO animals (name, name_key, category_id, status)
      SELECT 'Luna', 'luna', n % ${CATEGORIES}, 'available' FROM generate_series(1, ${PETS}) AS n`,
  );
}

async function close(): Promise<void> {
  flood.close();
  await api.service.stop();
  await database.drop();
}

/** Sends them all at once, with the keys of one account in turn, and meanwhile the others. */
async function floodWith(requests: readonly Omit<Asked, 'key'>[], others: readonly Asked[]) {
  await flood.open(requests.length + others.length);
  return flood.send(
    requests.map((each, index) => ({ ...each, key: flooding[index % flooding.length] ?? '' })),
    others,
  );
}

/** All were done, or refused as the account's own excess. Some were done. */
function expectOnlyItsOwn(burst: readonly Answered[]): void {
  const refused = burst.filter(({ status }) => status !== 200 && status !== 201);
  expect(refused.length).toBeLessThan(burst.length);
  for (const { status, text, retryAfter } of refused) {
    expect({ status, text, retryAfter }).toMatchObject({ status: 429, retryAfter: '1' });
    expect(text).toContain('"code":"too_many_at_once"');
  }
}

/** Expects that of the first of a few floods. */
async function expectOfAFlood(found: () => Promise<object>, expected: object): Promise<void> {
  for (let floods = 1; floods < FLOODS; floods += 1) if (isDeepStrictEqual(await found(), expected)) return;
  expect(await found()).toEqual(expected);
}

const many = (of: (index: number) => string) => Array.from({ length: MANY }, (_, index) => ({ path: of(index + 1) }));

/** 400 different ones. */
function firstPage(index: number): string {
  const status = ['', '&status=available', '&status=pending', '&status=sold'][Math.floor(index / 100) % 4] ?? '';
  return `/v1/pets?limit=${(index % 100) + 1}${status}`;
}

function laterPage(id: number): string {
  const place = `pets:${id}`;
  const cursor = Buffer.from(`${place}:${crc32(place).toString(36)}`).toString('base64url');
  return `/v1/pets?limit=100&cursor=${cursor}`;
}

function ofCategories(index: number): string {
  const ids = Array.from({ length: 100 }, (_, place) => `categoryId=${(index + 3 * place) % CATEGORIES}`);
  return `/v1/pets?limit=${(index % 100) + 1}&${ids.join('&')}`;
}

let changes = 0;

function change(id: number, key: string): Asked {
  changes += 1;
  return { method: 'PATCH', path: `/v1/pets/${id}`, body: `{"name":"Luna ${changes}"}`, key };
}

/** Its earlier use is too long ago for it to be cached. */
function nextUnused(): string {
  const [next = '', ...others] = unused;
  unused = [...others, next];
  return next;
}

/** A neighbour's reads, its change, and its first request with a new key. */
function neighbours(): readonly Asked[] {
  return [
    { path: '/v1/pets?id=7', key: neighbour },
    { path: '/v1/pets?limit=7', key: neighbour },
    change(7, neighbour),
    { path: '/v1/pets/9', key: nextUnused() },
  ];
}

// One in which one write runs at a time, and the default.
describe.each([4, 10])('beside 980 different reads of one account at once, with a pool of %i connections,', (size) => {
  beforeAll(() => open(size));
  afterAll(close);

  it.each([
    // Their answers are as cheap as the reading of a request.
    { what: 'single animals', path: (id: number) => `/v1/pets/${id}`, most: MANY },
    { what: 'lists of one animal', path: (id: number) => `/v1/pets?id=${id}`, most: SHARED },
    { what: 'lists of a hundred categories', path: ofCategories, most: FEW },
    { what: 'first pages', path: firstPage, most: CHEAP },
    { what: 'later pages', path: laterPage, most: FEW },
    { what: 'orders', path: (id: number) => `/v1/store/orders/${id}`, most: FEW },
    { what: 'events', path: (id: number) => `/v1/events?limit=${(id % 100) + 1}`, most: CHEAP },
  ])('such as $what, a neighbour reads after few of them, writes, and uses a new key', async ({ path, most }) => {
    const found = async () => {
      const { burst, others } = await floodWith(many(path), neighbours());
      return {
        statuses: others.map(({ status }) => status),
        faults: burst.filter(({ status }) => status >= 500).length,
        isAfterFew: Math.max(...others.slice(0, 2).map((read) => read.others)) <= most,
      };
    };
    await expectOfAFlood(found, { statuses: [200, 200, 200, 200], faults: 0, isAfterFew: true });
  });
});

describe('one account that floods the store', () => {
  beforeAll(() => open(10));
  afterAll(close);

  /** The slowest of a few changes of a neighbour, in milliseconds, once nothing else happens. */
  async function slowestUndisturbed(): Promise<number> {
    let slowest = 0;
    for (let count = 0; count < 20; count += 1) {
      slowest = Math.max(slowest, (await flood.ask(change(8, neighbour))).milliseconds);
    }
    return slowest;
  }

  it('with 900 additions is answered 201 or 429 too_many_at_once, and a neighbour adds an animal meanwhile', async () => {
    const body = '{"name":"Luna","categoryId":1}';
    const addition = { method: 'POST', path: '/v1/pets', body };
    const found = async () => {
      const { burst, others } = await floodWith(
        Array.from({ length: 900 }, () => addition),
        [{ ...addition, key: neighbour }],
      );
      expectOnlyItsOwn(burst);
      return others.map(({ status, others: before }) => ({ status, isAfterFew: before <= CHEAP }));
    };
    await expectOfAFlood(found, [{ status: 201, isAfterFew: true }]);
  });

  it.each([
    { what: 'changes of one animal', of: () => change(1, '') },
    {
      what: 'new names of one category',
      of: (index: number) => ({ method: 'PUT', path: '/v1/categories/1', body: `{"name":"Cats ${index}"}` }),
    },
  ])('with 900 $what waits for itself, and no neighbour for it', async ({ of }) => {
    const undisturbed = await slowestUndisturbed();
    const { burst, others } = await floodWith(
      Array.from({ length: 900 }, (_, index) => of(index)),
      neighbours(),
    );
    expect(others.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const slowest = Math.max(...others.map(({ milliseconds }) => milliseconds));
    expect(slowest).toBeLessThan(Math.max(SLOWEST, TIMES_UNDISTURBED * undisturbed));
    expectOnlyItsOwn(burst);
    // It is no refusal for limits, so it bans no key.
    expect(await flood.ask({ path: '/v1/pets?id=1', key: flooding[0] ?? '' })).toMatchObject({ status: 200 });
  });

  it('with bodies that it leaves half sent, for every operation, keeps no neighbour from writing', async () => {
    const { text } = await flood.ask({ path: '/openapi.json', key: '' });
    const { paths } = JSON.parse(text) as { paths: Record<string, Record<string, { requestBody?: object }>> };
    const operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([, { requestBody }]) => requestBody !== undefined)
        .map(([method]) => ({ method: method.toUpperCase(), path: `/v1${path.replace(/\{\w+\}/g, '1')}` })),
    );
    expect(operations.length).toBeGreaterThan(5);
    const undisturbed = await slowestUndisturbed();
    for (const operation of operations) {
      const half = [...flooding, alsoFlooding].flatMap((key) =>
        Array.from({ length: 7 }, () => sendHalf(api.origin, { ...operation, key })),
      );
      await until(() => half.every(({ bytesWritten, pending }) => !pending && bytesWritten > 0));
      // The first ones may come before the service has read the others' heads.
      for (let count = 0; count < 5; count += 1) {
        const { status, milliseconds } = await flood.ask(change(8, neighbour));
        expect({ operation, status }).toEqual({ operation, status: 200 });
        expect(milliseconds).toBeLessThan(Math.max(SLOWEST, TIMES_UNDISTURBED * undisturbed));
      }
      for (const socket of half) socket.destroy();
    }
  });
});
