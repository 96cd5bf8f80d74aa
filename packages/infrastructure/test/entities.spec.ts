import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createDatabase, type TestDatabase } from '@adoption-store/test-support';
import { openDataSource } from '../src/database/data-source.js';

type DataSource = Awaited<ReturnType<typeof openDataSource>>;

let database: TestDatabase;
let dataSource: DataSource;
beforeAll(async () => {
  database = await createDatabase();
  dataSource = await openDataSource({ connectionString: database.url, max: 2 });
});
afterAll(async () => {
  await dataSource.destroy();
  await database.drop();
});

/** The output of `typeorm schema:log`: the statements that would change the database into the entities' schema. */
async function differences(): Promise<readonly string[]> {
  const { upQueries } = await dataSource.driver.createSchemaBuilder().log();
  return upQueries.map(({ query }) => query);
}

it('are what the migrations have made: TypeORM finds no difference', async () => {
  expect(dataSource.entityMetadatas.map(({ tableName }) => tableName).sort()).toEqual([
    'accounts',
    'animals',
    'api_keys',
    'categories',
    'messages',
    'orders',
    'sessions',
  ]);
  expect(await differences()).toEqual([]);
});

it.each([
  [
    'column',
    'ALTER TABLE animals ADD COLUMN forgotten text',
    'ALTER TABLE animals DROP COLUMN forgotten',
    /DROP COLUMN "forgotten"/,
  ],
  [
    'rule',
    'ALTER TABLE orders ADD CONSTRAINT other CHECK (id > 0)',
    'ALTER TABLE orders DROP CONSTRAINT other',
    /DROP CONSTRAINT "other"/,
  ],
  ['index', 'CREATE INDEX other ON sessions (used_at)', 'DROP INDEX other', /DROP INDEX .*"other"/],
])('would tell of a %s that they lack', async (_what, change, back, difference) => {
  await dataSource.query(change);
  const found = await differences();
  await dataSource.query(back);
  expect(found).toEqual([expect.stringMatching(difference)]);
});
