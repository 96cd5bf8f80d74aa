import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ask, MIGRATE, nameOf, openAnotherPostgres, run, until } from '@adoption-store/test-support';
import { ROLES, tell } from '../support/operator-scripts.js';
import { issueKey, startApi, startWorker } from '../support/services.js';

/** The tables in which the services' role may not add, change and delete rows. */
const LIMITED: Readonly<Record<string, string>> = {
  migrations: 'SELECT',
  deployment: 'SELECT, UPDATE',
  event_feed: 'SELECT, UPDATE',
  secrets: 'SELECT, INSERT',
};

describe('roles.sql', () => {
  let database: Awaited<ReturnType<typeof openAnotherPostgres>>;

  // The roles of a server belong to all of its databases.
  beforeEach(async () => {
    database = await openAnotherPostgres('store');
  });

  afterEach(() => database.close());

  it('lets a role that is no superuser prepare the services’ role, which serves and can change no table', async () => {
    await runAsAdministrator();
    expect(await run(MIGRATE, [], { DATABASE_URL: as('store_owner') })).toMatchObject({ code: 0, stderr: '' });
    const settings = { DATABASE_URL: as('store_a') };
    const key = await issueKey(settings, 'dev@example.com');
    const [{ service, origin }, worker] = await Promise.all([startApi(settings), startWorker(settings)]);
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const body = '{"message":"Is Luna there?"}';
    expect(await fetch(`${origin}/v1/messages`, { method: 'POST', headers, body })).toMatchObject({ status: 202 });
    await until(async () => (await tell(as('store_a'), `SELECT FROM messages WHERE status = 'sent'`)).length === 1);
    for (const each of [service, worker.service]) expect(await each.stop()).toMatchObject({ code: 0, stderr: '' });
    await expectNoChangeOfTables();
  });

  it('lets a service start only once the schema is up to date, and names the role that must migrate', async () => {
    await runAsAdministrator();
    const { code, stderr } = await run(MIGRATE, [], { DATABASE_URL: as('store_a') });
    expect(code).toBe(1);
    expect(stderr).toMatch(/its schema is not up to date, .* run migrate as the role that owns it\n$/);
    expect(stderr).not.toContain(' at ');
    await run(MIGRATE, [], { DATABASE_URL: as('store_owner') });
    expect(await run(MIGRATE, [], { DATABASE_URL: as('store_b') })).toMatchObject({ code: 0, stderr: '' });
  });

  it('keeps from the services’ role what would stop every service, whoever grants first', async () => {
    const asOwner = { DATABASE_URL: as('store_owner') };
    await runAsAdministrator();
    expect(await run(MIGRATE, [], asOwner)).toMatchObject({ code: 0, stderr: '' });
    await expectLimitedRights();
    await tell(as('store_admin'), ROLES);
    await expectLimitedRights();
    // As by default privileges of somebody else, or in a restore.
    await tell(as('store_owner'), `GRANT ALL ON ${Object.keys(LIMITED).join()} TO store_serving, PUBLIC`);
    expect(await run(MIGRATE, [], asOwner)).toMatchObject({ code: 0, stderr: '' });
    await expectLimitedRights();
  });

  it('does so in a database that had one role until now', async () => {
    expect(await run(MIGRATE, [], { DATABASE_URL: database.url })).toMatchObject({ code: 0, stderr: '' });
    await tell(database.url, ROLES);
    await expectLimitedRights();
  });

  /** Runs the script as a role that isn't a superuser, and enables the logins. */
  async function runAsAdministrator(): Promise<void> {
    const create = 'CREATE ROLE store_admin LOGIN CREATEROLE';
    await ask(database.url, `${create}; ALTER DATABASE ${nameOf(database)} OWNER TO store_admin`);
    await tell(as('store_admin'), ROLES);
    await tell(as('store_admin'), 'ALTER ROLE store_owner LOGIN; ALTER ROLE store_a LOGIN; ALTER ROLE store_b LOGIN');
  }

  function as(role: string): string {
    return database.url.replace('user=postgres', `user=${role}`);
  }

  async function expectLimitedRights(): Promise<void> {
    const rows = await ask<{ table: string; rights: string }>(
      database.url,
      `SELECT relname AS table, string_agg(name, ', ' ORDER BY place) AS rights
       FROM pg_class, unnest('{SELECT,INSERT,UPDATE,DELETE,TRUNCATE,REFERENCES,TRIGGER}'::text[])
         WITH ORDINALITY AS every (name, place)
       WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND has_table_privilege('store_a', oid, name)
       GROUP BY relname`,
    );
    const tables = rows.map(({ table }) => table);
    expect(tables).toEqual(expect.arrayContaining(Object.keys(LIMITED)));
    expect(rows).toEqual(
      tables.map((table) => ({ table, rights: LIMITED[table] ?? 'SELECT, INSERT, UPDATE, DELETE' })),
    );
  }

  async function expectNoChangeOfTables(): Promise<void> {
    const statements = [
      'CREATE TABLE more ()',
      'CREATE FUNCTION more() RETURNS integer LANGUAGE sql AS $$ SELECT 1 $$',
      'ALTER TABLE animals ADD COLUMN more text',
      'ALTER TABLE api_keys DISABLE TRIGGER api_keys_changed',
      'TRUNCATE sessions',
      'DELETE FROM migrations',
      'UPDATE migrations SET name = name',
      "INSERT INTO migrations (timestamp, name) VALUES (1, 'a')",
      'DELETE FROM event_feed',
      'DELETE FROM deployment',
      "UPDATE secrets SET value = repeat('a', 32)",
      "SELECT setval('category_ids', 9e15::bigint)",
      'CREATE TEMPORARY TABLE more ()',
      'CREATE SCHEMA more',
      'DROP POLICY secrets_of_writers ON secrets',
      'SET ROLE store_owner',
    ];
    for (const statement of statements) {
      await expect(tell(as('store_a'), statement)).rejects.toThrow(/permission denied|must be owner/);
    }
  }
});
