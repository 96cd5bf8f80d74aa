import {
  type AnimalId,
  type AnimalRepository,
  type CategoryId,
  createApplication,
  newAnimal,
  type NewAnimal,
  PET_STATUSES,
  petJsonText,
} from '@adoption-store/domain';
import { animalImporterSuite, animalRepositorySuite, openedAnimals, testPolicy } from '@adoption-store/domain/testing';
import {
  ask,
  connectTo,
  createDatabase,
  expectDatabaseErrors,
  explainingUrl,
  statementsDuring,
  type TestDatabase,
  until,
} from '@adoption-store/test-support';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type pg from 'pg';
import { CoalescingAnimalRepository } from '../src/animals/coalescing-animal-repository.js';
import { TypeOrmAnimalRepository } from '../src/animals/typeorm-animal-repository.js';
import { openDataSource } from '../src/database/data-source.js';
import { entitySchemas } from '../src/entity-schemas.js';
import { openDatabase, openPostgres, untilBlocked } from './databases.js';
import { framework } from './framework.js';

/** Every field, also the optional ones. */
type Arbitraries<Entity> = { readonly [Field in keyof Entity]-?: fc.Arbitrary<Entity[Field]> };

// An unknown category, and an import that ends before its file.
expectDatabaseErrors('23503', '08006');

animalRepositorySuite(framework, 'PostgreSQL', async () => openedAnimals(await openPostgres()));

animalImporterSuite(framework, 'PostgreSQL', openPostgres);

it('an animal is read as it was added, and its event has the text that the domain writes, whatever its fields are', async () => {
  const opened = await openPostgres();
  // PostgreSQL stores no U+0000.
  const name = fc.string({ unit: 'binary', minLength: 1 }).map((text) => text.replaceAll('\0', '\u0001'));
  const categoryId = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }) as fc.Arbitrary<CategoryId>;
  const status = fc.constantFrom(...PET_STATUSES);
  const animals = fc.sample(fc.record({ name, categoryId, status } satisfies Arbitraries<NewAnimal>), 300);
  const added = await Promise.all(animals.map(async (animal) => opened.ports.animals.add(animal)));
  const stored = await ask<{ data: string }>(opened.url, 'SELECT data::text FROM event_outbox');
  expect(stored.map(({ data }) => data).sort()).toEqual(added.map(petJsonText).sort());
  expect(await opened.ports.animals.list({ limit: 300 })).toEqual(
    added.toSorted((one, other) => Number(one.id - other.id)),
  );
  await opened.close();
});

it('finds, lists of given animals, and later pages of one size that come together share statements', async () => {
  const { url, close } = await openDatabase();
  const statements = await statementsDuring(async () => {
    const dataSource = await openDataSource({ connectionString: explainingUrl(url), max: 2 }, entitySchemas);
    const animals = new CoalescingAnimalRepository(new TypeOrmAnimalRepository(dataSource, 'open'));
    const add = (name: string) => animals.add(newAnimal({ name, categoryId: 1n }));
    const ids = (await Promise.all(['Luna', 'Milo', 'Bella'].map(add))).map(({ id }) => id);
    await Promise.all(
      ids.flatMap((id) => [
        animals.findById(id),
        animals.list({ ids: [id], limit: 21 }),
        animals.list({ ids, status: 'available', after: id, limit: 2 }),
        animals.list({ after: id, limit: 21 }),
      ]),
    );
    await dataSource.destroy();
  });
  // Of each kind the first caller is alone.
  expect(statements.filter(({ text }) => text.includes('FROM animals WHERE'))).toHaveLength(4);
  await close();
});

describe('an import beside another transaction', () => {
  let opened: Awaited<ReturnType<typeof openPostgres>>;
  let other: pg.Client;
  beforeAll(async () => {
    opened = await openPostgres('strict');
    await createApplication(opened.ports, testPolicy()).nameCategory.execute({ id: 1n, name: 'known' });
    other = await connectTo(opened.url);
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
    other.query(
      `INSERT INTO animals (id, name, name_key, category_id, status) VALUES (${id}, 'other', 'other', 1, 'sold')`,
    );
  const importing = (id: AnimalId) => {
    async function* rows() {
      yield [{ line: 2, id, animal: newAnimal({ name: 'imported', categoryId: 1n }) }];
    }
    return opened.ports.animalImporter.importAll(rows(), () => true);
  };
  const nameOf = async (id: AnimalId) => (await opened.ports.animals.findById(id))?.name;

  it.each(['before', 'while'])(
    'waits for the end of one that has drawn its id, and is refused if that adds the animal %s it runs',
    async (when) => {
      const id = await draw();
      if (when === 'before') await insert(id);
      const outcome = importing(id);
      await untilBlocked(opened.url);
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
    await untilBlocked(opened.url);
    await other.query('ROLLBACK');
    expect((await outcome).refused.count).toBe(0);
    expect(await nameOf(id)).toBe('imported');
  });
});

describe('reads of animals', () => {
  type DataSource = Awaited<ReturnType<typeof openDataSource>>;

  let database: TestDatabase;
  let dataSource: DataSource;
  let animals: AnimalRepository;

  beforeEach(async () => {
    database = await createDatabase();
  });
  afterEach(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  async function open(max: number): Promise<AnimalId> {
    dataSource = await openDataSource({ connectionString: database.url, max }, entitySchemas);
    animals = new TypeOrmAnimalRepository(dataSource, 'open');
    return (await animals.add(newAnimal({ name: 'Luna', categoryId: 1n }))).id;
  }

  /** The process ids of the repository's connections. */
  async function backends(): Promise<readonly number[]> {
    const rows = await ask<{ pid: number }>(
      database.url,
      `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'adoption-store'`,
    );
    return rows.map(({ pid }) => pid);
  }

  it('a write gets its turn on the only connection while reads continue', async () => {
    const id = await open(1);
    let isReading = true;
    const readers = Array.from({ length: 4 }, async () => {
      while (isReading) await animals.findById(id);
    });
    const added = await animals.add(newAnimal({ name: 'Milo', categoryId: 1n }));
    isReading = false;
    await Promise.all(readers);
    expect(added.name).toBe('Milo');
  });

  it.each(['read', 'added'])(
    'an animal %s too late is refused in time, and the connection is not used again',
    async (what) => {
      const id = await open(10);
      const before = await backends();
      const locker = await connectTo(database.url);
      await locker.query('BEGIN; LOCK TABLE animals IN ACCESS EXCLUSIVE MODE');
      const late = what === 'read' ? animals.findById(id) : animals.add(newAnimal({ name: 'Late', categoryId: 1n }));
      await expect(late).rejects.toMatchObject({ code: 'service_unavailable' });
      // The server ends the statement too, before another one gets its connection.
      await until(async () => !(await backends()).some((pid) => before.includes(pid)));
      await locker.end();
      expect(await animals.list({ limit: 10 })).toMatchObject([{ id }]);
    },
  );
});
