import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { createApplication, DAY, PURGED_KINDS } from '@adoption-store/domain';
import { openInfrastructure } from '@adoption-store/infrastructure';
import { closedLoop } from './client.mjs';
import { EMAIL, openFilledStore, PASSWORD } from './filled-store.mjs';
import { memory } from './load.mjs';
import { openRedis } from './redis.mjs';
import { startApi, startPortal, startWorker } from './services.mjs';
import { median, round } from './turns.mjs';
import { signIn } from './visitor.mjs';
import { YEAR } from './year-rows.mjs';

const root = join(import.meta.dirname, '../..');

const SECONDS = 2;
const WINDOWS = 5;
const CONNECTIONS = 32;
/** The worker's period of each purge, in milliseconds. */
const PURGE_PERIOD = 3_600_000;

/** Measures the service on the database of a large store after a year, and compares it with a new one. */
export async function measureYear({ scale }) {
  const rows = { accounts: YEAR.accounts * scale, animals: YEAR.animals * scale };
  const store = await openFilledStore({ rows });
  const redis = await openRedis();
  const starts = await measureStarts(store, redis);
  console.table(starts);
  const operations = await measureEach(store);
  console.table(operations);
  const jobs = await measureJobs(store);
  console.table(jobs);
  redis?.close();
  await store.close();
  return { rows, starts, operations, jobs };
}

const settingsOf = (store, database) => ({
  ...store.settings,
  DATABASE_URL: database.url,
  PORTAL_PORT: '0',
  PORTAL_METRICS_PORT: '0',
  WORKER_PORT: '0',
  ORDER_LIMIT: '100000',
});

/** The time from the start of each process until it is ready, and its memory then. */
async function measureStarts(store, redis) {
  const settings = settingsOf(store, store.year);
  const shared = redis && { ...settings, REDIS_URL: redis.url };
  const starts = {};
  for (const [name, start, env] of [
    ['API', startApi, settings],
    ['API with Redis', startApi, shared],
    ['portal', startPortal, settings],
    ['worker', startWorker, settings],
  ]) {
    if (env === undefined) continue;
    const service = await start(env);
    const took = performance.now() - service.startedAt;
    starts[name] = { ms: round(took, 0), 'peak MB': round(memory(service.pid).peak, 0) };
    await service.stop();
  }
  for (const command of [
    'keys list',
    'keys create --email account-2@example.com',
    'accounts list',
    'messages list --failed',
  ]) {
    const [program, ...args] = command.split(' ');
    starts[command.replace(/ \S+@.*/, '')] = await runCommand(program, args, settings);
  }
  return starts;
}

/** The time until a command's first line, and the most memory that it used until its end. */
async function runCommand(program, args, env) {
  const startedAt = performance.now();
  const preloaded = `--import=${join(import.meta.dirname, 'peak.mjs')}`;
  const child = spawn(process.execPath, [preloaded, join(root, `apps/cli/dist/${program}.js`), ...args], { env });
  let [took, errors] = [NaN, ''];
  child.stdout.once('data', () => (took = performance.now() - startedAt)).resume();
  child.stderr.setEncoding('utf8').on('data', (text) => (errors += text));
  await once(child, 'close');
  const [, peak] = /^peak (\d+) kB$/m.exec(errors);
  return {
    ms: round(took, 0),
    'peak MB': round(Number(peak) / 1024, 0),
    'end, ms': round(performance.now() - startedAt, 0),
  };
}

/** The requests of each operation of the API and of each page of the portal. */
async function operationsOf({ client, key, orderingKey, accountId }, api, portal) {
  const authorization = `Bearer ${key}`;
  const call = (path, rest) => ({ path, ...rest, headers: { authorization, ...rest?.headers } });
  const idsOf = async (text) => (await client.query(text)).rows.map(({ id }) => id);
  const animals = Number((await client.query('SELECT max(id) AS id FROM animals')).rows[0].id);
  // The last ones, so that they are in no page that another operation lists.
  const available = await idsOf(`SELECT id FROM animals WHERE status = 'available' ORDER BY id DESC LIMIT 15000`);
  const placed = await idsOf(`SELECT id FROM orders WHERE account_id = ${accountId} AND status = 'placed' ORDER BY id`);
  const messages = await idsOf(`SELECT id FROM messages WHERE account_id = ${accountId}`);
  const any = (list) => list[Math.floor(Math.random() * list.length)];
  const orders = placed.slice(0, 100);
  const toComplete = placed.slice(100, placed.length / 2);
  const toCancel = placed.slice(placed.length / 2);
  const end = (ids, how) => {
    const id = ids.pop();
    return id && call(`/v1/store/orders/${id}/${how}`, { method: 'POST' });
  };
  const pet = '{"name":"Luna","categoryId":3}';
  const once = () => ({ 'idempotency-key': randomUUID() });
  const cookie = await signIn(portal, EMAIL, PASSWORD);
  const page = (path) => [portal, () => ({ path, headers: { cookie } })];
  return {
    'list 20': [api, () => call('/v1/pets')],
    'list 50 by status': [api, () => call('/v1/pets?status=available&limit=50')],
    'list by ids': [api, () => call(`/v1/pets?id=${any(available)}&id=${any(available)}`)],
    'pet by id': [api, () => call(`/v1/pets/${1 + Math.floor(Math.random() * animals)}`)],
    'unknown pet': [api, () => ({ ...call('/v1/pets/9000000000000000000'), expected: 404 })],
    'add a pet': [api, () => call('/v1/pets', { method: 'POST', body: pet })],
    'add a pet once': [api, () => call('/v1/pets', { method: 'POST', body: pet, headers: once() })],
    'place an order': [
      api,
      () =>
        call('/v1/store/orders', {
          method: 'POST',
          body: `{"petId":${available.pop()}}`,
          headers: { ...once(), authorization: `Bearer ${orderingKey}` },
        }),
    ],
    'list orders': [api, () => call('/v1/store/orders')],
    'list orders by status': [api, () => call('/v1/store/orders?status=placed')],
    'order by id': [api, () => call(`/v1/store/orders/${any(orders)}`)],
    'complete an order': [api, () => end(toComplete, 'complete')],
    'cancel an order': [api, () => end(toCancel, 'cancel')],
    'send a message': [api, () => call('/v1/messages', { method: 'POST', body: '{"message":"Hello"}' })],
    'message by id': [api, () => call(`/v1/messages/${any(messages)}`)],
    'rate limit': [api, () => ({ ...call('/v1/rate_limit'), expected: 429 })],
    'portal: /account': page('/account'),
    'portal: /keys': page('/keys'),
    'portal: /usage': page('/usage'),
    'portal: /plan': page('/plan'),
    'portal: /catalogue': page('/catalogue'),
    'portal: /quickstart': page('/quickstart'),
    'portal: /sign-in': [portal, () => ({ path: '/sign-in' })],
  };
}

/** The 95th percentile of each operation on both databases, in turns, and the median of the ratios of the windows. */
async function measureEach(store) {
  const sides = {};
  const services = [];
  for (const name of ['year', 'fresh']) {
    const settings = settingsOf(store, store[name]);
    const [api, portal] = [await startApi(settings), await startPortal(settings)];
    services.push(api, portal);
    sides[name] = await operationsOf(store[name], api.origin, portal.origin);
  }
  const results = {};
  for (const name of Object.keys(sides.year)) {
    let failed = 0;
    const p95 = { year: [], fresh: [] };
    for (let window = -1; window < WINDOWS; window++) {
      for (const side of window % 2 === 0 ? ['year', 'fresh'] : ['fresh', 'year']) {
        const [origin, next] = sides[side][name];
        // The first window fills caches and pools.
        const seconds = window < 0 ? 0.5 : name.includes('order') ? SECONDS / 4 : SECONDS;
        const found = await closedLoop(origin, next, { connections: CONNECTIONS, seconds });
        if (window >= 0) p95[side].push(found.p95);
        failed += found.failed;
      }
    }
    const ratios = p95.year.map((each, window) => each / p95.fresh[window]);
    const row = {
      'year, p95 ms': round(median(p95.year)),
      'new, p95 ms': round(median(p95.fresh)),
      ratio: round(median(ratios)),
      failed,
    };
    results[name] = row;
    console.log(name, JSON.stringify(row));
  }
  for (const { stop } of services) await stop();
  return results;
}

/** The time of each of the worker's periodic jobs when there is as much to do as on the busiest day. */
async function measureJobs({ year }) {
  const { ports, close } = await openInfrastructure({ databaseUrl: year.url, poolSize: 2 });
  const later = { now: () => ports.clock.now() + 3 * DAY };
  const { expireOrders, purgeExpired } = createApplication({ ...ports, clock: later });
  const jobs = {};
  const measure = async (name, period, work) => {
    const startedAt = performance.now();
    const rows = await work();
    const took = performance.now() - startedAt;
    jobs[name] = { rows, ms: round(took, 0), 'of its period': round(took / period, 4) };
    console.log(name, JSON.stringify(jobs[name]));
  };
  await measure('expire orders', 1_000, async () => (await expireOrders.execute()).expired.length);
  for (const kind of PURGED_KINDS) await measure(`purge ${kind}`, PURGE_PERIOD, () => purgeExpired.execute(kind));
  await close();
  return jobs;
}
