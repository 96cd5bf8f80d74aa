import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type AnimalId, newAnimal } from '@adoption-store/domain';
import { animalImporterSuite } from '@adoption-store/domain/testing';
import { ask, until } from '@adoption-store/test-support';
import pg from 'pg';
import { openPostgres } from './databases.js';
import { framework } from './framework.js';

animalImporterSuite(framework, 'PostgreSQL', openPostgres);

describe('an import of the id that another transaction has drawn', () => {
  let opened: Awaited<ReturnType<typeof openPostgres>>;
  let other: pg.Client;
  beforeAll(async () => {
    opened = await openPostgres();
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
  const importing = (id: AnimalId) => {
    async function* rows() {
      yield [{ line: 2, id, animal: newAnimal({ name: 'imported', categoryId: 1n }) }];
    }
    return opened.ports.animalImporter.importAll(rows(), () => true);
  };
  const itWaits = () =>
    until(async () => {
      const waiting = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
      return (await ask(opened.url, waiting)).length > 0;
    });
  const nameOf = async (id: AnimalId) => (await opened.ports.animals.findById(id))?.name;

  it.each(['before', 'while'])(
    'waits for its end, and is refused if it adds the animal %s the import runs',
    async (when) => {
      const id = await draw();
      if (when === 'before') await insert(id);
      const outcome = importing(id);
      await itWaits();
      if (when === 'while') await insert(id);
      await other.query('COMMIT');
      expect((await outcome).refused.first).toEqual([{ line: 2, reason: `id ${id} is that of another animal` }]);
      expect(await nameOf(id)).toBe('other');
    },
  );

  it('keeps the id if that transaction is given up', async () => {
    const id = await draw();
    await insert(id);
    const outcome = importing(id);
    await itWaits();
    await other.query('ROLLBACK');
    expect((await outcome).refused.count).toBe(0);
    expect(await nameOf(id)).toBe('imported');
  });
});
