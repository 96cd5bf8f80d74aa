import { animalRepositorySuite, PredictableCryptography } from '@adoption-store/domain/testing';
import { framework } from './framework.js';
import { SqliteAnimalRepository } from './sqlite-animal-repository.js';

animalRepositorySuite(framework, 'SQLite', () => {
  const cryptography = new PredictableCryptography();
  const animals = new SqliteAnimalRepository((text) => cryptography.sha256(text));
  const close = async () => {
    animals.close();
  };
  return Promise.resolve({ ports: { animals, cryptography }, close });
});
