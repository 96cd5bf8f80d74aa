import {
  type Category,
  type CategoryId,
  categoryInUse,
  categoryNameKey,
  categoryNameTaken,
  type CategoryQuery,
  type CategoryRepository,
  DomainError,
  preconditionFailed,
  type Transaction,
  type WantedVersions,
} from '@adoption-store/domain';
import type { DataSource } from 'typeorm';
import { Columns } from '../database/columns.js';
import { DEADLOCK, sqlState, UNIQUE_VIOLATION } from '../database/database-errors.js';
import { queryPrepared, readPrepared, type Statement } from '../database/prepared.js';
import { categorySchema } from './category.schema.js';

const columns = new Columns(categorySchema);

// A used candidate moves the sequence forward by a random step, from a range that doubles with each try: however many
// ids in a row are used, few tries pass them, and nobody can use just those ids that will be tried.
const ADD = {
  name: 'categories add',
  text: `
  WITH candidate AS MATERIALIZED (
    SELECT next_category_id(floor(random() * 2 ^ $3::integer)::bigint) AS id
  )
  INSERT INTO categories (id, name, name_key) SELECT id, $1, $2 FROM candidate
  WHERE NOT is_category_used(id)
  ON CONFLICT (id) DO NOTHING
  RETURNING ${columns.list()}`,
};

// $4: the versions of which it must have one. $5: whether it must have a name. $6: whether it must have none.
const NAME = {
  name: 'categories name',
  text: `
  WITH inserted AS (
    INSERT INTO categories (${columns.listInserted()}) SELECT ${columns.listInserted((place) => `$${place}`)} WHERE NOT $5
    ON CONFLICT (id) DO NOTHING
    RETURNING id
  ), renamed AS (
    UPDATE categories SET name = $2, name_key = $3
    WHERE id = $1 AND NOT $6 AND ($4::text[] IS NULL OR ${columns.version()} = ANY($4)) AND NOT EXISTS (SELECT FROM inserted)
    RETURNING id
  )
  SELECT true AS is_new FROM inserted UNION ALL SELECT false FROM renamed`,
};

// `is_category_used` looks once the category is locked, with its own snapshot: the statement's snapshot is older and would
// miss an animal that was added during the wait.
const REMOVE = {
  name: 'categories remove',
  text: `
  WITH asked AS MATERIALIZED (
    SELECT $2::text[] IS NULL OR ${columns.version()} = ANY($2) AS is_wanted, is_category_used(id) AS is_used
    FROM (SELECT ${columns.list()} FROM categories WHERE id = $1 FOR UPDATE) AS locked
  ), removed AS (
    DELETE FROM categories WHERE id = $1 AND (SELECT is_wanted AND NOT is_used FROM asked)
  )
  SELECT is_wanted, is_used FROM asked`,
};

const SELECT = `SELECT ${columns.list()} FROM categories`;

const FIND = { name: 'categories find', text: `${SELECT} WHERE id = $1` };

function listOf({ ids, after, before, limit }: CategoryQuery): Statement & { readonly values: unknown[] } {
  const values: unknown[] = [limit];
  const filters = [
    { name: 'ids', value: ids, condition: (place: string) => `id = ANY(${place})` },
    { name: 'after', value: after, condition: (place: string) => `id > ${place}` },
    { name: 'before', value: before, condition: (place: string) => `id < ${place}` },
  ].filter(({ value }) => value !== undefined);
  const conditions = filters.map(({ value, condition }) => condition(`$${values.push(value)}`));
  const where = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;
  return {
    name: ['categories', ...filters.map(({ name }) => name)].join(' '),
    text: `${SELECT}${where} ORDER BY id${before === undefined ? '' : ' DESC'} LIMIT $1`,
    values,
  };
}

export class PostgresCategoryRepository implements CategoryRepository {
  constructor(private readonly dataSource: DataSource) {}

  async add(name: string, transaction?: Transaction): Promise<Category> {
    for (let tries = 0; ; tries += 1) {
      const [row] = await this.write(ADD, [name, categoryNameKey(name), tries], name, transaction);
      if (row !== undefined) return columns.fromValues(row);
    }
  }

  async findById(id: CategoryId): Promise<Category | undefined> {
    const [row] = await readPrepared(this.dataSource, FIND, [id]);
    return row && columns.fromValues(row);
  }

  async list(query: CategoryQuery): Promise<readonly Category[]> {
    const { values, ...statement } = listOf(query);
    const rows = await readPrepared(this.dataSource, statement, values);
    const categories = rows.map((row) => columns.fromValues(row));
    return query.before === undefined ? categories : categories.reverse();
  }

  async name(category: Category, versions?: WantedVersions | 'any' | 'none'): Promise<boolean> {
    // After a restore PostgreSQL may compare the names before the ids. Then of two calls that give a new id the same name
    // the later one is refused because of the other, and is right the second time. Two calls that exchange the names of two
    // categories wait for each other until PostgreSQL ends one, which then sees the outcome of the other.
    return this.put(category, versions).catch((error: unknown) => {
      const isTaken = error instanceof DomainError && error.code === 'category_name_taken';
      if (isTaken || sqlState(error) === DEADLOCK) return this.put(category, versions);
      throw error;
    });
  }

  async remove(id: CategoryId, versions?: WantedVersions): Promise<boolean> {
    const [row] = await queryPrepared<[boolean, boolean]>(this.dataSource, REMOVE, [id, versions]);
    if (row === undefined) return false;
    const [isWanted, isUsed] = row;
    if (!isWanted) throw preconditionFailed('category');
    if (isUsed) throw categoryInUse(id);
    return true;
  }

  private async put(category: Category, versions: WantedVersions | 'any' | 'none'): Promise<boolean> {
    const values = columns.valuesOf([{ ...category, nameKey: categoryNameKey(category.name) }]).flat();
    const isNone = versions === 'none';
    const wanted = versions === 'any' || isNone ? undefined : versions;
    const isThere = versions !== undefined && !isNone;
    for (;;) {
      const [row] = await this.write<[boolean]>(NAME, [...values, wanted, isThere, isNone], category.name);
      if (row !== undefined) return row[0];
      if (isThere || isNone) throw preconditionFailed('category');
      // Since the statement began, the id has got its first name, or has lost it.
    }
  }

  /** @throws DomainError `category_name_taken` */
  private async write<Row extends readonly unknown[]>(
    statement: Statement,
    values: unknown[],
    name: string,
    transaction?: Transaction,
  ): Promise<readonly Row[]> {
    try {
      return await queryPrepared<Row>(this.dataSource, statement, values, transaction);
    } catch (error) {
      throw sqlState(error) === UNIQUE_VIOLATION ? categoryNameTaken(name) : error;
    }
  }
}
