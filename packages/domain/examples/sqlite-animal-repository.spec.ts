import { animalRepositorySuite } from '@adoption-store/domain/testing';
import { framework } from './framework.js';
import { SqliteAnimalRepository } from './sqlite-animal-repository.js';

animalRepositorySuite(framework, 'SQLite', () => {
  const animals = new SqliteAnimalRepository();
  const close = async () => {
    animals.close();
  };
  return Promise.resolve({ ports: { animals }, close });
});
