import {
  type Animal,
  type AnimalId,
  type AnimalQuery,
  type AnimalRepository,
  type AnimalState,
  type CategoryId,
  type CategoryPolicy,
  type DecidedAnimal,
  DomainError,
  type Instant,
  INT64_MIN,
  type NamedAnimals,
  type NamedAnimalsQuery,
  type NewAnimal,
  type Order,
  PET_STATUSES,
  type PetStatus,
  type Transaction,
  unknownCategory,
} from '@adoption-store/domain';
import type { DataSource, EntityManager } from 'typeorm';
import { hasStatus } from '../database/columns.js';
import { listById, queryPrepared, readPrepared, type StatementWithValues } from '../database/prepared.js';
import { inTransaction } from '../database/transactions.js';
import { addEvents, eventValues, storeEvents } from '../events/outbox.js';
import { columns, storeAdditions } from './additions.js';
import { ANIMAL_LINE, animalSchema, animalsIn, linesOf, rowOf } from './animal.schema.js';

const SELECT = `SELECT ${ANIMAL_LINE} FROM animals`;

const SELECT_NAMED = `SELECT ${columns.list()}, name_key FROM animals`;

const LEAST_ID = `'${INT64_MIN}'::bigint`;

const FIND = { name: 'animals find', text: `${SELECT} WHERE id = $1` };

/** The start of a page that isn't the first: after an animal, among all animals or those of a status. */
export interface PageStart extends Pick<AnimalQuery, 'status'> {
  readonly after: AnimalId;
}

/** Several pages of one size. PostgreSQL can't plan a LIMIT that differs by row. */
const PAGES = {
  name: 'animals pages',
  text: `
  ${linesOf(`${SELECT} WHERE id > wanted.after ORDER BY id LIMIT $2`)}
  FROM unnest($1::bigint[]) WITH ORDINALITY AS wanted (after, place) ORDER BY place`,
};

const AFTER_WANTED = '(status, id) > (wanted.status, wanted.after) AND status <= wanted.status';

const PAGES_BY_STATUS = {
  name: 'animals pages by status',
  text: `
  ${linesOf(`${SELECT} WHERE ${AFTER_WANTED} ORDER BY status, id LIMIT $3`)}
  FROM unnest($1::text[], $2::bigint[]) WITH ORDINALITY AS wanted (status, after, place) ORDER BY place`,
};

const ADD = {
  name: 'animals add',
  text: `
  WITH added AS (
    INSERT INTO animals (${columns.listInserted()}) VALUES (${columns.listParameters()}) RETURNING ${columns.list()}
  ), event AS (${storeAdditions('added')})
  SELECT * FROM added`,
};

const GIVEN = `unnest(${columns.listArrays()}) WITH ORDINALITY AS given (${columns.listInserted()}, place)`;

// The column draws its ids in the order of the animals, because volatile values are computed after the sort.
const storeOrdered = (animals: string) => `added AS (
    INSERT INTO animals (${columns.listInserted()}) SELECT ${columns.listInserted()} FROM ${animals} ORDER BY place
    RETURNING ${columns.list()}
  ), event AS (${storeAdditions('added')})
  SELECT * FROM added ORDER BY id`;

const ADD_ALL = {
  name: 'animals add all',
  text: `
  WITH ${storeOrdered(GIVEN)}`,
};

// Locks the categories as a foreign key would, so that they aren't removed until the transaction ends. They are locked
// in the order of their ids, so that two batches can't deadlock.
const ADD_ALL_KNOWN = {
  name: 'animals add all known',
  text: `
  WITH given AS (
    SELECT * FROM ${GIVEN}
  ), known AS MATERIALIZED (
    SELECT id FROM categories WHERE id IN (SELECT category_id FROM given) ORDER BY id FOR KEY SHARE
  ), ${storeOrdered('given WHERE category_id IN (SELECT id FROM known)')}`,
};

const LOCK_CATEGORY = 'SELECT FROM categories WHERE id = $1 FOR KEY SHARE';

const MOVE_TO_WITHDRAWN = `
  WITH withdrawn AS (DELETE FROM animals WHERE id = $1 RETURNING ${columns.list()}), event AS (${storeEvents(3)})
  INSERT INTO withdrawn_animals (${columns.list()}, withdrawn_at) SELECT ${columns.list()}, $2 FROM withdrawn`;

function listOf(query: AnimalQuery): StatementWithValues {
  const { status, ids, categoryIds } = query;
  if (ids === undefined && categoryIds !== undefined) return listOfCategories(query, categoryIds);
  if (ids === undefined && status !== undefined) return listByStatus(query, status);
  return listByFilters(query);
}

const FILTERS = {
  status: (place: string) => `status = ${place}`,
  ids: (place: string) => `id = ANY(${place})`,
  categoryIds: (place: string) => `category_id = ANY(${place})`,
};

const listByFilters = listById<AnimalQuery>('animals', SELECT, FILTERS);

/**
 * The row comparison makes the page a range of one index. With `status = …` PostgreSQL might scan animals of all
 * statuses by id until it has found enough.
 */
function listByStatus(query: AnimalQuery, status: PetStatus): StatementWithValues {
  const { name, begin, id, end, direction, position } = rangeOf(query, '$3');
  return {
    name: `animals status${name}`,
    text: `${SELECT} WHERE (status, id) ${begin} ($2, ${id}) AND status ${end} $2 ORDER BY status${direction}, id${direction} LIMIT $1`,
    values: [query.limit, status, ...position],
  };
}

/**
 * Takes the first ids of each category and status from one index, then reads only the rows of the page. Each range has
 * a limit instead of an upper bound: before version 18 PostgreSQL doesn't stop at a bound of the second column, and
 * would read the rest of the category.
 */
function listOfCategories(query: AnimalQuery, categoryIds: readonly CategoryId[]): StatementWithValues {
  const { name, begin, id, direction, position } = rangeOf(query, '$4');
  // A category that is given twice must not return its animals twice.
  const categories = [...new Set(categoryIds)];
  const statuses = query.status === undefined ? PET_STATUSES : [query.status];
  return {
    name: `animals of categories${name}`,
    text: `
    ${SELECT} WHERE id = ANY(ARRAY(
      SELECT next.id FROM unnest($2::bigint[]) AS category, unnest($3::text[]) AS wanted, LATERAL (
        SELECT category_id, status, id FROM animals WHERE (category_id, status, id) ${begin} (category, wanted, ${id})
        ORDER BY category_id${direction}, status${direction}, id${direction} LIMIT $1
      ) AS next
      WHERE (category_id, status) = (category, wanted) ORDER BY next.id${direction} LIMIT $1
    )) ORDER BY id${direction}`,
    values: [query.limit, categories, statuses, ...position],
  };
}

/** The range of an index whose last column is the id: where it begins, given the place of the position's value. */
function rangeOf({ after, before }: AnimalQuery, place: string) {
  if (before !== undefined)
    return { name: ' before', begin: '<', id: place, end: '>=', direction: ' DESC', position: [before] };
  if (after !== undefined)
    return { name: ' after', begin: '>', id: place, end: '<=', direction: '', position: [after] };
  return { name: '', begin: '>=', id: LEAST_ID, end: '<=', direction: '', position: [] };
}

/**
 * A range of the index of names, and no more than `most` rows of it, whatever the other filters leave of them. The last
 * of these rows is there even if it doesn't match: it tells how far was read.
 */
function listOfNamed({ prefix, status, ids, categoryIds, after, limit, most }: NamedAnimalsQuery): StatementWithValues {
  const values: unknown[] = [limit, most, prefix];
  const parts = ['animals named'];
  const conditionOf = (part: string, value: unknown, condition: (place: string) => string) => {
    if (value === undefined) return 'true';
    parts.push(part);
    return condition(`$${values.push(value)}`);
  };
  const range = [
    'name_key >= $3',
    conditionOf('end', keyBehind(prefix), (place) => `name_key < ${place}`),
    conditionOf('after', after?.id, (place) => `(name_key, id) > ($${values.push(after?.nameKey)}, ${place})`),
  ].join(' AND ');
  // The given animals are few, so they are read first. OFFSET 0 keeps PostgreSQL from reading all with the name.
  const given = conditionOf('ids', ids, (place) => `(${SELECT_NAMED} WHERE id = ANY(${place}) OFFSET 0) AS given`);
  const matches = [
    conditionOf('status', status, FILTERS.status),
    conditionOf('categoryIds', categoryIds, FILTERS.categoryIds),
  ].join(' AND ');
  return {
    name: parts.join(' '),
    text: `
    SELECT ${matches} AS matches, number = $2 AS is_last, name_key, ${columns.list()} FROM (
      SELECT *, row_number() OVER (ORDER BY name_key, id) AS number FROM ${ids === undefined ? 'animals' : given}
      WHERE ${range} ORDER BY name_key, id LIMIT $2
    ) AS named
    WHERE ${matches} OR number = $2 ORDER BY name_key, id LIMIT $1`,
    values,
  };
}

/** The least text behind all that begin with the prefix, in the order of code points. Undefined if there is none. */
function keyBehind(prefix: string): string | undefined {
  const points = [...prefix].map((character) => character.codePointAt(0) ?? 0);
  while (points.at(-1) === 0x10_ffff) points.pop();
  const last = points.pop();
  if (last === undefined) return undefined;
  // There are no characters from U+D800 to U+DFFF.
  return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1);
}

type NamedRow = readonly [matches: boolean, isLast: boolean, nameKey: string, ...animal: unknown[]];

type Lines = readonly [lines: string];

export class TypeOrmAnimalRepository implements AnimalRepository {
  constructor(
    private readonly dataSource: DataSource,
    private readonly policy: CategoryPolicy,
  ) {}

  async add(animal: NewAnimal, transaction?: Transaction): Promise<Animal> {
    if (this.policy === 'strict') {
      const [outcome] = await this.addKnown([animal], transaction);
      if (outcome instanceof DomainError) throw outcome;
      return inserted(outcome);
    }
    const values = columns.rowValuesOf(rowOf(animal));
    return inserted(columns.fromRows(await queryPrepared(this.dataSource, ADD, values, transaction))[0]);
  }

  /** Stores each animal under a new id, in the given order. For a refused one the result has its error. */
  async addAll(animals: readonly NewAnimal[]): Promise<readonly (Animal | DomainError)[]> {
    if (this.policy === 'strict') return this.addKnown(animals);
    return columns.fromRows(await queryPrepared(this.dataSource, ADD_ALL, columns.valuesOf(animals.map(rowOf))));
  }

  async findById(id: AnimalId): Promise<Animal | undefined> {
    const [row] = await readPrepared<Lines>(this.dataSource, FIND, [id]);
    return row && animalsIn(row[0])[0];
  }

  async list(query: AnimalQuery): Promise<readonly Animal[]> {
    const { name, text, values } = listOf(query);
    const rows = await readPrepared<Lines>(this.dataSource, { name, text: linesOf(text) }, values);
    const animals = rows.flatMap(([lines]) => animalsIn(lines));
    return query.before === undefined ? animals : animals.toReversed();
  }

  async listByName(query: NamedAnimalsQuery): Promise<NamedAnimals> {
    const { values, ...statement } = listOfNamed(query);
    const rows = await readPrepared<NamedRow>(this.dataSource, statement, values);
    const matching = rows.filter(([matches]) => matches);
    const animals = columns.fromRows(matching, 3);
    const [last] = rows.slice(-1);
    const [end] = columns.fromRows(rows.slice(-1), 3);
    if (last === undefined || end === undefined || !last[1]) return { animals, readTo: undefined };
    return { animals, readTo: { nameKey: last[2], id: end.id } };
  }

  /** Several pages of one size, with one statement. Either all starts have a status, or none has. */
  async listEach(starts: readonly PageStart[], limit: number): Promise<readonly (readonly Animal[])[]> {
    const places = starts.map(({ after }) => after);
    const rows = await (starts[0]?.status === undefined
      ? readPrepared<Lines>(this.dataSource, PAGES, [places, limit])
      : readPrepared<Lines>(this.dataSource, PAGES_BY_STATUS, [starts.map(({ status }) => status), places, limit]));
    return rows.map(([lines]) => animalsIn(lines));
  }

  async change(id: AnimalId, decide: (state: AnimalState) => DecidedAnimal, named?: CategoryId): Promise<Animal> {
    return inTransaction(this.dataSource, async (manager) => {
      const { animal: changed, events } = decide(await lockedState(manager, id));
      if (this.policy === 'strict' && named !== undefined) await lockCategory(manager, named);
      await manager.update(animalSchema, { id }, rowOf(changed));
      await addEvents(manager, events);
      return changed;
    });
  }

  async withdraw(id: AnimalId, at: Instant, decide: (state: AnimalState) => DecidedAnimal): Promise<void> {
    await inTransaction(this.dataSource, async (manager) => {
      const { animal, events } = decide(await lockedState(manager, id));
      await manager.query(MOVE_TO_WITHDRAWN, [animal.id, new Date(at), ...eventValues(events)]);
    });
  }

  /** Stores the animals whose categories are known. */
  private async addKnown(
    animals: readonly NewAnimal[],
    transaction?: Transaction,
  ): Promise<readonly (Animal | DomainError)[]> {
    const values = columns.valuesOf(animals.map(rowOf));
    const stored = columns.fromRows(await queryPrepared(this.dataSource, ADD_ALL_KNOWN, values, transaction));
    // All animals of a known category were stored, in the given order.
    const known = new Set(stored.map(({ categoryId }) => categoryId));
    const next = stored.values();
    return animals.map(({ categoryId }) => (known.has(categoryId) ? inserted(next.next().value) : unknownCategory()));
  }
}

function inserted(animal: Animal | undefined): Animal {
  if (animal === undefined) throw new Error('the INSERT returned no row');
  return animal;
}

/** Two queries, because only a query that begins after the lock is held sees all earlier orders. */
async function lockedState(manager: EntityManager, id: AnimalId): Promise<AnimalState> {
  const animal = await manager.findOne(animalSchema, { where: { id }, lock: { mode: 'for_no_key_update' } });
  const isOrdered = await manager.existsBy<Order>('Order', { animalId: id, status: hasStatus('placed') });
  return { animal: animal ?? undefined, isOrdered };
}

/** @throws DomainError `invalid_parameter` if the category is unknown. */
async function lockCategory(manager: EntityManager, id: CategoryId): Promise<void> {
  const found = await manager.query<unknown[]>(LOCK_CATEGORY, [id]);
  if (found.length === 0) throw unknownCategory();
}
