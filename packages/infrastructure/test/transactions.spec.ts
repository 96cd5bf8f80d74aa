import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createDatabase, type TestDatabase } from '@adoption-store/test-support';
import pg from 'pg';
import { openDataSource } from '../src/database/data-source.js';

let database: TestDatabase;
let dataSource: Awaited<ReturnType<typeof openDataSource>>;
let other: pg.Client;

beforeAll(async () => {
  database = await createDatabase();
  dataSource = await openDataSource({ connectionString: database.url, max: 2 });
  other = new pg.Client(database.url);
  await other.connect();
});

afterAll(async () => {
  await other.end();
  await dataSource.destroy();
  await database.drop();
});

it('that stays idle, as that of a frozen process does, loses its locks and is not committed', async () => {
  const idle = dataSource.createQueryRunner();
  await idle.startTransaction();
  await idle.query('LOCK TABLE animals');
  await expect(other.query('SELECT count(*) FROM animals')).resolves.toMatchObject({ rowCount: 1 });
  await expect(idle.commitTransaction()).rejects.toThrow();
});
