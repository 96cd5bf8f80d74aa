import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import { cpuSeconds, memory } from './load.mjs';
import { about, judged, table, whole } from './results-page.mjs';
import { commitOf, root, startApi, startWorker } from './services.mjs';
import { openAccounts, openStore } from './store.mjs';
import { middle, ratio, turned } from './turns.mjs';

const { fetch } = globalThis;

const SETTINGS = { WEBHOOK_ALLOW: '127.0.0.0/8' };
const MANY = 200;
const MOST_OF_AN_ACCOUNT = 10;
const DELIVERIES = 6_000;
const PUBLISHED = 20_000;
/** A build that publishes slowly isn't waited for longer. */
const LONGEST_SECONDS = 10;

/** Measures a worker's deliveries and publishing, and, beside them, those of another build in turns. */
export async function measureWebhooks({ build, windows }) {
  const receivers = fork(join(import.meta.dirname, 'receivers.mjs'));
  const [{ urls }] = await once(receivers, 'message');
  const builds = { ours: await openBuild(root) };
  if (build !== undefined) builds.other = await openBuild(resolve(build));
  const kinds = {
    'Deliveries to one receiver': (each) => deliver(each, receivers, urls.slice(0, 1)),
    [`Deliveries to ${urls.length} receivers`]: (each) => deliver(each, receivers, urls),
    'Events published, no webhooks': (each) => publish(each, []),
    [`Events published, ${MANY} webhooks that hang`]: (each) => publish(each, Array(MANY).fill(`${urls[0]}hangs`)),
  };
  const rows = [];
  for (const [name, measure] of Object.entries(kinds)) {
    const results = Object.fromEntries(Object.keys(builds).map((each) => [each, []]));
    for (let window = 0; window < windows; window++) {
      for (const [each, opened] of turned(Object.entries(builds), window)) results[each].push(await measure(opened));
    }
    rows.push([name, ...Object.values(results).flatMap(figuresOf)]);
    if (build !== undefined) rows.at(-1).push(judged(ratio(results.ours, results.other), { least: 1 }));
    console.log(rows.at(-1).join(' | '));
  }
  for (const { close } of Object.values(builds)) await close();
  receivers.disconnect();
  const { version } = builds.ours;
  const columns = ['µs', 'most memory, MB'];
  const compared = build === undefined ? [] : ['other, a second', ...columns, 'ours ÷ other'];
  const head = ['', 'Ours, a second', ...columns, ...compared];
  const other = build === undefined ? '' : ` The other build is ${commitOf(build)}.`;
  const how = `The events are stored before the worker starts, ${whole(DELIVERIES)} deliveries of them, or ${whole(PUBLISHED)} events to publish.`;
  return `${about({ windows }, version)} ${how}${other}\n\n${table(head, rows)}`;
}

/** A database with the schema of a build, and its API, which creates webhooks. */
async function openBuild(build) {
  const store = await openStore(build);
  const keys = await openAccounts(store, MANY / MOST_OF_AN_ACCOUNT);
  const api = await startApi({ ...store.settings, ...SETTINGS }, build);
  return {
    ...store,
    api,
    keys,
    startWorker: () => startWorker({ ...store.env, ...SETTINGS }, { build }),
    async close() {
      await api.stop();
      await store.close();
    },
  };
}

/** Has each delivery sent once: fewer events if there are several receivers. */
async function deliver(build, receivers, urls) {
  const events = Math.ceil(DELIVERIES / urls.length);
  const count = events * urls.length;
  await begin(build, urls, events);
  receivers.send({ wanted: count });
  return measure(build, async () => {
    const [{ seconds }] = await once(receivers, 'message');
    return { count, seconds };
  });
}

/** Publishes the events that are stored, or as many as the time allows. */
async function publish(build, urls) {
  await begin(build, urls, PUBLISHED);
  const stored = await endOf(build);
  return measure(build, async () => {
    let first;
    for (;;) {
      const [end, now] = [await endOf(build), performance.now()];
      if (end > stored) first ??= { end, now };
      const seconds = first === undefined ? 0 : (now - first.now) / 1_000;
      if (end === stored + PUBLISHED || seconds > LONGEST_SECONDS) return { count: end - first.end, seconds };
      await setTimeout(5);
    }
  });
}

/** Leaves nothing of the window before. Accounts take turns, because one has few webhooks. */
async function begin({ client, api, keys }, urls, events) {
  await client.query('DELETE FROM webhooks; TRUNCATE event_outbox, events, webhook_deliveries');
  for (const [index, url] of urls.entries()) {
    const headers = { authorization: `Bearer ${keys[index % keys.length]}`, 'content-type': 'application/json' };
    const request = { method: 'POST', headers, body: JSON.stringify({ url }) };
    const { status } = await fetch(`${api.origin}/v1/webhooks`, request);
    if (status !== 201) throw new Error(`a webhook was answered with ${status}`);
  }
  const text = `
    INSERT INTO event_outbox (type, data)
    SELECT 'pet.added', json_build_object('id', n, 'name', 'Animal ' || n, 'categoryId', 3, 'status', 'available')
    FROM generate_series(1, $1::integer) AS n`;
  await client.query(text, [events]);
}

async function endOf({ client }) {
  const { rows } = await client.query('SELECT last_position::float8 AS end FROM event_feed');
  return rows[0].end;
}

/** Starts a worker, and kills it when its work is done: some of its receivers hang. */
async function measure(build, work) {
  const worker = await build.startWorker();
  const { pid } = worker;
  const before = cpuSeconds(pid);
  const death = worker.exited.then(([code, signal]) => {
    throw new Error(`the worker has ended: ${code ?? signal}`);
  });
  const { count, seconds } = await Promise.race([work(), death]);
  const cpu = ((cpuSeconds(pid) - before) / count) * 1e6;
  const most = memory(pid, 'VmHWM');
  death.catch(() => undefined);
  await worker.stop('SIGKILL');
  return { rate: count / seconds, cpu, most };
}

function figuresOf(results) {
  return ['rate', 'cpu', 'most'].map((field) => whole(middle(results, field)));
}
