import { type AccountId, createApplication, type Instant } from '@adoption-store/domain';
import {
  InMemoryAccountMailSender,
  InMemoryDeployment,
  InMemoryMessageSender,
  InMemoryWebhookSender,
  ManualClock,
  PredictablePasswordHasher,
  testPolicy,
} from '@adoption-store/domain/testing';
import {
  ask,
  connectTo,
  createDatabase,
  EMPTY,
  explainingUrl,
  growingCosts,
  type RunStatement,
  statementsDuring,
  type TestDatabase,
  until,
} from '@adoption-store/test-support';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { migrate, MIGRATION_LOCK } from '../src/database/migrate.js';
import * as migrations from '../src/database/migrations/index.js';
import { openInfrastructure } from '../src/open-infrastructure.js';
import { openDatabase } from './databases.js';
import { everyUseCase } from './every-use-case.js';
import { FILLS, FINISH, ROWS } from './large-tables.js';
import { problemsOf } from './migration-rules.js';

describe('migrations', () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await createDatabase(EMPTY);
  });
  afterEach(() => database.drop());

  async function query(text: string): Promise<readonly unknown[]> {
    const client = await connectTo(database.url);
    try {
      return (await client.query<Record<string, unknown>>(text)).rows;
    } finally {
      await client.end();
    }
  }

  it('lets many instances start at once on an empty database', async () => {
    const open = () => openInfrastructure({ policy: testPolicy(), databaseUrl: database.url, poolSize: 2 });
    const instances = await Promise.all(Array.from({ length: 8 }, open));
    const lists = await Promise.all(instances.map(({ ports }) => ports.animals.list({ limit: 1 })));
    expect(lists).toEqual(instances.map(() => []));
    await Promise.all(instances.map(({ close }) => close()));
    expect(await query('SELECT count(*)::int AS count FROM (SELECT DISTINCT name FROM migrations) AS names')).toEqual(
      await query('SELECT count(*)::int AS count FROM migrations'),
    );
  });

  describe('a migration', () => {
    let other: pg.Client;
    beforeEach(async () => {
      await migrate({ connectionString: database.url });
      other = await connectTo(database.url);
    });
    afterEach(() => other.end());

    it('that waits for another one lets an index be built CONCURRENTLY meanwhile', async () => {
      await other.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
      const waiting = migrate({ connectionString: database.url });
      const sessions = () =>
        query(`SELECT FROM pg_stat_activity WHERE query ~ 'advisory_lock' AND datname = current_database()`);
      await until(async () => (await sessions()).length > 1);
      await other.query(`SET statement_timeout = 10000`);
      await other.query('CREATE INDEX CONCURRENTLY animals_by_name ON animals (name)');
      await other.query('SELECT pg_advisory_unlock($1)', [MIGRATION_LOCK]);
      await waiting;
    });

    it('that waits too long for another one is given up with a sentence', async () => {
      await other.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
      await expect(migrate({ connectionString: database.url }, undefined, 0)).rejects.toThrow(
        'another process has been migrating it for 10 minutes, or a pooler has kept the lock of one: try again later',
      );
    });
  });
});

it('no migration blocks others for long', async () => {
  for (const Migration of Object.values(migrations)) {
    const migration: Pick<MigrationInterface, 'up' | 'transaction'> = new Migration();
    const statements: string[] = [];
    const query = async (text: string) => {
      statements.push(text);
      return [];
    };
    await migration.up({ query } as unknown as QueryRunner);
    expect(problemsOf({ statements, isTransaction: migration.transaction !== false })).toEqual([]);
  }
});

it('the entities have the columns that the migrations have made: TypeORM finds no difference', async () => {
  const { dataSource, close } = await openDatabase();
  expect(dataSource.entityMetadatas).toHaveLength(8);
  // As `typeorm schema:log` does: the statements that would turn the database's schema into that of the entities.
  const { upQueries } = await dataSource.driver.createSchemaBuilder().log();
  // Only the migrations have indexes and constraints: no query of TypeORM reads them of an entity.
  const ofMigrations = /^(?:DROP INDEX|ALTER TABLE \S+ DROP CONSTRAINT) /;
  expect(upQueries.map(({ query }) => query).filter((text) => !ofMigrations.test(text))).toEqual([]);
  await close();
});

describe('query plans', () => {
  /** Most rows that a statement may read: the largest batches have 1,000. */
  const MOST = 2_000;
  /** The service's connections plan each prepared statement once, without its values; the second run meets the first one's rows. */
  const RUNS = 2;
  /** One is read completely at each start, and the other has one row. */
  const SMALL_TABLES = ['migrations', 'event_feed'];
  /** Not used by a use case: the portal reads its one secret by primary key, and `deployment` has one row. */
  const OTHERS_TABLES = ['secrets', 'deployment'];

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
  async function normalWork(): Promise<void> {
    const { ports, isReady, close } = await openInfrastructure({
      policy: testPolicy(),
      databaseUrl: explainingUrl(database.url),
      poolSize: 1,
    });
    const surroundings = {
      clock: new ManualClock(Date.now() as Instant),
      messageSender: new InMemoryMessageSender(),
      accountMailSender: new InMemoryAccountMailSender(),
      webhookSender: new InMemoryWebhookSender(),
      passwordHasher: new PredictablePasswordHasher(),
    };
    const application = createApplication({ ...ports, ...surroundings }, testPolicy(), { delivery: { batch: 10 } });
    const unrecorded = { ...ports, ...surroundings, deployment: new InMemoryDeployment() };
    const withoutMail = createApplication(unrecorded, testPolicy(), { opensUnproven: true });
    await until(isReady);
    await application.recordPortal.execute('https://portal.example.com');
    for (let run = 0; run < RUNS; run += 1) {
      for (const work of Object.values(everyUseCase(application, { ...surroundings, withoutMail, crowd }, run)))
        await work();
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

      const statements = await statementsDuring(normalWork);

      expect(costsOf(statements)).toEqual([]);
      // Includes the statements of migrations, triggers and constraints.
      const seen = new Set(statements.map(({ text }) => text));
      for (const table of [...tables, ...SMALL_TABLES])
        expect([...seen].filter((text) => text.includes(table))).not.toEqual([]);
      expect(seen.size).toBeGreaterThan(40);
    });
  });
});
