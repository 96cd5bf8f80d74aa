import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateKeyText } from '@adoption-store/domain';
import { openEmbeddedPostgres } from '@adoption-store/embedded-postgres/testing';
import pg from 'pg';
import { root } from './services.mjs';

const LIMIT = 2_000_000_000;

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
  const { migrate } = await import(join(build, 'packages/infrastructure/dist/testing.js'));
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
  const [status, key] = table === 'pets' ? ['pet_status', ''] : ['text', 'name_key, '];
  await client.query(`
    INSERT INTO ${table} (name, ${key}category_id, status)
    SELECT 'Animal ' || n, ${key && "'animal ' || n, "}n % 20, (ARRAY['available', 'pending', 'sold'])[1 + n % 3]::${status}
    FROM generate_series((SELECT count(*) + 1 FROM ${table}), ${animals}) AS n`);
  await client.query('SET session_replication_role = origin');
  await client.query(`VACUUM ANALYZE ${table}`);
}

/** The expert's own database on the same server, with as many animals and the same key. Returns its environment. */
export async function openExpertsDatabase({ client, url, env }, animals, key) {
  await client.query('CREATE DATABASE expert');
  const own = beside(url, 'expert');
  const expert = new pg.Client(own);
  await expert.connect();
  await expert.query(readFileSync(join(import.meta.dirname, 'expert.sql'), 'utf8'));
  await fill(expert, 'pets', animals);
  const hash = createHash('sha256').update(key).digest();
  await expert.query(`INSERT INTO api_keys VALUES ($1, 'enterprise', ${LIMIT}, ${LIMIT})`, [hash]);
  await expert.end();
  return { ...env, DATABASE_URL: own };
}

/** Stores that many accounts with a key each, like those of the use cases, which would take long. No limit stops them. */
export async function openAccounts({ client }, count) {
  const keys = Array.from({ length: count }, () => generateKeyText('live', { randomBytes }));
  const hashes = keys.map((key) => createHash('sha256').update(key).digest('hex'));
  const text = `
    WITH opened AS (
      INSERT INTO accounts (email, canonical_email, plan, per_minute, per_day, created_at)
      SELECT address, address, 'enterprise', ${LIMIT}, ${LIMIT}, now()
      FROM unnest($1::text[]) AS hash, concat(hash, '@example.com') AS address
      RETURNING id, email
    )
    INSERT INTO api_keys (account_id, hash, ending, created_at)
    SELECT opened.id, hash, ending, now()
    FROM unnest($1::text[], $2::text[]) AS made (hash, ending) JOIN opened ON email = concat(hash, '@example.com')`;
  await client.query(text, [hashes, keys.map((key) => key.slice(-4))]);
  await client.query('VACUUM ANALYZE accounts, api_keys');
  return keys;
}
