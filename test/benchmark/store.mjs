import { createHash, randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testPolicy } from '@adoption-store/domain/testing';
import { openEmbeddedPostgres } from '@adoption-store/embedded-postgres/testing';
import pg from 'pg';
import { root } from './services.mjs';

/** A durable PostgreSQL for one benchmark, in a temporary folder, with the schema of a build. */
export async function openStore(build = root) {
  const folder = mkdtempSync(join(tmpdir(), 'adoption-store-bench-'));
  const server = await openEmbeddedPostgres({ dataDirectory: folder, settings: { max_connections: '100' } });
  const store = await openDatabase(server.url, build);
  return {
    ...store,
    async close() {
      await store.close();
      await server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A database of that name on the same server, with the schema of another build. */
export async function openBeside({ client, url }, name, build) {
  await client.query(`CREATE DATABASE ${name}`);
  return openDatabase(beside(url, name), build);
}

async function openDatabase(url, build) {
  const { migrate } = await codeOf(build, 'infrastructure', 'testing');
  await migrate({ connectionString: url });
  const client = new pg.Client(url);
  await client.connect();
  const [{ server_version: version }] = (await client.query('SHOW server_version')).rows;
  const env = { PATH: process.env.PATH, NODE_ENV: 'production', DATABASE_URL: url };
  return {
    version: version.split(' ')[0],
    client,
    url,
    env,
    /** Settings of the API: no logs, and no lame-duck time. */
    settings: { ...env, PORT: '0', HOST: '127.0.0.1', LOG_LEVEL: 'error', ACCESS_LOG: 'off', LAME_DUCK: '0s' },
    fill: (animals) => fill(client, 'animals', animals),
    close: () => client.end(),
  };
}

function beside(url, name) {
  const other = new URL(url);
  other.pathname = `/${name}`;
  return other.href;
}

/** Adds animals up to that number, a third in each status. */
async function fill(client, table, animals) {
  // Without triggers: they would run for each row.
  await client.query('SET session_replication_role = replica');
  const status = table === 'pets' ? 'pet_status' : 'text';
  await client.query(`
    INSERT INTO ${table} (name, category_id, status)
    SELECT 'Animal ' || n, n % 20, (ARRAY['available', 'pending', 'sold'])[1 + n % 3]::${status}
    FROM generate_series((SELECT count(*) + 1 FROM ${table}), ${animals}) AS n`);
  await client.query('SET session_replication_role = origin');
  await client.query(`VACUUM ANALYZE ${table}`);
}

/** The peers' own database on the same server, with as many animals and the same key. Returns their environment. */
export async function openPeers({ client, url, env }, animals, key) {
  await client.query('CREATE DATABASE peers');
  const own = beside(url, 'peers');
  const peers = new pg.Client(own);
  await peers.connect();
  await peers.query(readFileSync(join(import.meta.dirname, 'peers/schema.sql'), 'utf8'));
  await fill(peers, 'pets', animals);
  const hash = createHash('sha256').update(key).digest();
  await peers.query(`INSERT INTO api_keys VALUES ($1, 'enterprise', 2000000000, 2000000000)`, [hash]);
  await peers.end();
  return { ...env, DATABASE_URL: own };
}

/** Opens that many accounts with a key each, in the schema of a build. Only the given limits apply. */
export async function openAccounts({ url }, count, limits = {}, build = root) {
  const [{ createApplication }, { openInfrastructure }] = await Promise.all([
    codeOf(build, 'domain'),
    codeOf(build, 'infrastructure'),
  ]);
  const policy = testPolicy();
  const { ports, close } = await openInfrastructure({ databaseUrl: url, poolSize: 10, policy });
  const { openAccount, issueKey } = createApplication(ports, policy);
  const plan = { name: 'enterprise', perMinute: 2_000_000_000, perDay: 2_000_000_000, ...limits };
  const keys = [];
  for (let index = 0; index < count; index++) {
    const { id: accountId } = await openAccount.execute({ email: `bench-${randomUUID()}@example.com`, plan });
    keys.push((await issueKey.execute({ accountId })).text);
  }
  await close();
  return keys;
}

/** What a package of a build exports. Opening its infrastructure migrates the database. */
function codeOf(build, name, module = 'index') {
  return import(join(build, 'packages', name, `dist/${module}.js`));
}
