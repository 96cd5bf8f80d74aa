import { Agent } from 'node:http';
import { performance } from 'node:perf_hooks';
import { createApplication } from '@adoption-store/domain';
import { openInfrastructure } from '@adoption-store/infrastructure';
import { send } from './client.mjs';
import { startPortal } from './services.mjs';
import { openStore } from './store.mjs';
import { round } from './turns.mjs';
import { signIn } from './visitor.mjs';

const EMAIL = 'bench@example.com';
const PASSWORD = 'a fairly long pass phrase';
const ANIMALS = 60_000;
/** Each page is read so many times. */
const TIMES = 100;

/** The pages of a person with an old account. Of those that `walk`, every page is read, along the links to the next one. */
const pagesOf = (keyId) => [
  { path: '/keys' },
  { path: '/keys?state=all', walk: true },
  { path: '/keys?state=revoked&name=shop+1', walk: true },
  { path: '/keys?state=expired' },
  { path: '/keys?state=all&name=nothing' },
  { path: '/usage' },
  { path: `/usage?key=${keyId}` },
  { path: '/refusals' },
  { path: '/refusals?request=request-907' },
  { path: '/plan' },
  { path: '/account' },
  { path: '/quickstart' },
  { path: '/catalogue' },
  { path: '/catalogue?status=sold' },
  { path: '/catalogue?categoryId=7' },
  { path: '/categories', walk: true },
  { path: '/orders', walk: true },
  { path: '/orders?status=cancelled' },
  { path: '/messages', walk: true },
];

/** Rows of the account $1. */
const ROWS = [
  `INSERT INTO api_keys (account_id, hash, ending, name, created_at, revoked_at, last_used_at)
   SELECT $1, encode(sha256(n::text::bytea), 'hex'), 'abcd', 'shop ' || n, now() - n * interval '1 hour',
     now() - n * interval '59 minutes', now() - n * interval '59 minutes'
   FROM generate_series(1, 10000) AS n`,
  `INSERT INTO usage_by_day (account_id, day, key_id, admitted, refused)
   SELECT $1, (now() AT TIME ZONE 'UTC')::date - n, id, 1000, 1 FROM generate_series(0, 89) AS n,
     (SELECT id FROM api_keys WHERE account_id = $1 ORDER BY id DESC LIMIT 100) AS keys`,
  `INSERT INTO usage_by_hour (account_id, hour, key_id, admitted, refused, last_at)
   SELECT $1, date_trunc('hour', now()) - n * interval '1 hour', id, 100, 1, now() FROM generate_series(0, 49) AS n,
     (SELECT id FROM api_keys WHERE account_id = $1 ORDER BY id DESC LIMIT 100) AS keys`,
  `INSERT INTO refusals (account_id, at, id, key_id, operation, code, request_id)
   SELECT $1, now() - n * interval '1 second', n, id, 'GET /v1/pets', 'rate_limited', 'request-' || n
   FROM (SELECT row_number() OVER (ORDER BY id DESC) AS n, id FROM api_keys WHERE account_id = $1 LIMIT 1000) AS keys`,
  `INSERT INTO orders (account_id, animal_id, status, created_at, updated_at)
   SELECT $1, 3 * n, 'cancelled', now() - n * interval '1 hour', now() FROM generate_series(1, 10000) AS n`,
  `INSERT INTO messages (id, account_id, text, status, due_at, created_at)
   SELECT 'msg_' || n, $1, 'A question.', 'sent', now(), now() - n * interval '1 hour' FROM generate_series(1, 10000) AS n`,
  `INSERT INTO categories (id, name, name_key) SELECT n, 'Kind ' || n, 'kind ' || n FROM generate_series(1, 1000) AS n`,
];

/** Measures the portal's pages for an account with 10,000 past keys and 1,000 refusals: what one person waits for. */
export async function measurePortal() {
  const store = await openStore();
  await store.fill(ANIMALS);
  const { accountId, keyId } = await openAccount(store.url);
  for (const text of ROWS) await store.client.query(text, text.includes('$1') ? [accountId] : []);
  await store.client.query('VACUUM ANALYZE');
  const settings = { PORTAL_PORT: '0', PORTAL_METRICS_PORT: '0', PORTAL_HOST: '127.0.0.1', LOG_LEVEL: 'error' };
  const portal = await startPortal({ ...store.env, ...settings });
  const cookie = await signIn(portal.origin, EMAIL, PASSWORD);
  const agent = new Agent({ keepAlive: true });
  const read = async (path) => {
    const startedAt = performance.now();
    const { status, text } = await send(agent, portal.origin, { path, headers: { cookie } });
    if (status !== 200) throw new Error(`${path} was ${status}: ${text}`);
    return { took: performance.now() - startedAt, text };
  };
  const table = {};
  for (const { path, walk = false } of pagesOf(keyId)) {
    const latencies = await (walk ? readAlong(read, path) : readAgain(read, path));
    latencies.sort((one, other) => one - other);
    const at = (share) => round(latencies[Math.floor(latencies.length * share)], 1);
    const name = walk ? `${path}, every page` : path;
    table[name] = { pages: latencies.length, 'p50, ms': at(0.5), 'p95, ms': at(0.95) };
  }
  console.table(table);
  agent.destroy();
  await portal.stop();
  await store.close();
}

/** An account with 25 active keys. */
async function openAccount(databaseUrl) {
  const { ports, close } = await openInfrastructure({ databaseUrl, poolSize: 2 });
  const { signUp, issueKey } = createApplication(ports);
  const { id: accountId } = await signUp.execute({ email: EMAIL, password: PASSWORD });
  const issued = [];
  for (let index = 0; index < 25; index++) issued.push(await issueKey.execute({ accountId, name: `Key ${index}` }));
  await close();
  return { accountId, keyId: issued[0].key.id };
}

async function readAgain(read, path) {
  for (let warm = 0; warm < 10; warm++) await read(path);
  const latencies = [];
  for (let time = 0; time < TIMES; time++) latencies.push((await read(path)).took);
  return latencies;
}

async function readAlong(read, from) {
  const latencies = [];
  for (let path = from; path !== undefined;) {
    const { took, text } = await read(path);
    latencies.push(took);
    path = /href="([^"]+)" rel="next"/.exec(text)?.[1].replaceAll('&amp;', '&');
  }
  return latencies;
}
