import { openRedis } from './redis.mjs';
import { about, judged, table, whole } from './results-page.mjs';
import { startApi, startWorker } from './services.mjs';
import { openAccounts, openStore } from './store.mjs';
import { measureSets, middle, ratio } from './turns.mjs';
import { ANIMALS, walkPages, withKeys, WORKLOADS, workloadsOf } from './workloads.mjs';

const { fetch } = globalThis;

const THOUSAND = 1_000;
/** They send one workload, because they cost what their look-ups cost, whatever they read. */
const MANY = 100_000;
const LIST = 'list of 20';
/** Workloads that are compared with each other share their turns. */
const GROUPS = [[LIST], ['by id', '?id=N'], ['mix']];
/** The least that a rate may be of another: 1,000 accounts of one, `?id=N` of by id, Redis of the process. */
const LEAST = { ofOne: 0.9, ofById: 0.85, ofProcess: 0.85 };
const CONNECTIONS = 32;

/** Compares 1,000 accounts and many with one, each counted in the API's own process and in Redis. */
export async function measureAccounts({ workloads = WORKLOADS, windows = 15 }) {
  const redis = await openRedis();
  if (redis === undefined) return undefined;
  const store = await openStore();
  await store.fill(ANIMALS);
  const keys = await openAccounts(store, MANY);
  const open = async () => ({
    process: await startApi(store.settings),
    redis: await startApi({ ...store.settings, REDIS_URL: redis.url }),
  });
  // What a service remembers of many accounts must not slow down the others.
  const [few, many] = [await open(), await open()];
  const worker = await startWorker(store.env, { isBeside: true });
  for (const service of Object.values(many)) await showKeys(service, keys);
  const requests = workloadsOf((await walkPages(few.process.origin, keys[0])).ours);
  const kindsOf = (workload) =>
    numbersOf(workload).flatMap((number) =>
      Object.entries(number === MANY ? many : few).map(([counter, service]) => [
        `${workload} / ${number} / ${counter}`,
        { service, requests: withKeys(requests[workload], keys.slice(0, number)) },
      ]),
    );
  const groups = GROUPS.map((group) => group.filter((name) => workloads.includes(name)));
  const sets = groups
    .filter((group) => group.length > 0)
    .map((group) => [group, Object.fromEntries(group.flatMap(kindsOf))]);
  const rows = await measureSets(sets, { windows, connections: [CONNECTIONS] }, rowsOf);
  for (const { stop } of [...Object.values(few), ...Object.values(many), worker]) await stop();
  await store.close();
  redis.close();
  const head = ['Workload', 'Accounts', 'In process, requests/s', 'µs', 'p99 ms', `÷ one account (${LEAST.ofOne})`];
  head.push(`÷ by id (${LEAST.ofById})`, 'in Redis, requests/s', 'µs', 'p99 ms', `÷ in process (${LEAST.ofProcess})`);
  const how = `${CONNECTIONS} connections. Each account has one key. In brackets the bars of 1,000 accounts and of one.`;
  return `${about(`${windows} windows of 1 s`, store.version)} ${how}\n\n${table(head, rows)}`;
}

/** The first sight of a key costs more than is measured here. */
async function showKeys({ origin }, keys) {
  const show = async (key) => {
    const response = await fetch(`${origin}/v1/pets`, { headers: { authorization: `Bearer ${key}` } });
    if (!response.ok) throw new Error(`a key was answered with ${response.status}`);
    await response.arrayBuffer();
  };
  for (let shown = 0; shown < keys.length; shown += CONNECTIONS) {
    await Promise.all(keys.slice(shown, shown + CONNECTIONS).map(show));
  }
}

const numbersOf = (workload) => (workload === LIST ? [THOUSAND, MANY, 1] : [THOUSAND, 1]);

function rowsOf(group, connections, results) {
  const figuresOf = (each) => [whole(middle(each, 'rate')), whole(middle(each, 'cpu')), middle(each, 'p99').toFixed(1)];
  const compared = (each, others, least) => (others === undefined ? '' : judged(ratio(each, others), { least }));
  return group.flatMap((workload) =>
    numbersOf(workload).map((number) => {
      const bars = number === MANY ? {} : LEAST;
      const own = results[`${workload} / ${number} / process`];
      const inRedis = results[`${workload} / ${number} / redis`];
      const one = number === 1 ? undefined : results[`${workload} / 1 / process`];
      const byId = workload === '?id=N' ? results[`by id / ${number} / process`] : undefined;
      const ratios = [compared(own, one, bars.ofOne), compared(own, byId, bars.ofById)];
      const toProcess = compared(inRedis, own, bars.ofProcess);
      return [workload, whole(number), ...figuresOf(own), ...ratios, ...figuresOf(inRedis), toProcess];
    }),
  );
}
