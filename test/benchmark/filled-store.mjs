import { createHash, randomInt } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { createApplication, generateKeyText } from '@adoption-store/domain';
import { openInfrastructure } from '@adoption-store/infrastructure';
import { migrate } from '@adoption-store/infrastructure/testing';
import pg from 'pg';
import { openStore } from './store.mjs';
import { fills, NOW, YEAR } from './year-rows.mjs';

/** The database that it is compared with: enough animals for the benchmark's own orders. */
export const NEW = { accounts: 10, animals: 60_000 };

export const PASSWORD = 'a fairly long pass phrase';
export const EMAIL = 'bench@example.com';
/** It has no orders at first: the limit on placed orders counts them. */
const ORDERING = 'orders@example.com';

const sha256 = (text) => createHash('sha256').update(text).digest('hex');
const cryptography = { randomBytes: (size) => Uint8Array.from({ length: size }, () => randomInt(256)) };

/** Rows of the benchmark's own account $1, the same in every database. */
const OWN = [
  `INSERT INTO usage_by_day (account_id, day, key_id, admitted, refused)
   SELECT $1, (now() AT TIME ZONE 'UTC')::date - n, (SELECT max(id) FROM api_keys WHERE account_id = $1), 1000, 1
   FROM generate_series(1, 60) AS n`,
  `INSERT INTO messages (id, account_id, text, status, due_at, created_at)
   SELECT gen_random_uuid(), $1, 'A question.', 'sent', ${NOW}, ${NOW} FROM generate_series(1, 200)`,
  `WITH taken AS (
     UPDATE animals SET status = 'pending'
     WHERE id IN (SELECT id FROM animals WHERE status = 'available' ORDER BY id DESC LIMIT 12000) RETURNING id)
   INSERT INTO orders (account_id, animal_id, status, created_at, updated_at)
   SELECT $1, id, 'placed', ${NOW}, ${NOW} FROM taken`,
];

/** A database of a running server, with `rows` and that many known keys of the first accounts. */
async function fill(url, rows, known) {
  await migrate({ connectionString: url });
  const client = new pg.Client(url);
  await client.connect();
  // Without triggers and foreign keys: they would be checked a million times.
  await client.query('SET session_replication_role = replica');
  for (const text of fills(rows)) await client.query(text);
  const keys = Array.from({ length: known }, () => generateKeyText('live', cryptography));
  await client.query(
    `INSERT INTO api_keys (account_id, hash, ending, created_at, last_used_at)
     SELECT n, coalesce(hash, encode(sha256(n::text::bytea), 'hex')), 'abcd', now(), now() - interval '1 hour'
     FROM generate_series(1, ${rows.accounts}) AS n LEFT JOIN unnest($1::text[]) WITH ORDINALITY AS of (hash, n) USING (n)
     ORDER BY n`,
    [keys.map(sha256)],
  );
  await client.query('SET session_replication_role = origin');
  const own = await openAccount(url, EMAIL);
  const ordering = await openAccount(url, ORDERING);
  for (const text of OWN) await client.query(text, text.includes('$1') ? [own.accountId] : []);
  await client.query('VACUUM ANALYZE');
  await client.query('CHECKPOINT');
  return { url, client, keys, ...own, orderingKey: ordering.key, close: () => client.end() };
}

/** An account of the benchmark itself, with a password, 25 keys and no limits. */
async function openAccount(databaseUrl, email) {
  const { ports, close } = await openInfrastructure({ databaseUrl, poolSize: 2 });
  const { signUp, changePlan, issueKey } = createApplication(ports);
  const { id: accountId } = await signUp.execute({ email, password: PASSWORD });
  await changePlan.execute({ email, plan: { name: 'enterprise', perMinute: 2e9, perDay: 2e9 } });
  let key;
  for (let index = 0; index < 25; index++) key = (await issueKey.execute({ accountId })).text;
  await close();
  return { accountId, key };
}

/**
 * One server with a database after a year and, if asked, a new one.
 *
 * @param known keys of the first accounts whose texts are returned.
 */
export async function openFilledStore({ rows = YEAR, known = 0, isCompared = true } = {}) {
  const store = await openStore();
  const startedAt = performance.now();
  const year = await fill(store.url, rows, known);
  console.log(`The database was filled in ${((performance.now() - startedAt) / 1_000).toFixed(0)} s.`);
  let fresh;
  if (isCompared) {
    await store.client.query('CREATE DATABASE fresh');
    const url = new globalThis.URL(store.url);
    url.pathname = '/fresh';
    fresh = await fill(url.href, NEW, 0);
  }
  return {
    ...store,
    rows,
    year,
    fresh,
    async close() {
      await year.close();
      await fresh?.close();
      await store.close();
    },
  };
}
