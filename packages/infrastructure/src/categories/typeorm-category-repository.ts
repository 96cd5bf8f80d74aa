import {
  type AdditionState,
  type Category,
  type CategoryId,
  nameKey,
  categoryNameTaken,
  type CategoryQuery,
  type CategoryRepository,
  type NamedCategory,
  type NamingState,
  type DeletionState,
  type Transaction,
} from '@adoption-store/domain';
import type { DataSource, EntityManager } from 'typeorm';
import { Columns } from '../database/columns.js';
import { sqlState, UNIQUE_VIOLATION } from '../database/database-errors.js';
import { listById, readPrepared } from '../database/prepared.js';
import { inTransaction } from '../database/transactions.js';
import { categorySchema } from './category.schema.js';

/** An arbitrary constant that must never change. Every change of a category holds this lock. */
const CATEGORIES_LOCK = 4_711_120_367;

/** Far more ids than any database has animals. */
const WIDEST_RANGE = 2 ** 48;

const CANDIDATE = `
  SELECT id FROM next_category_id(floor(random() * $1)::bigint) AS candidate (id)
  WHERE NOT is_category_used(id) AND NOT EXISTS (SELECT FROM categories WHERE categories.id = candidate.id)`;

const columns = new Columns(categorySchema);

const SELECT = `SELECT ${columns.list()} FROM categories`;

/** The exact spelling is looked up first, because names from before 1.0.0 may differ only in their Unicode normal form. */
const FIND_NAMESAKE = {
  name: 'categories namesake',
  text: `${SELECT} WHERE normalize(name_key, NFC) = normalize($1, NFC) ORDER BY name_key = $1 DESC LIMIT 1`,
};

const FIND = { name: 'categories find', text: `${SELECT} WHERE id = $1` };

const listOf = listById<CategoryQuery>('categories', SELECT, { ids: (place) => `id = ANY(${place})` });

export class TypeOrmCategoryRepository implements CategoryRepository {
  constructor(private readonly dataSource: DataSource) {}

  async add(name: string, decide: (state: AdditionState) => Category, transaction?: Transaction): Promise<Category> {
    return this.change(async (manager) => {
      const state = { id: await unusedId(manager), namesake: await findNamesake(manager, name) };
      return store(manager, decide(state));
    }, transaction);
  }

  async findById(id: CategoryId): Promise<Category | undefined> {
    const [row] = await readPrepared(this.dataSource, FIND, [id]);
    return row && columns.fromRows([row])[0];
  }

  async findByName(name: string): Promise<Category | undefined> {
    const [row] = await readPrepared(this.dataSource, FIND_NAMESAKE, [nameKey(name)]);
    return row && columns.fromRows([row])[0];
  }

  async list(query: CategoryQuery): Promise<readonly Category[]> {
    const { values, ...statement } = listOf(query);
    const rows = await readPrepared(this.dataSource, statement, values);
    const categories = columns.fromRows(rows);
    return query.before === undefined ? categories : categories.toReversed();
  }

  async name({ id, name }: Category, decide: (state: NamingState) => NamedCategory): Promise<NamedCategory> {
    return this.change(async (manager) => {
      const lock = { mode: 'for_no_key_update' } as const;
      const category = (await manager.findOne(categorySchema, { where: { id }, lock })) ?? undefined;
      const state = { category, namesake: await findNamesake(manager, name) };
      const named = decide(state);
      await store(manager, named.category);
      return named;
    });
  }

  async delete(id: CategoryId, decide: (state: DeletionState) => void): Promise<void> {
    return this.change(async (manager) => {
      // Later additions of animals to the category wait until it is removed. Earlier ones, such as a long import, hold
      // its row: waiting for them would make every change of a category wait.
      const lock = { mode: 'pessimistic_write', onLocked: 'skip_locked' } as const;
      const locked = await manager.findOne(categorySchema, { where: { id }, lock });
      const category = locked ?? (await manager.findOne(categorySchema, { where: { id } })) ?? undefined;
      // Read with the row locked, so it sees every animal that was added to the category before the lock.
      const isUsed = (await isCategoryUsed(manager, id)) || (locked === null && category !== undefined);
      decide({ category, isUsed });
      await manager.delete(categorySchema, { id });
    });
  }

  /**
   * Runs one change at a time, because whether a name or an id is free depends on all categories. Changes are rare.
   * Locks are always taken in the same order: the idempotency record, this lock, the category's row.
   */
  private async change<Result>(
    work: (manager: EntityManager) => Promise<Result>,
    within?: Transaction,
  ): Promise<Result> {
    return inTransaction(
      this.dataSource,
      async (manager) => {
        await manager.query('SELECT pg_advisory_xact_lock($1)', [CATEGORIES_LOCK]);
        return work(manager);
      },
      { within },
    );
  }
}

/**
 * Takes the next id of the sequence. If it is used, the sequence is moved forward by a random step, whose range doubles
 * with each try. So even a long run of used ids takes few tries, and nobody can predict the ids that will be tried.
 * Once the range is twice the number of used ids, each try succeeds at least half the time.
 */
async function unusedId(manager: EntityManager): Promise<CategoryId> {
  for (let range = 1; range <= WIDEST_RANGE; range *= 2) {
    const [candidate] = await manager.query<{ id: string }[]>(CANDIDATE, [range]);
    if (candidate !== undefined) return BigInt(candidate.id) as CategoryId;
  }
  throw new Error('no unused id was found for a category');
}

async function isCategoryUsed(manager: EntityManager, id: CategoryId): Promise<boolean> {
  const [row] = await manager.query<[{ isUsed: boolean }]>('SELECT is_category_used($1) AS "isUsed"', [id]);
  return row.isUsed;
}

async function findNamesake(manager: EntityManager, name: string): Promise<Category | undefined> {
  const [row] = await manager.query<Readonly<Record<string, unknown>>[]>(FIND_NAMESAKE.text, [nameKey(name)]);
  return row && columns.fromRow(row);
}

/** @throws DomainError `category_name_taken` if the name was given without the lock, as by hand. */
async function store(manager: EntityManager, category: Category): Promise<Category> {
  const row = { ...category, nameKey: nameKey(category.name) };
  try {
    // A savepoint, because PostgreSQL refuses further statements of a transaction after a failed one.
    await manager.transaction((within) => within.upsert(categorySchema, row, ['id']));
    return category;
  } catch (error) {
    throw sqlState(error) === UNIQUE_VIOLATION ? categoryNameTaken(category.name) : error;
  }
}
