import type {
  Animal,
  AnimalId,
  AnimalQuery,
  AnimalRepository,
  AnimalState,
  CategoryId,
  DecidedAnimal,
  Fields,
  Instant,
  NewAnimal,
  PetStatus,
} from '@adoption-store/domain';
import sqlite, { type JSValue } from 'node-sqlite3-wasm';

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

/** Animals in SQLite, in this process. The database is synchronous, so nothing happens between its calls. No orders, no events. */
export class SqliteAnimalRepository implements AnimalRepository {
  private readonly database = new sqlite.Database();

  constructor() {
    this.database.exec(`
      CREATE TABLE animals (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT NOT NULL,
        category_id INTEGER NOT NULL,
        status TEXT NOT NULL
      )`);
  }

  async add({ name, categoryId, status }: NewAnimal): Promise<Animal> {
    const insert = 'INSERT INTO animals (name, category_id, status) VALUES (?, ?, ?)';
    const { lastInsertRowid } = this.database.run(insert, [name, categoryId, status]);
    return { id: BigInt(lastInsertRowid) as AnimalId, name, categoryId, status } satisfies Fields<Animal>;
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

  async change(id: AnimalId, decide: (state: AnimalState) => DecidedAnimal): Promise<Animal> {
    const { animal: changed } = decide(this.stateOf(id));
    const update = 'UPDATE animals SET name = ?, category_id = ?, status = ? WHERE id = ?';
    this.database.run(update, [changed.name, changed.categoryId, changed.status, id]);
    return changed;
  }

  async withdraw(id: AnimalId, _at: Instant, decide: (state: AnimalState) => DecidedAnimal): Promise<void> {
    const { animal } = decide(this.stateOf(id));
    this.database.run('DELETE FROM animals WHERE id = ?', [animal.id]);
  }

  close(): void {
    this.database.close();
  }

  private stateOf(id: AnimalId): AnimalState {
    return { animal: this.query('WHERE id = ?', [id])[0], isOrdered: false };
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
