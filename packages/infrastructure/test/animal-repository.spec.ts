import { animalRepositorySuite } from '@adoption-store/domain/testing';
import { PostgresAnimalRepository } from '../src/animals/postgres-animal-repository.js';
import { nodeCryptography } from '../src/kernel/node-cryptography.js';
import { openDatabase, openPostgres } from './databases.js';
import { framework } from './framework.js';

animalRepositorySuite(framework, 'PostgreSQL', openPostgres);

// Without the decorator by which requests share queries.
animalRepositorySuite(framework, 'PostgreSQL, each by itself', async () => {
  const { dataSource, close } = await openDatabase();
  return { ports: { animals: new PostgresAnimalRepository(dataSource), cryptography: nodeCryptography }, close };
});
