import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type AccountId, type Application, createApplication, type Instant } from '@adoption-store/domain';
import {
  accountMailPages,
  InMemoryAccountMailSender,
  InMemoryMessageSender,
  ManualClock,
  PredictablePasswordHasher,
} from '@adoption-store/domain/testing';
import {
  ask,
  createDatabase,
  explainingUrl,
  growingCosts,
  type RunStatement,
  statementsDuring,
  type TestDatabase,
} from '@adoption-store/test-support';
import type pg from 'pg';
import { openInfrastructure } from '../src/open-infrastructure.js';
import { everyUseCase } from './every-use-case.js';
import { FILLS, FINISH, ROWS } from './large-tables.js';

/** Most rows that a statement may read: the largest batches have 1,000. */
const MOST = 2_000;
/** Runs after which PostgreSQL may plan a prepared statement without its values. */
const RUNS = 7;
/** The only small table: it is read completely at each start. */
const SMALL_TABLES = ['migrations'];
/** Not used by a use case: the portal reads its one secret by primary key. */
const OTHERS_TABLES = ['secrets'];

let database: TestDatabase;
let tables: ReadonlySet<string>;
beforeAll(async () => {
  database = await createDatabase();
  const rows = await query<{ relname: string }>(`
    SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY relname`);
  const names = rows.map(({ relname }) => relname);
  tables = new Set(names.filter((name) => ![...SMALL_TABLES, ...OTHERS_TABLES].includes(name)));
  // Purging empties tables. After an autovacuum PostgreSQL would correctly read them completely.
  await query(names.map((name) => `ALTER TABLE ${name} SET (autovacuum_enabled = off);`).join(''));
  // Without triggers and foreign keys, so each table can be filled by itself.
  await Promise.all(FILLS.map((fill) => query(`SET session_replication_role = replica; ${fill}`)));
  await query(FINISH);
});
afterAll(() => database.drop());

const query = <Row extends pg.QueryResultRow>(text: string) => ask<Row>(database.url, text);

/** From the start of a process to its end. It uses one connection, so that statements are planned repeatedly. */
async function normalWork(only?: keyof Application): Promise<void> {
  const { ports, isReady, close } = await openInfrastructure({
    databaseUrl: explainingUrl(database.url),
    poolSize: 1,
  });
  const clock = new ManualClock(Date.now() as Instant);
  const sender = new InMemoryMessageSender();
  const mailer = new InMemoryAccountMailSender();
  const hasher = new PredictablePasswordHasher();
  const application = createApplication(
    { ...ports, clock, messageSender: sender, accountMailSender: mailer, passwordHasher: hasher },
    { accountMailPages },
  );
  await isReady();
  for (let run = 0; run < RUNS; run += 1) {
    const useCases = Object.entries(everyUseCase(application, { clock, sender, mailer, hasher, crowd }, run));
    expect(useCases.map(([name]) => name).sort()).toEqual(Object.keys(application).sort());
    for (const [name, work] of useCases) if (only === undefined || name === only) await work();
  }
  await close();
}

/** Uses another connection, because filling the table is not the service's statement. */
function crowd(accountId: AccountId, name: string): Promise<unknown> {
  return query(`
    INSERT INTO api_keys (account_id, hash, ending, created_at, expires_at)
    SELECT ${accountId}, encode(sha256(('${name}-' || n)::bytea), 'hex'), 'abcd', now(), now() - interval '1 day'
    FROM generate_series(1, ${2 * MOST}) AS n`);
}

function costsOf(statements: readonly RunStatement[]): readonly string[] {
  return [...new Set(statements.flatMap((statement) => growingCosts(statement, tables, MOST)))];
}

describe('of all the statements that the service sends', () => {
  it('none costs more the more rows there are', async () => {
    const sizes = await Promise.all(
      [...tables].map(async (table) => (await query<{ count: string }>(`SELECT count(*) FROM ${table}`))[0]?.count),
    );
    expect(sizes).toEqual([...tables].map(() => String(ROWS)));

    const statements = await statementsDuring(() => normalWork());

    expect(costsOf(statements)).toEqual([]);
    // Includes the statements of migrations, triggers and constraints.
    const seen = new Set(statements.map(({ text }) => text));
    for (const table of [...tables, ...SMALL_TABLES])
      expect([...seen].filter((text) => text.includes(table))).not.toEqual([]);
    expect(seen.size).toBeGreaterThan(40);
  });

  it.each([
    ['animals_by_status', 'listAnimals', /^reads .* of animals: SELECT .* WHERE \(status/],
    ['animals_by_category', 'listAnimals', /^reads .* of animals: SELECT .* unnest/],
    ['animals_by_category', 'removeCategory', /^reads all of animals: /],
    ['orders_by_account', 'listOrders', /^reads \d+ rows of orders: SELECT .* WHERE .*account_id/],
    ['messages_due', 'deliverMessages', /^reads all of messages: WITH due AS/],
    ['api_keys_by_account_and_end', 'showKeys', /^reads \d+ rows of api_keys: SELECT/],
    ['api_keys_by_end', 'purgeExpired', /^reads .* of api_keys: WITH portion/],
    ['account_mails_settled', 'purgeExpired', /^reads .* of account_mails: WITH portion/],
    ['messages_failed', 'listMessages', /^reads \d+ rows of messages: SELECT .*'failed'/],
    ['messages_by_account', 'listMessages', /^reads all of messages: SELECT/],
    ['messages_settled', 'purgeExpired', /^reads .* of messages: WITH portion/],
    ['idempotency_records_by_time', 'purgeExpired', /^reads all of idempotency_records: WITH portion/],
    ['request_counts_by_day', 'purgeExpired', /^reads .* of request_counts: WITH portion/],
    ['usage_by_hour_by_hour', 'purgeExpired', /^reads .* of usage_by_hour: WITH portion/],
    ['refusals_by_time', 'purgeExpired', /^reads .* of refusals: WITH portion/],
    ['key_bans_by_time', 'purgeExpired', /^reads .* of key_bans: WITH portion/],
  ] as const)('%s is why: without it a test like this fails', async (index, useCase, expected) => {
    const definition = await query<{ indexdef: string }>(
      `SELECT indexdef FROM pg_indexes WHERE indexname = '${index}'`,
    );
    await query(`DROP INDEX ${index}`);
    const costs = costsOf(await statementsDuring(() => normalWork(useCase)));
    await query(String(definition[0]?.indexdef));
    expect(costs).toContainEqual(expect.stringMatching(expected));
  });
});
