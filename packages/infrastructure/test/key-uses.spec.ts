import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { type ApiKeyId, type Instant, later, MINUTE } from '@adoption-store/domain';
import { TypeOrmApiKeyRepository } from '../src/accounts/typeorm-api-key-repository.js';
import { type Database, openDatabase } from './databases.js';
import { noon, storedRequester } from './request-counters.js';

let database: Database;
let keys: ApiKeyId[];

beforeAll(async () => {
  database = await openDatabase();
  // Counts the new versions of rows.
  await database.dataSource.query(`
    CREATE TABLE versions (last_used_at timestamptz);
    CREATE FUNCTION count_version() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN INSERT INTO versions VALUES (NEW.last_used_at); RETURN NULL; END $$;
    CREATE TRIGGER counted AFTER UPDATE ON api_keys FOR EACH ROW EXECUTE FUNCTION count_version();`);
});
beforeEach(async () => {
  keys = [];
  for (let made = 0; made < 30; made += 1) keys.push((await storedRequester(database)).keyId);
  await database.dataSource.query('TRUNCATE versions');
});
afterAll(() => database.close());

/** Another instance that has seen all keys used. */
async function use(at: Instant): Promise<void> {
  const instance = new TypeOrmApiKeyRepository(database.dataSource, (event) => {
    throw new Error(event);
  });
  for (const id of keys) instance.recordUse(id, at);
  await instance.close();
}

async function versions(): Promise<readonly unknown[]> {
  const text = 'SELECT last_used_at AS at, count(*)::int FROM versions GROUP BY last_used_at ORDER BY last_used_at';
  return database.dataSource.query(text);
}

it('a minute that is stored already, or is older, writes no new version of a key’s row', async () => {
  for (const at of [noon, noon, later(noon, -MINUTE), later(noon, MINUTE), noon]) await use(at);
  expect(await versions()).toEqual([
    { at: new Date(noon), count: keys.length },
    { at: new Date(later(noon, MINUTE)), count: keys.length },
  ]);
});

it('ten instances that report the same minute at the same time write one version of each row', async () => {
  await Promise.all(Array.from({ length: 10 }, () => use(noon)));
  expect(await versions()).toEqual([{ at: new Date(noon), count: keys.length }]);
});
