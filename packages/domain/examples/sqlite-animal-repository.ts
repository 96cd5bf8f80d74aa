import {
  type Animal,
  type AnimalEvent,
  type AnimalId,
  animalNameKey,
  type AnimalQuery,
  type AnimalRepository,
  type AnimalState,
  type CategoryId,
  type DecidedAnimal,
  type Fields,
  type Instant,
  type NamedAnimals,
  type NamedAnimalsQuery,
  type NewAnimal,
  type PetStatus,
  publishedData,
} from '@adoption-store/domain';
import type sqlite from 'node-sqlite3-wasm';
import type { JSValue } from 'node-sqlite3-wasm';

// AUTOINCREMENT gives no id twice, also not that of a withdrawn animal. Orders are stored by somebody else.
const TABLES = `
  CREATE TABLE animals (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    category_id INTEGER NOT NULL,
    status TEXT NOT NULL,
    name_key TEXT NOT NULL
  );
  CREATE INDEX animals_by_name_key ON animals (name_key, id);
  CREATE TABLE orders (animal_id INTEGER NOT NULL, status TEXT NOT NULL);
  CREATE TABLE events (place INTEGER PRIMARY KEY, type TEXT NOT NULL, data TEXT NOT NULL)`;

/** The driver gives a number where that is exact, and a bigint else. */
interface Row {
  readonly id: number | bigint;
  readonly name: string;
  readonly category_id: number | bigint;
  readonly status: PetStatus;
}

interface Condition {
  readonly sql: string;
  readonly values: readonly JSValue[];
}

/**
 * Animals in SQLite, in this process. The database is synchronous, so nothing happens between its calls. It has one
 * connection, so a transaction that has begun there is that of every method.
 */
export class SqliteAnimalRepository implements AnimalRepository {
  constructor(private readonly database: InstanceType<typeof sqlite.Database>) {
    database.exec(TABLES);
  }

  async add({ name, categoryId, status }: NewAnimal): Promise<Animal> {
    return this.atomically(() => {
      const insert = 'INSERT INTO animals (name, category_id, status, name_key) VALUES (?, ?, ?, ?)';
      const { lastInsertRowid } = this.database.run(insert, [name, categoryId, status, animalNameKey(name)]);
      const added = { id: BigInt(lastInsertRowid) as AnimalId, name, categoryId, status } satisfies Fields<Animal>;
      this.store([{ type: 'pet.added', data: added }]);
      return added;
    });
  }

  async findById(id: AnimalId): Promise<Animal | undefined> {
    return this.query('WHERE id = ?', [id])[0];
  }

  async list({ status, ids, categoryIds, after, before, limit }: AnimalQuery): Promise<readonly Animal[]> {
    const conditions: readonly Condition[] = [
      ...(status === undefined ? [] : [{ sql: 'status = ?', values: [status] }]),
      ...(ids === undefined ? [] : [oneOf('id', ids)]),
      ...(categoryIds === undefined ? [] : [oneOf('category_id', categoryIds)]),
      ...(after === undefined ? [] : [{ sql: 'id > ?', values: [after] }]),
      ...(before === undefined ? [] : [{ sql: 'id < ?', values: [before] }]),
    ];
    const where = conditions.length === 0 ? '' : `WHERE ${conditions.map(({ sql }) => sql).join(' AND ')}`;
    const order = before === undefined ? 'ASC' : 'DESC';
    const values = [...conditions.flatMap((each) => each.values), limit];
    const found = this.query(`${where} ORDER BY id ${order} LIMIT ?`, values);
    return before === undefined ? found : found.toReversed();
  }

  async listByName(query: NamedAnimalsQuery): Promise<NamedAnimals> {
    const { prefix, status, ids, categoryIds, after, limit, most } = query;
    const conditions: readonly Condition[] = [
      { sql: 'name_key >= ? AND substr(name_key, 1, length(?)) = ?', values: [prefix, prefix, prefix] },
      ...(ids === undefined ? [] : [oneOf('id', ids)]),
      ...(after === undefined ? [] : [{ sql: '(name_key, id) > (?, ?)', values: [after.nameKey, after.id] }]),
    ];
    const where = `WHERE ${conditions.map(({ sql }) => sql).join(' AND ')} ORDER BY name_key, id LIMIT ?`;
    const read = this.query(where, [...conditions.flatMap(({ values }) => values), most]);
    const animals = read
      .filter((animal) => status === undefined || animal.status === status)
      .filter((animal) => categoryIds === undefined || categoryIds.includes(animal.categoryId))
      .slice(0, limit);
    const last = read[most - 1];
    const isCut = last !== undefined && (animals.length < limit || animals.at(-1) === last);
    return { animals, readTo: isCut ? { nameKey: animalNameKey(last.name), id: last.id } : undefined };
  }

  async change(id: AnimalId, decide: (state: AnimalState) => DecidedAnimal): Promise<Animal> {
    return this.atomically(() => {
      const { animal: changed, events } = decide(this.stateOf(id));
      const update = 'UPDATE animals SET name = ?, category_id = ?, status = ?, name_key = ? WHERE id = ?';
      const { name, categoryId, status } = changed;
      this.database.run(update, [name, categoryId, status, animalNameKey(name), id]);
      this.store(events);
      return changed;
    });
  }

  async withdraw(id: AnimalId, _at: Instant, decide: (state: AnimalState) => DecidedAnimal): Promise<void> {
    this.atomically(() => {
      const { animal, events } = decide(this.stateOf(id));
      this.database.run('DELETE FROM animals WHERE id = ?', [animal.id]);
      this.store(events);
    });
  }

  private stateOf(id: AnimalId): AnimalState {
    const isOrdered =
      this.database.get(`SELECT 1 FROM orders WHERE animal_id = ? AND status = 'placed'`, [id]) !== null;
    return { animal: this.query('WHERE id = ?', [id])[0], isOrdered };
  }

  private store(events: readonly AnimalEvent[]): void {
    for (const event of events)
      this.database.run('INSERT INTO events (type, data) VALUES (?, ?)', [event.type, publishedData(event)]);
  }

  /** A savepoint, because it may be within a transaction. */
  private atomically<Result>(work: () => Result): Result {
    this.database.exec('SAVEPOINT work');
    try {
      return work();
    } catch (error) {
      this.database.exec('ROLLBACK TO work');
      throw error;
    } finally {
      this.database.exec('RELEASE work');
    }
  }

  private query(rest: string, values: JSValue[]): Animal[] {
    const rows = this.database.all(`SELECT id, name, category_id, status FROM animals ${rest}`, values);
    return (rows as unknown as readonly Row[]).map(({ id, name, category_id: categoryId, status }) => {
      const ids = { id: BigInt(id) as AnimalId, categoryId: BigInt(categoryId) as CategoryId };
      return { ...ids, name, status } satisfies Fields<Animal>;
    });
  }
}

function oneOf(column: string, values: readonly bigint[]): Condition {
  return { sql: `${column} IN (${values.map(() => '?').join(', ')})`, values };
}
