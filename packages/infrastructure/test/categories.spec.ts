import { AddCategory } from '@adoption-store/domain';
import { categoryRepositorySuite } from '@adoption-store/domain/testing';
import { ask, expectDatabaseErrors, explainingUrl, statementsDuring } from '@adoption-store/test-support';
import { expect, it } from '@jest/globals';
import { TypeOrmCategoryRepository } from '../src/categories/typeorm-category-repository.js';
import { openDataSource } from '../src/database/data-source.js';
import { entitySchemas } from '../src/entity-schemas.js';
import { openDatabase, openPostgres } from './databases.js';
import { framework } from './framework.js';

// An unknown category, and a race for a name.
expectDatabaseErrors('23503', '23505');

categoryRepositorySuite(framework, 'PostgreSQL', openPostgres);

it('finds an unused id in few tries, however many in a row are used', async () => {
  const used = 20_000;
  const { url, close } = await openDatabase();
  await ask(
    url,
    `INSERT INTO animals (name, name_key, category_id, status) SELECT 'Luna', 'luna', n, 'sold' FROM generate_series(1, ${used}) AS n`,
  );
  const statements = await statementsDuring(async () => {
    const dataSource = await openDataSource({ connectionString: explainingUrl(url), max: 1 }, entitySchemas);
    const addCategory = new AddCategory({ categories: new TypeOrmCategoryRepository(dataSource) });
    expect((await addCategory.execute({ name: 'Cats' })).id).toBeGreaterThan(BigInt(used));
    await dataSource.destroy();
  });
  // Twice the number of doublings, because a try in a wide enough range succeeds more often than not.
  expect(statements.length).toBeLessThan(60);
  await close();
});
