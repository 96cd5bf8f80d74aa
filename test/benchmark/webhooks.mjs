import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { cpuSeconds, memory } from './load.mjs';
import { about, table, whole } from './results-page.mjs';
import { startApi, startWorker } from './services.mjs';
import { openAccounts, openStore } from './store.mjs';
import { middle } from './turns.mjs';

const { fetch } = globalThis;

const SETTINGS = { WEBHOOK_ALLOW: '127.0.0.0/8' };
const DELIVERIES = 6_000;

/** Measures the deliveries of a worker. The events are stored before it starts, and each window has a new one. */
export async function measureWebhooks({ windows = 5 }) {
  const receivers = fork(join(import.meta.dirname, 'receivers.mjs'));
  const [{ urls }] = await once(receivers, 'message');
  const store = await openStore();
  const keys = await openAccounts(store, urls.length);
  const api = await startApi({ ...store.settings, ...SETTINGS });
  const rows = [];
  for (const used of [urls.slice(0, 1), urls]) {
    const results = [];
    for (let window = 0; window < windows; window++) {
      await prepare(store, api, keys, used);
      results.push(await deliver(store, receivers));
    }
    const figures = ['rate', 'cpu', 'most'].map((field) => whole(middle(results, field)));
    rows.push([`Deliveries to ${used.length === 1 ? 'one receiver' : `${used.length} receivers`}`, ...figures]);
    console.log(rows.at(-1).join(' | '));
  }
  await api.stop();
  await store.close();
  receivers.disconnect();
  const how = `${whole(DELIVERIES)} deliveries of events that are stored before the worker starts.`;
  const head = ['', 'A second', 'µs', 'most memory, MB'];
  return `${about(`${windows} windows`, store.version)} ${how}\n\n${table(head, rows)}`;
}

/** Leaves nothing of the window before, and stores fewer events if there are several receivers. */
async function prepare({ client }, api, keys, urls) {
  await client.query('DELETE FROM webhooks; TRUNCATE event_outbox, events, webhook_deliveries');
  for (const [index, url] of urls.entries()) {
    const headers = { authorization: `Bearer ${keys[index]}`, 'content-type': 'application/json' };
    const request = { method: 'POST', headers, body: JSON.stringify({ url }) };
    const { status } = await fetch(`${api.origin}/v1/webhooks`, request);
    if (status !== 201) throw new Error(`a webhook was answered with ${status}`);
  }
  const text = `
    INSERT INTO event_outbox (type, data)
    SELECT 'pet.added', json_build_object('id', n, 'name', 'Animal ' || n, 'categoryId', 3, 'status', 'available')
    FROM generate_series(1, $1::integer) AS n`;
  await client.query(text, [DELIVERIES / urls.length]);
}

async function deliver({ env }, receivers) {
  receivers.send({ wanted: DELIVERIES });
  const worker = await startWorker({ ...env, ...SETTINGS });
  const before = cpuSeconds(worker.pid);
  const death = worker.exited.then(([code, signal]) => {
    throw new Error(`the worker has ended: ${code ?? signal}`);
  });
  const [{ seconds }] = await Promise.race([once(receivers, 'message'), death]);
  const cpu = ((cpuSeconds(worker.pid) - before) / DELIVERIES) * 1e6;
  const most = memory(worker.pid, 'VmHWM');
  death.catch(() => undefined);
  await worker.stop();
  return { rate: DELIVERIES / seconds, cpu, most };
}
