import { startApi, startPeer } from './services.mjs';
import { openAccounts, openStore } from './store.mjs';
import { inTurns, middles, ratio, WINDOWS } from './turns.mjs';
import { ANIMALS, withKeys, WORKLOADS } from './workloads.mjs';

const ACCOUNTS = 1_000;
const LIST = 'list 20';
const MANY = `${LIST}, ${ACCOUNTS} accounts`;
/** So close to the limit that Redis is asked about each request. */
const FEW = 16_000;
const MANY_WITH_FEW = `${MANY}, ${FEW} a minute`;
const IN_PROCESS = 'in process';
const EXPERT = 'the expert’s process';
/** The difference between accounts is smaller than the difference between windows. */
const MORE_WINDOWS = 3 * WINDOWS;

/**
 * Compares the same service counting in process and in Redis, if available: each workload with one key, and lists of 20
 * with the keys of many accounts, with and without a low limit. The cost of many accounts for the expert's service is
 * measured too.
 */
export async function compareServices(redisUrl) {
  const store = await openStore();
  await store.fill(ANIMALS);
  const keys = await openAccounts(store, ACCOUNTS);
  const keysOfFew = await openAccounts(store, ACCOUNTS, { perMinute: FEW });
  const services = { [IN_PROCESS]: await startApi(store.settings) };
  if (redisUrl !== undefined) services.Redis = await startApi({ ...store.settings, REDIS_URL: redisUrl });
  const withExpert = { ...services, [EXPERT]: await startPeer('expert', store.settings) };
  const kindsOf = (workload, requests) =>
    Object.fromEntries(
      Object.entries(services).map(([name, service]) => [`${workload}; ${name}`, { service, requests }]),
    );
  const oneKey = (workload) => kindsOf(workload, withKeys(WORKLOADS[workload], keys.slice(0, 1)));
  const { [LIST]: list, ...others } = WORKLOADS;
  // The first request of a key looks the key up, so one second runs before each window.
  const goingOn = { before: 1 };
  // The variants of one service are measured next to each other in time.
  const oneAndMany = Object.fromEntries(
    Object.entries(withExpert).flatMap(([name, service]) => [
      [`${LIST}; ${name}`, { service, requests: withKeys(list, keys.slice(0, 1)) }],
      [`${MANY}; ${name}`, { service, requests: withKeys(list, keys) }],
    ]),
  );
  const sets = [
    [oneAndMany, { ...goingOn, windows: MORE_WINDOWS }],
    [kindsOf(MANY_WITH_FEW, withKeys(list, keysOfFew)), goingOn],
    ...Object.keys(others).map((workload) => [oneKey(workload)]),
  ];
  const figures = {};
  for (const connections of [32, 256]) {
    for (const [kinds, how] of sets) Object.assign(figures, await compare(kinds, { connections, ...how }));
  }
  for (const { stop } of Object.values(withExpert)) await stop();
  await store.close();
  console.table(figures);
  return figures;
}

async function compare(kinds, how) {
  await inTurns(kinds, { ...how, windows: 1 });
  const results = await inTurns(kinds, how);
  const row = ([name, windows]) => {
    const [workload, counted] = name.split('; ');
    const figures = middles(windows);
    if (counted !== EXPERT) figures['to in process'] = ratio(windows, results[`${workload}; ${IN_PROCESS}`]);
    if (workload === MANY) figures['to one key'] = ratio(windows, results[`${LIST}; ${counted}`]);
    return [`${workload}; ${how.connections}; ${counted}`, figures];
  };
  return Object.fromEntries(Object.entries(results).map(row));
}
