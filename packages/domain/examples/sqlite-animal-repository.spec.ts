import type { Transaction } from '@adoption-store/domain';
import { animalRepositorySuite, type OpenedAnimals, type StoredEvent } from '@adoption-store/domain/testing';
import sqlite from 'node-sqlite3-wasm';
import { framework } from './framework.js';
import { SqliteAnimalRepository } from './sqlite-animal-repository.js';

async function open(): Promise<OpenedAnimals> {
  const database = new sqlite.Database();
  const animals = new SqliteAnimalRepository(database);
  return {
    ports: { animals },
    transact: async (work) => {
      database.exec('BEGIN');
      try {
        const result = await work({} as Transaction);
        database.exec('COMMIT');
        return result;
      } catch (error) {
        database.exec('ROLLBACK');
        throw error;
      }
    },
    order: async (id, status) => {
      database.run('INSERT INTO orders (animal_id, status) VALUES (?, ?)', [id, status]);
    },
    storedEvents: async () =>
      database.all('SELECT type, data FROM events ORDER BY place') as unknown as readonly StoredEvent[],
    close: async () => {
      database.close();
    },
  };
}

animalRepositorySuite(framework, 'SQLite', open);
