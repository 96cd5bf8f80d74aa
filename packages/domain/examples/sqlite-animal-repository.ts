import type {
  Animal,
  AnimalId,
  AnimalQuery,
  AnimalRepository,
  CategoryId,
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

/** Animals in SQLite, in this process. */
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
    return { id: BigInt(lastInsertRowid) as AnimalId, name, categoryId, status };
  }

  async findById(id: AnimalId): Promise<Animal | undefined> {
    return this.query('WHERE id = ?', [id])[0];
  }

  async list({ status, ids, after, limit }: AnimalQuery): Promise<readonly Animal[]> {
    const conditions: readonly Condition[] = [
      ...(status === undefined ? [] : [{ sql: 'status = ?', values: [status] }]),
      ...(ids === undefined ? [] : [{ sql: `id IN (${ids.map(() => '?').join(', ')})`, values: ids }]),
      ...(after === undefined ? [] : [{ sql: 'id > ?', values: [after] }]),
    ];
    const where = conditions.length === 0 ? '' : `WHERE ${conditions.map(({ sql }) => sql).join(' AND ')}`;
    return this.query(`${where} ORDER BY id LIMIT ?`, [...conditions.flatMap(({ values }) => values), limit]);
  }

  close(): void {
    this.database.close();
  }

  private query(rest: string, values: JSValue[]): Animal[] {
    const rows = this.database.all(`SELECT id, name, category_id, status FROM animals ${rest}`, values);
    return (rows as unknown as readonly Row[]).map(({ id, name, category_id: categoryId, status }) => ({
      id: BigInt(id) as AnimalId,
      name,
      categoryId: BigInt(categoryId) as CategoryId,
      status,
    }));
  }
}
