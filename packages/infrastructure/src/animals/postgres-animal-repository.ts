import {
  type Animal,
  type AnimalChange,
  type AnimalId,
  type AnimalQuery,
  type AnimalState,
  changedAnimal,
  type Instant,
  INT64_MIN,
  type NewAnimal,
  requireWithdrawable,
  statusesBefore,
  type WantedVersions,
} from '@adoption-store/domain';
import type { DataSource } from 'typeorm';
import { Columns } from '../database/columns.js';
import { queryPrepared, readPrepared, type Statement } from '../database/prepared.js';
import { animalSchema } from './animal.schema.js';
import type { BatchedAnimalRepository } from './coalescing-animal-repository.js';

const columns = new Columns(animalSchema);
const SELECT = `SELECT ${columns.list()} FROM animals`;

const FIND = { name: 'animals find', text: `${SELECT} WHERE id = $1` };

const ADD = {
  name: 'animals add',
  text: `
  INSERT INTO animals (${columns.listInserted()}) VALUES (${columns.listInserted((place) => `$${place}`)})
  RETURNING ${columns.list()}`,
};

// The ids are drawn before the rows are inserted, in order, so it is certain which id belongs to which animal. The
// sequence is looked up once: a look-up for each row took half as long again.
const ADD_ALL = {
  name: 'animals add all',
  text: `
  WITH numbered AS MATERIALIZED (
    SELECT nextval((SELECT pg_get_serial_sequence('animals', 'id')::regclass)) AS id, ${columns.listInserted()}
    FROM unnest(${columns.listInserted((place, _name, type) => `$${place}::${type}[]`)})
      AS added (${columns.listInserted()})
  ), inserted AS (
    INSERT INTO animals (id, ${columns.listInserted()}) SELECT id, ${columns.listInserted()} FROM numbered
    RETURNING ${columns.list()}
  )
  SELECT * FROM inserted ORDER BY id`,
};

// Each condition is decided on the row as it is once it is locked; `is_ordered` has its own snapshot, because the
// statement's is older and would miss an order that was placed during the wait.
const IS_WANTED = `id = $1 AND ($2::text[] IS NULL OR ${columns.version()} = ANY($2))`;

const CHANGE = {
  name: 'animals change',
  text: `
  UPDATE animals SET
    name = coalesce($3, name), category_id = coalesce($4, category_id), status = coalesce($5::text, status)
  WHERE ${IS_WANTED} AND ($5::text IS NULL OR status = $5 OR (status = ANY($6) AND NOT is_ordered(id)))
  RETURNING ${columns.list()}`,
};

const WITHDRAW = {
  name: 'animals withdraw',
  text: `
  WITH withdrawn AS (DELETE FROM animals WHERE ${IS_WANTED} AND NOT is_ordered(id) RETURNING *)
  INSERT INTO withdrawn_animals (${columns.list()}, withdrawn_at) SELECT ${columns.list()}, $3 FROM withdrawn
  RETURNING id`,
};

// One snapshot: with `is_ordered` it could show an animal from before the end of an order that it shows as ended.
const STATE = {
  name: 'animals state',
  text: `
  SELECT ${columns.list()}, ${columns.version()},
    EXISTS (SELECT FROM orders WHERE animal_id = animals.id AND orders.status = 'placed')
  FROM animals WHERE id = $1`,
};

// The server's start time is included because, after a failover, another server may have the same transaction ids.
const SNAPSHOT = { name: 'snapshot', text: 'SELECT pg_current_snapshot()::text, pg_postmaster_start_time()::text' };

/**
 * A page by status is a range of one index. With `status = …` PostgreSQL would order by id only, and might scan all
 * other animals until it had found enough.
 */
function listOf({ status, ids, after, limit }: AnimalQuery): Statement & { readonly values: unknown[] } {
  const values: unknown[] = [limit];
  const place = (value: unknown) => `$${values.push(value)}`;
  const isRange = status !== undefined && ids === undefined;
  const conditions: string[] = [];
  if (isRange) {
    const same = place(status);
    const begin = after === undefined ? `>= (${same}, '${INT64_MIN}'::bigint)` : `> (${same}, ${place(after)})`;
    conditions.push(`(status, id) ${begin}`, `status <= ${same}`);
  } else {
    if (ids !== undefined) conditions.push(`id = ANY(${place(ids)})`);
    if (status !== undefined) conditions.push(`status = ${place(status)}`);
    if (after !== undefined) conditions.push(`id > ${place(after)}`);
  }
  const where = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;
  const order = isRange ? 'status, id' : 'id';
  const filters = Object.entries({ status, ids, after }).filter(([, value]) => value !== undefined);
  return {
    name: ['animals', ...filters.map(([name]) => name)].join(' '),
    text: `${SELECT}${where} ORDER BY ${order} LIMIT $1`,
    values,
  };
}

export class PostgresAnimalRepository implements BatchedAnimalRepository {
  constructor(private readonly dataSource: DataSource) {}

  async add(animal: NewAnimal): Promise<Animal> {
    const [row = []] = await queryPrepared(this.dataSource, ADD, columns.valuesOf([animal]).flat());
    return columns.fromValues(row);
  }

  async addAll(animals: readonly NewAnimal[]): Promise<readonly Animal[]> {
    return animalsFrom(await queryPrepared(this.dataSource, ADD_ALL, columns.valuesOf(animals)));
  }

  async findById(id: AnimalId): Promise<Animal | undefined> {
    const [row] = await readPrepared(this.dataSource, FIND, [id]);
    return row && columns.fromValues(row);
  }

  async list(query: AnimalQuery): Promise<readonly Animal[]> {
    const { values, ...statement } = listOf(query);
    return animalsFrom(await readPrepared(this.dataSource, statement, values));
  }

  async change(id: AnimalId, change: AnimalChange, versions?: WantedVersions): Promise<Animal | undefined> {
    const { name, categoryId, status } = change;
    const before = status === undefined ? [] : statusesBefore(status, 'person');
    const values = [id, versions, name, categoryId, status, before];
    return this.once(
      CHANGE,
      values,
      (row) => columns.fromValues(row),
      id,
      (state) => {
        changedAnimal(state, change, versions);
      },
    );
  }

  async withdraw(id: AnimalId, at: Instant, versions?: WantedVersions): Promise<boolean> {
    const values = [id, versions, new Date(at)];
    const withdrawn = this.once(
      WITHDRAW,
      values,
      () => true,
      id,
      (state) => {
        requireWithdrawable(state, versions);
      },
    );
    return (await withdrawn) ?? false;
  }

  async snapshot(): Promise<string> {
    const [row = []] = await readPrepared(this.dataSource, SNAPSHOT, []);
    return row.join(' ');
  }

  /**
   * Runs a statement that writes one row if the domain's rules allow it. Only for the error of a refused one the state is
   * read: `check` throws it.
   */
  private async once<Result>(
    statement: Statement,
    values: unknown[],
    resultOf: (row: readonly unknown[]) => Result,
    id: AnimalId,
    check: (state: AnimalState) => void,
  ): Promise<Result | undefined> {
    for (;;) {
      const [row] = await queryPrepared(this.dataSource, statement, values);
      if (row !== undefined) return resultOf(row);
      const state = await this.stateOf(id);
      if (state === undefined) return undefined;
      check(state);
      // The reason for the refusal has ended since.
    }
  }

  private async stateOf(id: AnimalId): Promise<AnimalState | undefined> {
    const [row] = await readPrepared(this.dataSource, STATE, [id]);
    if (row === undefined) return undefined;
    const [version, isOrdered] = row.slice(columns.count) as [string, boolean];
    return { animal: columns.fromValues(row), version, isOrdered };
  }
}

function animalsFrom(rows: readonly unknown[][]): readonly Animal[] {
  return rows.map((row) => columns.fromValues(row));
}
