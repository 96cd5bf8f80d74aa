import { openDataSource, PostgresAnimalRepository } from '@adoption-store/infrastructure/testing';
import { load } from './load.mjs';
import { createKey, startApi } from './services.mjs';
import { openStore } from './store.mjs';
import { median, round, SECONDS } from './turns.mjs';
import { withKeys } from './workloads.mjs';

const { fetch } = globalThis;

const RUNS = 21;
const EXPLAINED = [
  'session_preload_libraries=auto_explain',
  'auto_explain.log_min_duration=0',
  'auto_explain.log_analyze=on',
  'auto_explain.log_timing=off',
  'auto_explain.log_buffers=on',
  'auto_explain.log_format=json',
  'auto_explain.log_level=notice',
];

/** Pages of 100, and one animal. Deep pages begin in the middle of the table. */
const KINDS = {
  'first page': { query: () => ({}), path: () => '' },
  'deep page': { query: (after) => ({ after }), path: (_middle, cursor) => `&cursor=${cursor}` },
  'by status': { query: () => ({ status: 'sold' }), path: () => '&status=sold' },
  'deep page by status': {
    query: (after) => ({ after, status: 'sold' }),
    path: (_middle, cursor) => `&status=sold&cursor=${cursor}`,
  },
  'by id': { query: (id) => ({ ids: [id] }), path: (middle) => `&id=${middle}` },
};

/** Measures reads while the number of animals grows: PostgreSQL's own figures, and the time over HTTP. */
export async function measureGrowth({ huge }) {
  const store = await openStore();
  const keys = [createKey(store.env)];
  const service = await startApi(store.settings);
  const results = {};
  for (const animals of [10_000, 1_000_000, ...(huge ? [10_000_000] : [])]) {
    await store.fill(animals);
    const middle = BigInt(animals / 2);
    const cursor = await cursorOf(service, keys[0], middle);
    results[animals] = {};
    for (const [name, { query, path }] of Object.entries(KINDS)) {
      const server = await explained(store.url, { ...query(middle), limit: 100 });
      const requests = withKeys([{ method: 'GET', path: `/v1/pets?limit=100${path(middle, cursor)}` }], keys);
      await load(service, requests, { connections: 1, seconds: 1 });
      const { p50, p99 } = await load(service, requests, { connections: 1, seconds: SECONDS });
      results[animals][name] = { ...server, 'p50 ms': round(p50, 3), 'p99 ms': round(p99, 3) };
    }
    console.log(`${animals} animals`);
    console.table(results[animals]);
  }
  await service.stop();
  await store.close();
  return results;
}

/** The service's prepared statement for this query: milliseconds, and PostgreSQL pages that it reads. */
async function explained(url, query) {
  const options = encodeURIComponent(EXPLAINED.map((setting) => `-c ${setting}`).join(' '));
  const source = await openDataSource({ connectionString: `${url}&options=${options}`, max: 1 });
  const runs = [];
  const told = ({ message }) => {
    const [, duration, plan] = /^duration: (\S+) ms {2}plan:\n(.*)$/s.exec(message) ?? [];
    if (plan?.includes('FROM animals')) runs.push({ milliseconds: Number(duration), plan: JSON.parse(plan).Plan });
  };
  source.driver.master.on('acquire', (client) => client.removeAllListeners('notice').on('notice', told));
  const animals = new PostgresAnimalRepository(source);
  for (let run = 0; run < RUNS; run++) await animals.list(query);
  await source.destroy();
  const { plan } = runs.at(-1);
  return {
    'PostgreSQL ms': round(median(runs.map(({ milliseconds }) => milliseconds)), 3),
    buffers: plan['Shared Hit Blocks'] + plan['Shared Read Blocks'],
  };
}

/** The cursor of a page that ends with this animal. */
async function cursorOf({ origin }, key, id) {
  const address = `${origin}/v1/pets?limit=1&id=${id}&id=${id + 1n}`;
  const { headers } = await fetch(address, { headers: { authorization: `Bearer ${key}` } });
  return /cursor=([^&>]+)/.exec(headers.get('link'))[1];
}
