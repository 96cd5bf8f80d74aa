import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { createKey, startApi, startPortal, startWorker } from './services.mjs';
import { openStore } from './store.mjs';

const { fetch } = globalThis;

const ROWS = 20_000;
// So small that each process fills it.
const POOL = 1;
const REQUESTS = 2_000;

/** A row of each table as the service writes it, of the row's number `n`: names as long as people give them. */
const ROW_OF = {
  accounts: `(email, plan, created_at) SELECT 'person' || n || '@example.com', 'free', now()`,
  api_keys: `(account_id, hash, ending, name, created_at)
    SELECT n, encode(sha256(n::text::bytea), 'hex'), 'abcd', 'production', now()`,
  animals: `(name, category_id, status) SELECT 'Animal ' || n, n % 20, 'available'`,
  orders: `(account_id, animal_id, status, created_at, updated_at) SELECT n, n, 'placed', now(), now()`,
  messages: `(id, account_id, text, status, due_at, created_at)
    SELECT gen_random_uuid(), n, repeat('A question. ', 20), 'sent', now(), now()`,
  idempotency_records: `(account_id, key, fingerprint, answer, answered_at)
    SELECT n, gen_random_uuid(), encode(sha256(n::text::bytea), 'hex'), repeat('a', 120), now()`,
  sessions: `(sid, sess, expire, token_hash, account_id, credential_version, begun_at, used_at)
    SELECT gen_random_uuid(), '{}', now(), encode(sha256(n::text::bytea), 'hex'), n, 0, now(), now()`,
  usage_by_day: `(account_id, day, key_id, admitted, refused) SELECT n, now(), n, 100, 0`,
  usage_by_hour: `(account_id, hour, key_id, admitted, refused, last_at)
    SELECT n, date_trunc('hour', now()), n, 100, 0, now()`,
  refusals: `(account_id, at, id, key_id, operation, code, request_id)
    SELECT n, now(), n, n, 'GET /v1/pets/{petId}', 'invalid_parameter', gen_random_uuid()`,
  request_counts: `(account_id, day_start, day_used) SELECT n, date_trunc('day', now()), 100`,
};

const PROCESSES = {
  api: { start: startApi, use: useApi },
  portal: { start: startPortal, use: usePortal },
  worker: { start: startWorker, use: () => delay(2_000) },
};

/** Measures figures for planning: bytes of a row with its indexes, connections and memory of a process, bytes of a log line. */
export async function measureSizing() {
  const store = await openStore();
  const rows = {};
  for (const [table, row] of Object.entries(ROW_OF)) {
    await store.client.query(`INSERT INTO ${table} ${row} FROM generate_series(1, ${ROWS}) AS n`);
    await store.client.query(`VACUUM ANALYZE ${table}`);
    const size = await store.client.query('SELECT pg_total_relation_size($1) AS bytes', [table]);
    rows[table] = { 'bytes a row': Math.round(size.rows[0].bytes / ROWS) };
  }
  console.table(rows);

  const settings = { ...store.settings, DATABASE_POOL_SIZE: String(POOL), LOG_LEVEL: 'info', ACCESS_LOG: 'on' };
  const key = createKey(store.env);
  const processes = {};
  const services = [];
  let connections = await connectionsOf(store);
  for (const [name, { start, use }] of Object.entries(PROCESSES)) {
    const service = await start({ ...settings, WORKER_PORT: '0', PORTAL_PORT: '0' });
    services.push(service);
    const line = await use(service, key);
    // Each listener and monitor has connected by then.
    await delay(2_000);
    const all = await connectionsOf(store);
    processes[name] = {
      'connections beyond its pool': Math.max(0, all - connections - POOL),
      'MB of memory': memoryOf(service),
      'bytes of a log line': line,
    };
    connections = all;
  }
  console.table(processes);
  for (const { stop } of services) await stop();
  await store.close();
}

async function connectionsOf({ client }) {
  const text = `SELECT count(*)::int AS connections FROM pg_stat_activity WHERE application_name = 'adoption-store'`;
  return (await client.query(text)).rows[0].connections;
}

function memoryOf({ pid }) {
  const [, kilobytes] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Math.round(kilobytes / 1_024);
}

/** Bytes of the line that the API logs for a request. */
async function useApi({ origin, stdout }, key) {
  let output = '';
  stdout.on('data', (chunk) => (output += String(chunk)));
  const headers = { authorization: `Bearer ${key}` };
  for (let id = 1; id <= REQUESTS; id += 50) {
    await Promise.all(Array.from({ length: 50 }, (_, n) => read(`${origin}/v1/pets/${id + n}`, headers)));
  }
  // Lines are gathered for a second.
  await delay(1_500);
  const lines = output.split('\n').filter((line) => line.includes('"msg":"request"'));
  return Math.round(lines.reduce((bytes, line) => bytes + line.length + 1, 0) / lines.length);
}

async function usePortal({ origin }) {
  for (let round = 0; round < 10; round++) {
    await Promise.all(Array.from({ length: 20 }, () => read(`${origin}/animals`)));
  }
}

async function read(address, headers = {}) {
  const response = await fetch(address, { headers });
  if (response.status >= 500) throw new Error(`${address}: ${response.status}`);
  return response.text();
}
