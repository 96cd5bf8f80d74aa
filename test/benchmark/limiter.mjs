import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../support/free-port.mjs';
import { about, judged, table, whole } from './results-page.mjs';
import { root, startApi, startWorker } from './services.mjs';
import { openAccounts, openStore } from './store.mjs';
import { inTurns, middle, ratio, warmUp } from './turns.mjs';
import { ANIMALS, walkPages, withKeys, workloadsOf } from './workloads.mjs';

const ACCOUNTS = 1_000;
/** So close to the limit that Redis is asked about each request. */
const FEW = 16_000;

/** Compares the API counting in Redis with the API counting in its own process. */
export async function measureLimiter(options) {
  const redis = await openRedis();
  if (redis === undefined) {
    console.warn('SKIPPED: there is no redis-server.');
    return undefined;
  }
  const store = await openStore();
  await store.fill(ANIMALS);
  const keys = await openAccounts(store, ACCOUNTS);
  const keysOfFew = await openAccounts(store, ACCOUNTS, { perMinute: FEW });
  const services = {
    process: await startApi(store.settings),
    redis: await startApi({ ...store.settings, REDIS_URL: redis.url }),
  };
  const worker = await startWorker(store.env, { isBeside: true });
  const workloads = workloadsOf((await walkPages(services.process.origin, keys[0])).ours);
  const list = workloads['list of 20'];
  const sets = {
    ...Object.fromEntries(Object.entries(workloads).map(([name, each]) => [name, withKeys(each, keys.slice(0, 1))])),
    [`list of 20, ${whole(ACCOUNTS)} accounts`]: withKeys(list, keys),
    [`list of 20, ${whole(ACCOUNTS)} accounts near their limit`]: withKeys(list, keysOfFew),
  };
  const rows = [];
  for (const [name, requests] of Object.entries(sets)) {
    const kinds = Object.fromEntries(Object.entries(services).map(([each, service]) => [each, { service, requests }]));
    await warmUp(kinds);
    // The first request of a key looks the key up, so one second of each window isn't counted.
    const results = await inTurns(kinds, { ...options, connections: 32, before: 1 });
    rows.push(row(name, results));
    console.log(rows.at(-1).join(' | '));
  }
  for (const { stop } of [...Object.values(services), worker]) await stop();
  await store.close();
  redis.close();
  const head = ['Workload', 'In process, requests/s', 'µs', 'in Redis, requests/s', 'µs', 'Redis ÷ process', 'p99 ÷'];
  return `${about(options, store.version)} 32 connections. Near their limit means ${whole(FEW)} requests a minute, where Redis is asked about each request.\n\n${table(head, rows)}`;
}

function row(name, { process: own, redis }) {
  const figures = [own, redis].flatMap((each) => [whole(middle(each, 'rate')), whole(middle(each, 'cpu'))]);
  return [name, ...figures, judged(ratio(redis, own), false), judged(ratio(redis, own, 'p99'), false)];
}

/** A new Redis without persistence. Undefined if there is no redis-server. */
async function openRedis() {
  if (spawnSync('redis-server', ['--version']).error !== undefined) return undefined;
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'adoption-store-redis-'));
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  const child = spawn('redis-server', args, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  const close = () => {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', close);
  for await (const chunk of child.stdout) if (String(chunk).includes('Ready to accept connections')) break;
  return { url: `redis://127.0.0.1:${port}`, close };
}
