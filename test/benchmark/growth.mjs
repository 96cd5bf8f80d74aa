import { load } from './load.mjs';
import { about, table, whole } from './results-page.mjs';
import { startApi } from './services.mjs';
import { openAccounts, openStore } from './store.mjs';
import { median, middle } from './turns.mjs';
import { withKeys } from './workloads.mjs';

const { fetch } = globalThis;

const SIZES = [1e4, 1e5, 1e6, 1e7];
/** Pages and animals at random places of the table. */
const PLACES = 100;
/** Longer than PostgreSQL holds its statistics back. */
const WARM_UP = 2;

/** The addresses of each kind of read, from places in the deeper half. */
const KINDS = {
  'first page': () => '?limit=100',
  'deep page': ({ cursor }) => `?limit=100&cursor=${cursor}`,
  'first page by status': () => '?limit=100&status=sold',
  'deep page by status': ({ cursorByStatus }) => `?limit=100&status=sold&cursor=${cursorByStatus}`,
  'by id': ({ id }) => `/${id}`,
};

/** Measures reads with one connection while the number of animals grows. */
export async function measureGrowth(options) {
  const store = await openStore();
  const [key] = await openAccounts(store, 1);
  const service = await startApi(store.settings);
  const cells = Object.fromEntries(Object.keys(KINDS).map((name) => [name, []]));
  for (const animals of SIZES) {
    await store.fill(animals);
    const places = [];
    while (places.length < PLACES) places.push(await positionIn(service, key, animals));
    for (const [name, addressOf] of Object.entries(KINDS)) {
      const requests = withKeys(
        places.map((place) => ({ method: 'GET', path: `/v1/pets${addressOf(place)}` })),
        [key],
      );
      const { p50, pages } = await measure(store.client, service, requests, options);
      cells[name].push(`${p50.toFixed(2)} ms, ${pages.toFixed(1)}`);
      console.log(`${whole(animals)} animals, ${name}: ${cells[name].at(-1)}`);
    }
  }
  await service.stop();
  await store.close();
  const head = ['Read', ...SIZES.map((animals) => `${whole(animals)} animals`)];
  const rows = Object.entries(cells).map(([name, each]) => [name, ...each]);
  const how = 'Pages of 100, with one connection: the p50, and PostgreSQL’s own pages (8 kB) that a query touches.';
  return `${about(options, store.version)} ${how}\n\n${table(head, rows)}`;
}

async function measure(client, service, requests, { seconds, windows }) {
  const [connections, results, touched] = [1, [], []];
  await load(service, requests, { connections, seconds: WARM_UP });
  for (let window = 0; window < windows; window++) {
    const before = await statisticsOf(client);
    results.push(await load(service, requests, { connections, seconds: Math.max(seconds, WARM_UP) }));
    const after = await statisticsOf(client);
    touched.push((after.pages - before.pages) / (after.scans - before.scans));
  }
  return { p50: middle(results, 'p50'), pages: median(touched) };
}

/** PostgreSQL's counters of the table. Processes report both at the same time, so their ratio is exact. */
async function statisticsOf(client) {
  const { rows } = await client.query(`
    SELECT (heap_blks_read + heap_blks_hit + idx_blks_read + idx_blks_hit)::float8 AS pages,
      (seq_scan + idx_scan)::float8 AS scans
    FROM pg_statio_user_tables JOIN pg_stat_user_tables USING (relid) WHERE relid = 'animals'::regclass`);
  return rows[0];
}

/** An animal in the deeper half, and the cursors of the pages after it. */
async function positionIn(service, key, animals) {
  const id = Math.floor((animals * (1 + Math.random())) / 2) - 300;
  const sold = id + ((2 - (id % 3) + 3) % 3);
  return {
    id,
    cursor: await cursorAfter(service, key, [id, id + 1]),
    cursorByStatus: await cursorAfter(service, key, [sold, sold + 3], '&status=sold'),
  };
}

/** The cursor of the page that follows the first of these animals. */
async function cursorAfter({ origin }, key, ids, filter = '') {
  const address = `${origin}/v1/pets?limit=1${filter}&${ids.map((id) => `id=${id}`).join('&')}`;
  const { headers } = await fetch(address, { headers: { authorization: `Bearer ${key}` } });
  return /cursor=([^&>]+)/.exec(headers.get('link'))[1];
}
