import {
  type Animal,
  type AnimalId,
  type AnimalQuery,
  type AnimalRepository,
  type AnimalState,
  type CategoryId,
  type CategoryPolicy,
  type DecidedAnimal,
  type Fields,
  type Instant,
  INT64_MIN,
  type NewAnimal,
  type Order,
  PET_STATUSES,
  type Transaction,
  unknownCategory,
} from '@adoption-store/domain';
import type { DataSource, EntityManager } from 'typeorm';
import { Columns, hasStatus } from '../database/columns.js';
import { FOREIGN_KEY_VIOLATION, sqlState } from '../database/database-errors.js';
import { queryPrepared, readPrepared, type Statement } from '../database/prepared.js';
import { inTransaction } from '../database/transactions.js';
import { addEvents, eventValues, storeEventOfEach, storeEvents } from '../events/outbox.js';
import { animalSchema } from './animal.schema.js';

const columns = new Columns(animalSchema);
const SELECT = `SELECT ${columns.list()} FROM animals`;

const FIND = { name: 'animals find', text: `${SELECT} WHERE id = $1` };

function byPolicy(statement: (policy: CategoryPolicy) => Statement): Readonly<Record<CategoryPolicy, Statement>> {
  return { open: statement('open'), strict: statement('strict') };
}

/**
 * SQL for a value of a new row. `known_category` refuses an unknown category. As a foreign key would, it keeps a known one
 * from being removed until the transaction ends.
 */
function checked(policy: CategoryPolicy, column: string, value: string): string {
  return policy === 'strict' && column === 'category_id' ? `known_category(${value})` : value;
}

/** SQL that stores the event of each row of `added`. */
const STORE_ADDED = storeEventOfEach('pet.added', columns.listNamed(), 'added');

const ADD = byPolicy((policy) => ({
  name: `animals add ${policy}`,
  text: `
  WITH added AS (
    INSERT INTO animals (${columns.listInserted()})
    VALUES (${columns.listInserted((place, name) => checked(policy, name, `$${place}`))})
    RETURNING ${columns.list()}
  ), event AS (${STORE_ADDED})
  SELECT * FROM added`,
}));

// The column draws its ids in the order of the animals, because volatile values are computed after the sort. An explicit
// nextval would need a right on the sequence that the role of the services doesn't have.
const ADD_ALL = byPolicy((policy) => ({
  name: `animals add all ${policy}`,
  text: `
  WITH added AS (
    INSERT INTO animals (${columns.listInserted()})
    SELECT ${columns.listInserted((_place, name) => checked(policy, name, name))}
    FROM unnest(${columns.listInserted((place, _name, type) => `$${place}::${type}[]`)})
      WITH ORDINALITY AS given (${columns.listInserted()}, place)
    ORDER BY place
    RETURNING ${columns.list()}
  ), event AS (${STORE_ADDED})
  SELECT * FROM added ORDER BY id`,
}));

const MOVE_TO_WITHDRAWN = `
  WITH withdrawn AS (DELETE FROM animals WHERE id = $1 RETURNING ${columns.list()}), event AS (${storeEvents(3)})
  INSERT INTO withdrawn_animals (${columns.list()}, withdrawn_at) SELECT ${columns.list()}, $2 FROM withdrawn`;

/**
 * The row comparison makes a page by status a range of one index. With `status = …` PostgreSQL might scan animals of all
 * statuses by id until it has found enough.
 */
function listOf(query: AnimalQuery): Statement & { readonly values: unknown[] } {
  const { status, ids, categoryIds, after, before, limit } = query;
  const isBack = before !== undefined;
  if (ids === undefined && categoryIds !== undefined) return pageOfCategories({ ...query, categoryIds });
  const values: unknown[] = [limit];
  const place = (value: unknown) => `$${values.push(value)}`;
  const isRange = status !== undefined && ids === undefined;
  const conditions: string[] = [];
  if (isRange) {
    const same = place(status);
    if (isBack) conditions.push(`(status, id) < (${same}, ${place(before)})`, `status >= ${same}`);
    else {
      const begin = after === undefined ? `>= (${same}, '${INT64_MIN}'::bigint)` : `> (${same}, ${place(after)})`;
      conditions.push(`(status, id) ${begin}`, `status <= ${same}`);
    }
  } else {
    if (ids !== undefined) conditions.push(`id = ANY(${place(ids)})`);
    if (categoryIds !== undefined) conditions.push(`category_id = ANY(${place(categoryIds)})`);
    if (status !== undefined) conditions.push(`status = ${place(status)}`);
    if (after !== undefined) conditions.push(`id > ${place(after)}`);
    if (isBack) conditions.push(`id < ${place(before)}`);
  }
  const where = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;
  const direction = isBack ? ' DESC' : '';
  const order = isRange ? `status${direction}, id${direction}` : `id${direction}`;
  return {
    // Each combination of filters has a text of its own.
    name:
      `animals${status === undefined ? '' : ' status'}${ids === undefined ? '' : ' ids'}` +
      `${categoryIds === undefined ? '' : ' categories'}${after === undefined ? '' : ' after'}${isBack ? ' before' : ''}`,
    text: `${SELECT}${where} ORDER BY ${order} LIMIT $1`,
    values,
  };
}

/**
 * Takes the first ids of each category and status from one index, then reads only the rows of the page. Each range has a
 * limit instead of an upper bound: before version 18 PostgreSQL doesn't stop at a bound of the second column, and would
 * read the rest of the category.
 */
function pageOfCategories(query: AnimalQuery & { categoryIds: readonly bigint[] }) {
  const { status, categoryIds, after, before, limit } = query;
  const statuses = status === undefined ? PET_STATUSES : [status];
  const place = before ?? after;
  const start = after === undefined ? `>= (category, wanted, '${INT64_MIN}'::bigint)` : '> (category, wanted, $4)';
  const [begin, direction] = before === undefined ? [start, ''] : ['< (category, wanted, $4)', ' DESC'];
  return {
    name: `animals of categories${before === undefined ? '' : ' before'}${after === undefined ? '' : ' after'}`,
    text: `
    ${SELECT} WHERE id = ANY(ARRAY(
      SELECT next.id FROM unnest($2::bigint[]) AS category, unnest($3::text[]) AS wanted, LATERAL (
        SELECT category_id, status, id FROM animals WHERE (category_id, status, id) ${begin}
        ORDER BY category_id${direction}, status${direction}, id${direction} LIMIT $1
      ) AS next
      WHERE (category_id, status) = (category, wanted) ORDER BY next.id${direction} LIMIT $1
    )) ORDER BY id${direction}`,
    // A category that is given twice must not return its animals twice.
    values: [limit, [...new Set(categoryIds)], statuses, ...(place === undefined ? [] : [place])],
  };
}

export class TypeOrmAnimalRepository implements AnimalRepository {
  constructor(
    private readonly dataSource: DataSource,
    private readonly policy: CategoryPolicy = 'open',
  ) {}

  async add(animal: NewAnimal, transaction?: Transaction): Promise<Animal> {
    const rows = await this.write(ADD[this.policy], columns.valuesOf([animal]).flat(), transaction);
    const [added] = columns.fromRows(rows);
    if (added === undefined) throw new Error('the INSERT returned no row');
    return added;
  }

  /** Stores all animals or none, each under a new id, in the given order. */
  async addAll(animals: readonly NewAnimal[]): Promise<readonly Animal[]> {
    return columns.fromRows(await this.write(ADD_ALL[this.policy], columns.valuesOf(animals)));
  }

  async findById(id: AnimalId): Promise<Animal | undefined> {
    return columns.fromRows(await readPrepared(this.dataSource, FIND, [id]))[0];
  }

  async list(query: AnimalQuery): Promise<readonly Animal[]> {
    const { values, ...statement } = listOf(query);
    const animals = columns.fromRows(await readPrepared(this.dataSource, statement, values));
    return query.before === undefined ? animals : animals.toReversed();
  }

  async change(id: AnimalId, decide: (state: AnimalState) => DecidedAnimal, named?: CategoryId): Promise<Animal> {
    return inTransaction(this.dataSource, async (manager) => {
      const { animal: changed, events } = decide(await lockedState(manager, id));
      const { name, categoryId, status } = changed;
      const isChecked = this.policy === 'strict' && named !== undefined;
      const category = isChecked ? () => `known_category('${categoryId}')` : categoryId;
      const written = { name, categoryId: category, status } satisfies Fields<NewAnimal>;
      await refusingUnknown(manager.update(animalSchema, { id }, written));
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

  private async write(
    statement: Statement,
    values: unknown[],
    transaction?: Transaction,
  ): Promise<readonly unknown[][]> {
    return refusingUnknown(queryPrepared(this.dataSource, statement, values, transaction));
  }
}

/** Two queries, because only a query that begins after the lock is held sees all earlier orders. */
async function lockedState(manager: EntityManager, id: AnimalId): Promise<AnimalState> {
  const animal = await manager.findOne(animalSchema, { where: { id }, lock: { mode: 'for_no_key_update' } });
  const isOrdered = await manager.existsBy<Order>('Order', { animalId: id, status: hasStatus('placed') });
  return { animal: animal ?? undefined, isOrdered };
}

/** @throws DomainError `invalid_parameter` if the policy is `strict` and a category is unknown. */
async function refusingUnknown<Result>(writing: Promise<Result>): Promise<Result> {
  return writing.catch((error: unknown) => {
    throw sqlState(error) === FOREIGN_KEY_VIOLATION ? unknownCategory() : error;
  });
}
