import type { CategoryId } from '@adoption-store/domain';
import { categoryRepositorySuite } from '@adoption-store/domain/testing';
import { ask, explainingUrl, statementsDuring, until } from '@adoption-store/test-support';
import { expect, it } from '@jest/globals';
import pg from 'pg';
import { PostgresCategoryRepository } from '../src/categories/postgres-category-repository.js';
import { openDataSource } from '../src/database/data-source.js';
import { openDatabase, openPostgres } from './databases.js';
import { framework } from './framework.js';

categoryRepositorySuite(framework, 'PostgreSQL', openPostgres);

it('finds an unused id in few tries, however many in a row are used', async () => {
  const used = 20_000;
  const { url, close } = await openDatabase();
  const dataSource = await openDataSource({ connectionString: explainingUrl(url), max: 1 });
  const categories = new PostgresCategoryRepository(dataSource);
  await ask(
    url,
    `INSERT INTO animals (name, category_id, status) SELECT 'Luna', n, 'sold' FROM generate_series(1, ${used}) AS n`,
  );
  const statements = await statementsDuring(async () => {
    expect((await categories.add('Cats')).id).toBeGreaterThan(BigInt(used));
  });
  // Twice as many as doublings: a try beyond the used ones succeeds with a chance of more than a half.
  expect(statements.length).toBeLessThan(60);
  await dataSource.destroy();
  await close();
});

it('names one new id alike for all concurrent callers, also after a restore, which builds the indexes in another order', async () => {
  const { url, dataSource, close } = await openDatabase();
  const categories = new PostgresCategoryRepository(dataSource);
  await ask(url, 'ALTER TABLE categories DROP CONSTRAINT categories_pkey, ADD PRIMARY KEY (id)');
  for (let round = 0; round < 10; round += 1) {
    const category = { id: BigInt(round) as CategoryId, name: `Kind ${round}` };
    const named = await Promise.all(Array.from({ length: 5 }, () => categories.name(category)));
    expect(named.filter((isNew) => isNew)).toHaveLength(1);
  }
  await close();
});

it('refuses a name that another category gives up only if this one does, without a deadlock as its outcome', async () => {
  const { url, dataSource, close } = await openDatabase();
  const categories = new PostgresCategoryRepository(dataSource);
  const [cats, dogs] = [await categories.add('Cats'), await categories.add('Dogs')];
  const other = new pg.Client({ connectionString: url });
  await other.connect();
  // Of the two, the one that has waited for longer looks for a deadlock first, and is ended.
  await other.query("BEGIN; SET LOCAL deadlock_timeout = '1h'");
  await other.query(`UPDATE categories SET name = 'Dogs', name_key = 'hounds' WHERE id = ${cats.id}`);
  const renamed = categories.name({ id: dogs.id, name: 'Cats' }).catch((error: unknown) => error);
  await until(async () => (await ask(url, 'SELECT FROM pg_locks WHERE NOT granted')).length > 0);
  await other.query(`UPDATE categories SET name_key = 'dogs' WHERE id = ${dogs.id}`);
  await other.query('ROLLBACK');
  expect(await renamed).toMatchObject({ code: 'category_name_taken' });
  await other.end();
  await close();
});
