import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type AnimalId, type CategoryId, type DomainError, newAnimal } from '@adoption-store/domain';
import { animalImporterSuite } from '@adoption-store/domain/testing';
import { ask, until } from '@adoption-store/test-support';
import pg from 'pg';
import { openPostgres } from './databases.js';
import { framework } from './framework.js';

animalImporterSuite(framework, 'PostgreSQL', openPostgres);

describe('an import beside another transaction', () => {
  let opened: Awaited<ReturnType<typeof openPostgres>>;
  let other: pg.Client;
  beforeAll(async () => {
    opened = await openPostgres('strict');
    await opened.ports.categories.name({ id: 1n as CategoryId, name: 'known' });
    other = new pg.Client(opened.url);
    await other.connect();
  });
  afterAll(async () => {
    await other.end();
    await opened.close();
  });

  const draw = async () => {
    await other.query('BEGIN');
    const drawn = await other.query<{ id: string }>(`SELECT nextval('animals_id_seq') AS id`);
    return BigInt(drawn.rows[0]?.id ?? '') as AnimalId;
  };
  const insert = (id: AnimalId) =>
    other.query(`INSERT INTO animals (id, name, category_id, status) VALUES (${id}, 'other', 1, 'sold')`);
  const importing = (id: AnimalId | undefined, categoryId = 1n) => {
    async function* rows() {
      yield [{ line: 2, id, animal: newAnimal({ name: 'imported', categoryId }) }];
    }
    return opened.ports.animalImporter.importAll(rows(), () => true);
  };
  const waiting = (sessions = 1) =>
    until(async () => {
      const those = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
      return (await ask(opened.url, those)).length >= sessions;
    });
  const nameOf = async (id: AnimalId) => (await opened.ports.animals.findById(id))?.name;

  it.each(['before', 'while'])(
    'waits for the end of one that has drawn its id, and is refused if that adds the animal %s it runs',
    async (when) => {
      const id = await draw();
      if (when === 'before') await insert(id);
      const outcome = importing(id);
      await waiting();
      if (when === 'while') await insert(id);
      await other.query('COMMIT');
      expect((await outcome).refused.first).toEqual([{ line: 2, reason: `id ${id} is that of another animal` }]);
      expect(await nameOf(id)).toBe('other');
    },
  );

  it('keeps an id that another has drawn and given up', async () => {
    const id = await draw();
    await insert(id);
    const outcome = importing(id);
    await waiting();
    await other.query('ROLLBACK');
    expect((await outcome).refused.count).toBe(0);
    expect(await nameOf(id)).toBe('imported');
  });

  it('puts animals into no category that another removes', async () => {
    const { id } = await opened.ports.categories.add('removed');
    await other.query('BEGIN; LOCK TABLE animals IN SHARE MODE');
    const outcome = importing(undefined, id);
    await waiting();
    const removal = opened.ports.categories.remove(id).catch((error: unknown) => (error as DomainError).code);
    await Promise.race([removal, waiting(2)]);
    await other.query('COMMIT');
    expect((await outcome).refused.count).toBe(0);
    expect(await removal).toBe('category_in_use');
  });
});
