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
import { int64From } from '../database/columns.js';
import { arrayOf, queryPrepared, readPrepared } from '../database/prepared.js';
import type { Statement } from '../database/prepared-query.js';
import type { BatchedAnimalRepository, NextPage } from './coalescing-animal-repository.js';

type IdRow = readonly [id: string];
type AnimalRow = readonly [id: string, name: string, categoryId: string, status: PetStatus];

const SELECT = 'SELECT id, name, category_id, status FROM animals';

const FIND = { name: 'animals find', text: `${SELECT} WHERE id = $1` };

const ADD = {
  name: 'animals add',
  text: 'INSERT INTO animals (name, category_id, status) VALUES ($1, $2, $3) RETURNING id',
};

// The ids are drawn before the rows are made, and in their order: which id belongs to which animal is no guess. From a
// sequence that is looked up once: for each row it took half as long again.
const ADD_ALL = {
  name: 'animals add all',
  text: `
  WITH numbered AS MATERIALIZED (
    SELECT nextval((SELECT pg_get_serial_sequence('animals', 'id')::regclass)) AS id, name, category_id, status, ordinality
    FROM unnest($1::text[], $2::bigint[], $3::text[]) WITH ORDINALITY AS added (name, category_id, status, ordinality)
  ), inserted AS (
    INSERT INTO animals (id, name, category_id, status) SELECT id, name, category_id, status FROM numbered
  )
  SELECT id FROM numbered ORDER BY ordinality`,
};

type Filter = Pick<AnimalQuery, 'status' | 'ids' | 'after'>;

/** By which of the filters are given. */
const lists: Statement[] = [];

function listOf({ status, ids, after }: Filter): Statement {
  const given = (status === undefined ? 0 : 1) | (ids === undefined ? 0 : 2) | (after === undefined ? 0 : 4);
  return (lists[given] ??= listStatement(status !== undefined, ids !== undefined, after !== undefined));
}

/**
 * Of one status by the whole of an index, from one of its places to another. Were the status said to be equal, the order
 * would be that of the ids alone, and PostgreSQL may walk through all others until it has found enough.
 */
function listStatement(hasStatus: boolean, hasIds: boolean, hasAfter: boolean): Statement {
  let parameters = 1;
  const next = () => `$${(parameters += 1)}`;
  const status = hasStatus ? next() : '';
  const ids = hasIds ? next() : '';
  const after = hasAfter ? next() : '';
  const isRange = hasStatus && !hasIds;
  const conditions = isRange
    ? [
        `(status, id) ${hasAfter ? `> (${status}, ${after})` : `>= (${status}, '${INT64_MIN}'::bigint)`} AND status <= ${status}`,
      ]
    : [
        ...(hasIds ? [`id = ANY(${ids})`] : []),
        ...(hasStatus ? [`status = ${status}`] : []),
        ...(hasAfter ? [`id > ${after}`] : []),
      ];
  const where = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;
  return {
    name: `animals${hasStatus ? ' status' : ''}${hasIds ? ' ids' : ''}${hasAfter ? ' after' : ''}`,
    text: `${SELECT}${where} ORDER BY ${isRange ? 'status, ' : ''}id LIMIT $1`,
  };
}

const LIST_EACH = listEachStatement('animals each after', 'id > asked.after', 'id');
/** See `listStatement`. */
const LIST_EACH_OF_STATUS = listEachStatement(
  'animals status each after',
  '(status, id) > ($3, asked.after) AND status <= $3',
  'status, id',
);

function listEachStatement(name: string, condition: string, order: string): Statement {
  const page = `${SELECT} WHERE ${condition} ORDER BY ${order} LIMIT asked.most`;
  const asked = 'unnest($1::bigint[], $2::bigint[]) WITH ORDINALITY AS asked (after, most, page)';
  const text = `SELECT animal.* FROM ${asked} CROSS JOIN LATERAL (${page}) AS animal ORDER BY page, id`;
  return { name, text };
}

export class PostgresAnimalRepository implements BatchedAnimalRepository {
  constructor(private readonly dataSource: DataSource) {}

  async add(animal: NewAnimal): Promise<Animal> {
    const { name, categoryId, status } = animal;
    const [row] = await queryPrepared<IdRow>(this.dataSource, ADD, [name, categoryId.toString(), status]);
    return animalWith(row, animal);
  }

  async addAll(animals: readonly NewAnimal[]): Promise<readonly Animal[]> {
    const values = [
      arrayOf(animals.map(({ name }) => name)),
      arrayOf(animals.map(({ categoryId }) => categoryId)),
      arrayOf(animals.map(({ status }) => status)),
    ];
    const rows = await queryPrepared<IdRow>(this.dataSource, ADD_ALL, values);
    return animals.map((animal, index) => animalWith(rows[index], animal));
  }

  async findById(id: AnimalId): Promise<Animal | undefined> {
    const [row] = await readPrepared<AnimalRow>(this.dataSource, FIND, [id.toString()]);
    return row && animalFrom(row);
  }

  async list({ status, ids, after, limit }: AnimalQuery): Promise<readonly Animal[]> {
    const values = [String(limit)];
    if (status !== undefined) values.push(status);
    if (ids !== undefined) values.push(arrayOf(ids));
    if (after !== undefined) values.push(after.toString());
    const rows = await readPrepared<AnimalRow>(this.dataSource, listOf({ status, ids, after }), values);
    return rows.map(animalFrom);
  }

  async listEach(status: PetStatus | undefined, pages: readonly NextPage[]): Promise<readonly (readonly Animal[])[]> {
    const values = [arrayOf(pages.map(({ after }) => after)), arrayOf(pages.map(({ limit }) => limit))];
    if (status !== undefined) values.push(status);
    const statement = status === undefined ? LIST_EACH : LIST_EACH_OF_STATUS;
    const rows = await readPrepared<AnimalRow>(this.dataSource, statement, values);
    return pagesFrom(rows, pages.length);
  }
}

function animalWith(row: IdRow | undefined, { name, categoryId, status }: NewAnimal): Animal {
  if (row === undefined) throw new Error('an animal was stored without an id');
  return { id: int64From(row[0]) as AnimalId, name, categoryId, status };
}

function animalFrom([id, name, categoryId, status]: AnimalRow): Animal {
  return { id: int64From(id) as AnimalId, name, categoryId: int64From(categoryId) as CategoryId, status };
}

/**
 * The rows of so many pages, of which the one that begins furthest comes first: each of the others begins no further than
 * the one before, so it begins where an id isn't above the last. Those behind the last animal have none, and come first.
 * A number with each row would take a twentieth of what a page takes.
 */
function pagesFrom(rows: readonly AnimalRow[], count: number): readonly (readonly Animal[])[] {
  const pages: Animal[][] = [];
  let page: Animal[] = [];
  let last: bigint | undefined;
  for (const row of rows) {
    const animal = animalFrom(row);
    if (last === undefined || animal.id <= last) pages.push((page = []));
    page.push(animal);
    last = animal.id;
  }
  return [...Array.from({ length: count - pages.length }, () => []), ...pages];
}
