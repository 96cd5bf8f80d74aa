import { startApi } from './services.mjs';
import { openAccounts, openStore } from './store.mjs';
import { inTurns, middles, ratio } from './turns.mjs';
import { ANIMALS, withKeys, WORKLOADS } from './workloads.mjs';

const ACCOUNTS = 1_000;

/** The same service counting in process and in Redis, where there is one; asked with one key, and with those of many. */
export async function compareServices(redisUrl) {
  const store = await openStore();
  await store.fill(ANIMALS);
  const keys = await openAccounts(store, ACCOUNTS);
  const services = { 'in process': await startApi(store.settings) };
  if (redisUrl !== undefined) services.Redis = await startApi({ ...store.settings, REDIS_URL: redisUrl });
  const kinds = {};
  for (const [name, service] of Object.entries(services)) {
    kinds[`${name}, one key`] = { service, requests: withKeys(WORKLOADS['list 20'], keys.slice(0, 1)) };
    kinds[`${name}, ${ACCOUNTS} accounts`] = { service, requests: withKeys(WORKLOADS['list 20'], keys) };
  }
  await inTurns(kinds, { connections: 32, windows: 1 });
  const results = await inTurns(kinds, { connections: 32 });
  for (const { stop } of Object.values(services)) await stop();
  await store.close();
  const row = ([name, windows]) => {
    const [place, load] = name.split(', ');
    const figures = { ...middles(windows), 'to one key': ratio(windows, results[`${place}, one key`]) };
    return [name, { ...figures, 'to in process': ratio(windows, results[`in process, ${load}`]) }];
  };
  const rows = Object.fromEntries(Object.entries(results).map(row));
  console.table(rows);
  return rows;
}
