import { mkdtempSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { SMTPServer } from 'smtp-server';
import { createKey, startApi, startWorker } from './services.mjs';

const SINGLE = 300;
const MANY = 5_000;
const SENDERS = 32;

/** Measures the time until delivery on an idle machine, and the deliveries a second of one worker. */
export async function measureMessages() {
  const folder = mkdtempSync(join(tmpdir(), 'adoption-store-bench-'));
  const sink = await openSink();
  const shared = { PATH: process.env.PATH, DATA_DIR: folder, LOG_LEVEL: 'warn' };
  const api = await startApi({ ...shared, PORT: '0', HOST: '127.0.0.1' });
  const delivery = { SMTP_URL: sink.url, STORE_EMAIL: 'store@example.com', MAIL_FROM: 'api@example.com' };
  const settings = { ...shared, ...delivery, WORKER_PORT: '0', WORKER_HOST: '127.0.0.1' };
  const key = createKey({ ...shared });
  let worker = await startWorker(settings);
  const latencies = await deliverOneByOne(api.origin, key, sink);
  await worker.stop();
  const received = sink.count;
  await queueMany(api.origin, key);
  worker = await startWorker(settings);
  await sink.receives(received + MANY / 10);
  const startedAt = performance.now();
  await sink.receives(received + MANY);
  const rate = (MANY * 0.9) / ((performance.now() - startedAt) / 1_000);
  await worker.stop();
  await api.stop();
  sink.close();
  rmSync(folder, { recursive: true, force: true });
  latencies.sort((one, other) => one - other);
  const at = (share) => Number(latencies[Math.floor(latencies.length * share)].toFixed(1));
  console.table({
    'from 202 to delivered, ms': { p50: at(0.5), p99: at(0.99) },
    'delivered a second by one worker': { p50: Math.round(rate) },
  });
}

async function deliverOneByOne(origin, key, sink) {
  const latencies = [];
  for (let index = 0; index < SINGLE; index++) {
    const { id } = JSON.parse(await post(origin, key, `message ${index}`));
    const answeredAt = performance.now();
    // The delivery may be faster than the response to the POST.
    latencies.push(Math.max(0, (await sink.receives(id)) - answeredAt));
    await pause(5);
  }
  return latencies.slice(SINGLE / 10);
}

async function queueMany(origin, key) {
  let next = 0;
  const send = async () => {
    while (next < MANY) await post(origin, key, `message ${next++}`);
  };
  await Promise.all(Array.from({ length: SENDERS }, send));
}

const agent = new Agent({ keepAlive: true, maxSockets: SENDERS });

async function post(origin, key, message) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const sending = request(`${origin}/v1/messages`, { agent, method: 'POST', headers }).end(JSON.stringify({ message }));
  const [response] = await once(sending, 'response');
  let text = '';
  for await (const chunk of response) text += String(chunk);
  if (response.statusCode !== 202) throw new Error(`an answer was ${response.statusCode}: ${text}`);
  return text;
}

/** A mail server that accepts everything and records the times. */
async function openSink() {
  const times = new Map();
  let count = 0;
  const waiting = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    logger: false,
    onData(stream, _session, callback) {
      let text = '';
      stream.on('data', (chunk) => (text += String(chunk)));
      stream.on('end', () => {
        count += 1;
        times.set(/^X-Message-Id: (\S+)/im.exec(text)?.[1], performance.now());
        callback();
        for (const check of waiting) check();
      });
    },
  });
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  /** Waits for a message by its id, or for a number of messages. */
  const receives = (what) =>
    new Promise((resolve) => {
      const check = () => {
        const at = typeof what === 'number' ? (count >= what ? performance.now() : undefined) : times.get(what);
        if (at === undefined) return;
        waiting.splice(waiting.indexOf(check), 1);
        resolve(at);
      };
      waiting.push(check);
      check();
    });
  return {
    url: `smtp://127.0.0.1:${server.server.address().port}`,
    get count() {
      return count;
    },
    receives,
    close: () => server.close(() => undefined),
  };
}
