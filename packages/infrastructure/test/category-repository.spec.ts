import { expect, it } from '@jest/globals';
import type { CategoryId } from '@adoption-store/domain';
import { categoryRepositorySuite } from '@adoption-store/domain/testing';
import { ask, explainingUrl, statementsDuring } from '@adoption-store/test-support';
import { PostgresAnimalRepository } from '../src/animals/postgres-animal-repository.js';
import { PostgresCategoryRepository } from '../src/categories/postgres-category-repository.js';
import { openDataSource } from '../src/database/data-source.js';
import { nodeCryptography } from '../src/kernel/node-cryptography.js';
import { openDatabase, openPostgres } from './databases.js';
import { framework } from './framework.js';

categoryRepositorySuite(framework, 'PostgreSQL', openPostgres);

// Without the decorator by which requests share queries.
categoryRepositorySuite(framework, 'PostgreSQL, each by itself', async (policy) => {
  const { dataSource, close } = await openDatabase();
  const animals = new PostgresAnimalRepository(dataSource, policy);
  return {
    ports: { animals, categories: new PostgresCategoryRepository(dataSource), cryptography: nodeCryptography },
    close,
  };
});

it('finds an unused id in few tries, however many in a row are used', async () => {
  const used = 100_000;
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
  for (let round = 0; round < 50; round += 1) {
    const category = { id: BigInt(round) as CategoryId, name: `Kind ${round}` };
    const named = await Promise.all(Array.from({ length: 5 }, () => categories.name(category)));
    expect(named.filter((isNew) => isNew)).toHaveLength(1);
  }
  await close();
});
