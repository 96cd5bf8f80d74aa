import { setTimeout } from 'node:timers/promises';
import { load } from './load.mjs';
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
export async function measureAccounts({ workloads = WORKLOADS, ...lengths }) {
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
  const sets = groups.map((group) => [group, Object.fromEntries(group.flatMap(kindsOf))]);
  const rows = await measureSets(sets, { ...lengths, connections: [CONNECTIONS] }, rowsOf);
  const lookUps = [];
  for (const [name, kind] of kindsOf(LIST).filter(isInProcess)) {
    // A service that wasn't used for half a minute has forgotten all keys.
    if (kind.service === many.process) await showKeys(kind.service, keys);
    lookUps.push([name.split(' / ')[1], ...(await countLookUps(store, kind))].map(whole));
  }
  for (const { stop } of [...Object.values(few), ...Object.values(many), worker]) await stop();
  await store.close();
  redis.close();
  const head = ['Workload', 'Accounts', 'In process, requests/s', 'µs', 'p99 ms', `÷ one account (${LEAST.ofOne})`];
  head.push(`÷ by id (${LEAST.ofById})`, 'in Redis, requests/s', 'µs', 'p99 ms', `÷ in process (${LEAST.ofProcess})`);
  const how = `${about(lengths, store.version)} ${CONNECTIONS} connections. Each account has one key. In brackets the bars of 1,000 accounts and of one.`;
  const headOfLookUps = ['Accounts', 'Requests/s', 'keys looked up a second', 'transactions a second'];
  return `${how}\n\n${table(head, rows)}\n\nDuring the ${LIST}, in process:\n\n${table(headOfLookUps, lookUps)}`;
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
const isInProcess = ([name]) => name.endsWith('process');

function rowsOf(_, connections, results) {
  const figuresOf = (each) => [whole(middle(each, 'rate')), whole(middle(each, 'cpu')), middle(each, 'p99').toFixed(1)];
  const compared = (each, others, least) => (others === undefined ? '' : judged(ratio(each, others), { least }));
  return Object.entries(results)
    .filter(isInProcess)
    .map(([name, own]) => {
      const [workload, number] = name.split(' / ');
      const bars = Number(number) === MANY ? {} : LEAST;
      const inRedis = results[`${workload} / ${number} / redis`];
      const one = number === '1' ? undefined : results[`${workload} / 1 / process`];
      const byId = workload === '?id=N' ? results[`by id / ${number} / process`] : undefined;
      const ratios = [compared(own, one, bars.ofOne), compared(own, byId, bars.ofById)];
      const toProcess = compared(inRedis, own, bars.ofProcess);
      return [workload, whole(number), ...figuresOf(own), ...ratios, ...figuresOf(inRedis), toProcess];
    });
}

/** PostgreSQL's statistics are up to a second late, so they are read while the load goes on. */
async function countLookUps({ client }, { service, requests }) {
  const [seconds, before] = [5, 4];
  const count = async () => {
    const { rows } = await client.query(`
      SELECT indexes.idx_scan + seq_tup_read AS keys, xact_commit AS transactions
      FROM pg_stat_user_indexes AS indexes JOIN pg_stat_user_tables USING (relid), pg_stat_database
      WHERE indexrelname = 'api_keys_hash_key' AND datname = current_database()`);
    return rows[0];
  };
  const loaded = load(service, requests, { connections: CONNECTIONS, seconds: before + seconds });
  await setTimeout(before * 1_000);
  const first = await count();
  await setTimeout(seconds * 1_000);
  const last = await count();
  const { rate } = await loaded;
  const rates = ['keys', 'transactions'].map((name) => (last[name] - first[name]) / seconds);
  return [rate, ...rates];
}
