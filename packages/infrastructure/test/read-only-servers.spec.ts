import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { newAnimal } from '@adoption-store/domain';
import { ask, createDatabase, nameOf, type TestDatabase, until } from '@adoption-store/test-support';
import { PostgresAnimalRepository } from '../src/animals/postgres-animal-repository.js';
import { openDataSource } from '../src/database/data-source.js';
import { poolOf } from '../src/database/pipelining-pool.js';
import { inTransaction, managerOf } from '../src/database/transactions.js';

type DataSource = Awaited<ReturnType<typeof openDataSource>>;

const ANIMAL = `INSERT INTO animals (name, category_id, status) VALUES ('Luna', 1, 'available')`;

let database: TestDatabase;
let dataSource: DataSource;
let animals: PostgresAnimalRepository;

beforeEach(async () => {
  database = await createDatabase();
});
afterEach(async () => {
  await dataSource.destroy();
  await database.drop();
});

async function open(maxLifetimeSeconds?: number): Promise<void> {
  dataSource = await openDataSource({
    connectionString: database.url,
    max: 4,
    ...(maxLifetimeSeconds !== undefined && { maxLifetimeSeconds }),
  });
  animals = new PostgresAnimalRepository(dataSource);
}

/** Like an address that leads to a standby: new connections only read. */
function leadToStandby(isStandby: boolean) {
  const change = isStandby ? 'SET default_transaction_read_only = on' : 'RESET default_transaction_read_only';
  return ask(database.url, `BEGIN READ WRITE; ALTER DATABASE ${nameOf(database)} ${change}; COMMIT`);
}

/** Readers that never pause, so that they keep their connection. Returns a function that ends them. */
function readWithoutPause(): () => Promise<void> {
  let isOver = false;
  const readers = Array.from({ length: 3 }, async () => {
    while (!isOver) await animals.list({ limit: 1 });
  });
  return async () => {
    isOver = true;
    await Promise.all(readers);
  };
}

/** The process id of the shared connection, and whether it only reads. */
async function readerOf(): Promise<string> {
  const text = `SELECT pg_backend_pid(), current_setting('transaction_read_only')`;
  const { rows } = await poolOf(dataSource).read({ text, rowMode: 'array' });
  return String(rows[0]);
}

it.each([
  ['a prepared statement', () => animals.add(newAnimal({ name: 'Luna', categoryId: 1n }))],
  ['TypeORM', () => dataSource.query(ANIMAL)],
  ['a transaction', () => inTransaction(dataSource, () => managerOf(dataSource).query(ANIMAL))],
  [
    'a prepared statement in a transaction',
    () => inTransaction(dataSource, () => animals.add(newAnimal({ name: 'Luna', categoryId: 1n }))),
  ],
])('a write by %s reaches the primary soon after its address does, while reads go on', async (_path, write) => {
  await leadToStandby(true);
  await open();
  const end = readWithoutPause();
  // All connections of the pool are to the standby.
  const writes = await Promise.allSettled(Array.from({ length: 6 }, write));
  await leadToStandby(false);
  expect(writes.every(({ status }) => status === 'rejected')).toBe(true);
  const succeeds = () =>
    write().then(
      () => true,
      () => false,
    );
  try {
    await until(succeeds, { within: 5_000 });
    // The readers' connection is a new one, too.
    await until(async () => (await readerOf()).endsWith(',off'), { within: 5_000 });
    await expect(Promise.all(Array.from({ length: 12 }, write))).resolves.toHaveLength(12);
  } finally {
    await end();
  }
});

it('a connection has a longest life, even if it is never unused', async () => {
  await open(1);
  const end = readWithoutPause();
  const first = await readerOf();
  await until(async () => (await readerOf()) !== first, { within: 5_000 }).finally(end);
});
