import {
  type Animal,
  type AnimalId,
  type AnimalQuery,
  type CategoryId,
  INT64_MIN,
  type NewAnimal,
  type PetStatus,
} from '@adoption-store/domain';
import type { DataSource } from 'typeorm';
import { onDatabase, readFromDatabase } from '../database/database-errors.js';
import { arrayOf, queryPrepared } from '../database/prepared.js';
import type { BatchedAnimalRepository } from './coalescing-animal-repository.js';

type IdRow = readonly [id: string];
type AnimalRow = readonly [id: string, name: string, categoryId: string, status: PetStatus];

const SELECT = 'SELECT id, name, category_id, status FROM animals';

// The ids are drawn before the rows are made, and in their order: which id belongs to which animal is no guess.
const ADD = {
  name: 'animals add',
  text: `
  WITH numbered AS MATERIALIZED (
    SELECT nextval(pg_get_serial_sequence('animals', 'id')) AS id, name, category_id, status, ordinality
    FROM unnest($1::text[], $2::bigint[], $3::text[]) WITH ORDINALITY AS added (name, category_id, status, ordinality)
  ), inserted AS (
    INSERT INTO animals (id, name, category_id, status) SELECT id, name, category_id, status FROM numbered
  )
  SELECT id FROM numbered ORDER BY ordinality`,
};

export class PostgresAnimalRepository implements BatchedAnimalRepository {
  constructor(private readonly dataSource: DataSource) {}

  async add(animal: NewAnimal): Promise<Animal> {
    const [row] = await this.insert([animal]);
    return animalWith(row, animal);
  }

  async addAll(animals: readonly NewAnimal[]): Promise<readonly Animal[]> {
    const rows = await this.insert(animals);
    return animals.map((animal, index) => animalWith(rows[index], animal));
  }

  async findById(id: AnimalId): Promise<Animal | undefined> {
    const [animal] = await this.list({ ids: [id], limit: 1 });
    return animal;
  }

  /**
   * Of one status by the whole of an index, from one of its places to another. Were the status said to be equal, the order
   * would be that of the ids alone, and PostgreSQL may walk through all others until it has found enough.
   */
  async list({ status, ids, after, limit }: AnimalQuery): Promise<readonly Animal[]> {
    const conditions: string[] = [];
    const values = [String(limit)];
    const add = (value: string) => `$${values.push(value)}`;
    const isRange = status !== undefined && ids === undefined;
    if (isRange) {
      const its = add(status);
      const begin = after === undefined ? '>=' : '>';
      conditions.push(`(status, id) ${begin} (${its}, ${add((after ?? INT64_MIN).toString())}) AND status <= ${its}`);
    } else {
      if (ids !== undefined) conditions.push(`id = ANY(${add(arrayOf(ids))})`);
      if (status !== undefined) conditions.push(`status = ${add(status)}`);
      if (after !== undefined) conditions.push(`id > ${add(after.toString())}`);
    }
    const where = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;
    // Names of more than 63 characters would be cut short.
    const given = Object.entries({ status, ids, after }).flatMap(([name, value]) => (value === undefined ? [] : name));
    const statement = {
      name: `animals ${given.join(' ')}`,
      text: `${SELECT}${where} ORDER BY ${isRange ? 'status, ' : ''}id LIMIT $1`,
    };
    const rows = await readFromDatabase(this.dataSource, () =>
      queryPrepared<AnimalRow>(this.dataSource, statement, values),
    );
    return rows.map(animalFrom);
  }

  private insert(animals: readonly NewAnimal[]): Promise<readonly IdRow[]> {
    const values = [
      arrayOf(animals.map(({ name }) => name)),
      arrayOf(animals.map(({ categoryId }) => categoryId)),
      arrayOf(animals.map(({ status }) => status)),
    ];
    return onDatabase(() => queryPrepared<IdRow>(this.dataSource, ADD, values));
  }
}

function animalWith(row: IdRow | undefined, { name, categoryId, status }: NewAnimal): Animal {
  if (row === undefined) throw new Error('an animal was stored without an id');
  return { id: BigInt(row[0]) as AnimalId, name, categoryId, status };
}

function animalFrom([id, name, categoryId, status]: AnimalRow): Animal {
  return { id: BigInt(id) as AnimalId, name, categoryId: BigInt(categoryId) as CategoryId, status };
}
