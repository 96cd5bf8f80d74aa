import { startApi } from './services.mjs';
import { openAccounts, openStore } from './store.mjs';
import { inTurns, middles, ratio } from './turns.mjs';
import { ANIMALS, withKeys, WORKLOADS } from './workloads.mjs';

const ACCOUNTS = 1_000;
const LIST = 'list 20';
const MANY = `${LIST}, ${ACCOUNTS} accounts`;
/** So few a minute that Redis decides nothing ahead. */
const FEW = 16_000;
const MANY_WITH_FEW = `${MANY}, ${FEW} a minute`;

/**
 * The same service counting in process and in Redis, where there is one: asked for each workload with one key, and for
 * lists of 20 with those of many accounts, and of many that may send but so many a minute. By workload and connections.
 */
export async function compareServices(redisUrl) {
  const store = await openStore();
  await store.fill(ANIMALS);
  const keys = await openAccounts(store, ACCOUNTS);
  const keysOfFew = await openAccounts(store, ACCOUNTS, { perMinute: FEW });
  const services = { 'in process': await startApi(store.settings) };
  if (redisUrl !== undefined) services.Redis = await startApi({ ...store.settings, REDIS_URL: redisUrl });
  const kindsOf = (workload, requests) =>
    Object.fromEntries(
      Object.entries(services).map(([name, service]) => [`${workload}; ${name}`, { service, requests }]),
    );
  const oneKey = (workload) => kindsOf(workload, withKeys(WORKLOADS[workload], keys.slice(0, 1)));
  const { [LIST]: list, ...others } = WORKLOADS;
  // What is compared is loaded in turns.
  const manyKeys = { ...kindsOf(MANY, withKeys(list, keys)), ...kindsOf(MANY_WITH_FEW, withKeys(list, keysOfFew)) };
  const sets = [{ ...oneKey(LIST), ...manyKeys }, ...Object.keys(others).map(oneKey)];
  const figures = {};
  for (const connections of [32, 256]) {
    for (const kinds of sets) Object.assign(figures, await compare(kinds, connections));
  }
  for (const { stop } of Object.values(services)) await stop();
  await store.close();
  console.table(figures);
  return figures;
}

async function compare(kinds, connections) {
  await inTurns(kinds, { connections, windows: 1 });
  // Keys that haven't come for a second are looked up first: what is compared is how it goes on.
  const results = await inTurns(kinds, { connections, before: 1 });
  const row = ([name, windows]) => {
    const [workload, counted] = name.split('; ');
    const figures = { ...middles(windows), 'to in process': ratio(windows, results[`${workload}; in process`]) };
    if (workload === MANY || workload === MANY_WITH_FEW)
      figures['to one key'] = ratio(windows, results[`${LIST}; ${counted}`]);
    return [`${workload}; ${connections}; ${counted}`, figures];
  };
  return Object.fromEntries(Object.entries(results).map(row));
}
