import { AddCategory, decideAddition } from '@adoption-store/domain';
import { categoryRepositorySuite } from '@adoption-store/domain/testing';
import { ask, connectTo, expectDatabaseErrors, explainingUrl, statementsDuring } from '@adoption-store/test-support';
import { expect, it } from '@jest/globals';
import { TypeOrmCategoryRepository } from '../src/categories/typeorm-category-repository.js';
import { openDataSource } from '../src/database/data-source.js';
import { entitySchemas } from '../src/entity-schemas.js';
import { inTransaction } from '../src/database/transactions.js';
import { openDatabase, openPostgres, untilBlocked } from './databases.js';
import { framework } from './framework.js';

// An unknown category, and a race for a name.
expectDatabaseErrors('23503', '23505');

categoryRepositorySuite(framework, 'PostgreSQL', openPostgres);

it('finds an unused id in few tries, however many in a row are used', async () => {
  const used = 20_000;
  const { url, close } = await openDatabase();
  const dataSource = await openDataSource({ connectionString: explainingUrl(url), max: 1 }, entitySchemas);
  const addCategory = new AddCategory({ categories: new TypeOrmCategoryRepository(dataSource) });
  await ask(
    url,
    `INSERT INTO animals (name, category_id, status) SELECT 'Luna', n, 'sold' FROM generate_series(1, ${used}) AS n`,
  );
  const statements = await statementsDuring(async () => {
    expect((await addCategory.execute({ name: 'Cats' })).id).toBeGreaterThan(BigInt(used));
  });
  // Twice the number of doublings, because a try in a wide enough range succeeds more often than not.
  expect(statements.length).toBeLessThan(60);
  await dataSource.destroy();
  await close();
});

it('refuses a name that a process of the version before gives meanwhile, which takes no lock, and can go on', async () => {
  const { url, dataSource, close } = await openDatabase();
  const categories = new TypeOrmCategoryRepository(dataSource);
  const other = await connectTo(url);
  await other.query(`BEGIN; INSERT INTO categories (id, name, name_key) VALUES (7, 'Cats', 'cats')`);
  const added = inTransaction(dataSource, async (_manager, transaction) => {
    const add = (name: string) => categories.add(name, (state) => decideAddition(state, { name }), transaction);
    await expect(add('CATS')).rejects.toMatchObject({ code: 'category_name_taken' });
    return add('Dogs');
  });
  await untilBlocked(url);
  await other.query('COMMIT');
  expect(await categories.findById((await added).id)).toEqual(await added);
  await other.end();
  await close();
});
