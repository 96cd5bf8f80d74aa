import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { createKey, startApi } from './services.mjs';

const ATTACKERS = 8;
const SECONDS = 5;
const FULL = 65_000;

const filled = (unit, begin, end) => begin + unit.repeat(Math.floor((FULL - begin.length) / unit.length)) + end;
const keys = Array.from({ length: 5_000 }, (_, index) => `"k${index}":1`).join(',');

/** The most expensive requests, by name. */
const ATTACKS = {
  'small integers': { body: filled('1,', '{"name":"x","categoryId":1,"x":[', '1]}') },
  'long integers': { body: filled('9223372036854775807,', '{"name":"x","categoryId":1,"x":[', '1]}') },
  'many keys': { body: `{"name":"x","categoryId":1,${keys}}` },
  'escaped text': { body: filled('\\u0041', '{"name":"', '","categoryId":1}') },
  'white space': { body: filled(' \t\r\n', '{', '}') },
  'nested arrays': { body: filled('[[[[[[[[[[1]]]]]]]]]],', '{"name":"x","categoryId":1,"x":[', '1]}') },
  'unfinished text': { body: filled('a', '{"name":"', '') },
  '100 ids': {
    path: `?${Array.from({ length: 100 }, (_, id) => `id=${9_000_000_000_000_000n + BigInt(id)}`).join('&')}`,
  },
  'a long query': { path: `?${'a=b&'.repeat(1_900)}` },
  'a long cursor': { path: `?cursor=${'A'.repeat(7_000)}` },
  'a long path': { path: `/${'%41'.repeat(2_500)}` },
};

/** Measures how long a good client waits at most while others send the most expensive requests. */
export async function measureHostile() {
  const folder = mkdtempSync(join(tmpdir(), 'adoption-store-bench-'));
  const env = { PATH: process.env.PATH, DATA_DIR: folder, LOG_LEVEL: 'error' };
  const api = await startApi({ ...env, PORT: '0', HOST: '127.0.0.1' });
  const key = createKey(env);
  const rows = {};
  for (const [name, attack] of [['nothing', undefined], ...Object.entries(ATTACKS)]) {
    const over = { aborted: false };
    const agent = new Agent({ keepAlive: true });
    const attacking = Array.from({ length: attack ? ATTACKERS : 0 }, () => attackUntil(over, api, key, attack, agent));
    const times = await serve(api, key);
    over.aborted = true;
    const sent = (await Promise.all(attacking)).reduce((sum, count) => sum + count, 0);
    agent.destroy();
    times.sort((one, other) => one - other);
    const at = (share) => Number(times[Math.min(times.length - 1, Math.floor(times.length * share))].toFixed(1));
    rows[name] = {
      'attacks a second': Math.round(sent / SECONDS),
      'p50 ms': at(0.5),
      'p99 ms': at(0.99),
      'slowest ms': at(1),
    };
  }
  await api.stop();
  rmSync(folder, { recursive: true, force: true });
  console.table(rows);
}

async function attackUntil(over, { origin }, key, { path = '', body }, agent) {
  let sent = 0;
  while (!over.aborted) {
    await send(`${origin}/v1/pets${path}`, key, body, agent);
    sent++;
  }
  return sent;
}

async function serve({ origin }, key) {
  const agent = new Agent({ keepAlive: true });
  const times = [];
  for (const end = performance.now() + SECONDS * 1_000; performance.now() < end; await pause(5)) {
    const startedAt = performance.now();
    const status = await send(`${origin}/v1/pets?limit=1`, key, undefined, agent);
    if (status !== 200) throw new Error(`the good client was answered ${status}`);
    times.push(performance.now() - startedAt);
  }
  agent.destroy();
  return times;
}

function send(url, key, body, agent) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    request(url, { agent, method: body === undefined ? 'GET' : 'POST', headers }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode));
    })
      .on('error', reject)
      .end(body);
  });
}
