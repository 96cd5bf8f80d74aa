import { openRedis } from './redis.mjs';
import { about, judged, table, whole } from './results-page.mjs';
import { startApi, startWorker } from './services.mjs';
import { openAccounts, openStore } from './store.mjs';
import { inTurns, middle, ratio, warmUp } from './turns.mjs';
import { ANIMALS, walkPages, withKeys, workloadsOf } from './workloads.mjs';

const ACCOUNTS = 1_000;
/** So close to the limit that Redis is asked about each request. */
const FEW = 16_000;

/** Compares the API counting in Redis with the API counting in its own process. */
export async function measureLimiter(options) {
  const redis = await openRedis();
  if (redis === undefined) return undefined;
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
