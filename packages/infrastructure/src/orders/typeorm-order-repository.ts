import {
  type AccountId,
  INT64_MIN,
  type Instant,
  type NewOrder,
  type Order,
  type OrderId,
  type OrderOutcome,
  type OrderQuery,
  type OrderRepository,
  petStatusOnceOrder,
  statusesBefore,
  tooManyOrders,
  type Transaction,
} from '@adoption-store/domain';
import type { DataSource, Repository } from 'typeorm';
import { readFromDatabase, sqlState, UNIQUE_VIOLATION } from '../database/database-errors.js';
import { writeToDatabase } from '../database/transaction-limits.js';
import { attempt } from '../database/transactions.js';
import { Columns } from '../database/columns.js';
import { orderSchema } from './order.schema.js';

const columns = new Columns(orderSchema);

/**
 * One statement, for one round trip. `may_place_order` locks the account until the transaction ends and only then
 * counts, with its own snapshot: the statement's snapshot is older and would miss orders placed during the wait.
 */
const PLACE = `
  WITH asked AS MATERIALIZED (
    SELECT $6::integer IS NULL OR may_place_order($1::bigint, $6::integer) AS may
  ), reserved AS (
    UPDATE animals SET status = $3 WHERE id = $2 AND status = ANY($4) AND (SELECT may FROM asked) RETURNING id
  ), placed AS (
    INSERT INTO orders (account_id, animal_id, status, created_at, updated_at)
    SELECT $1::bigint, id, 'placed', $5::timestamptz, $5::timestamptz FROM reserved
    RETURNING *
  )
  SELECT may, placed.* FROM asked LEFT JOIN placed ON true`;

/**
 * The lock on the order decides who ends it, so it is taken first. Locking the animal first would be wrong: a
 * transaction that waited for it would still see the old order, and would sell the animal of an order that was
 * cancelled meanwhile.
 */
const END = (which: string) => `
  WITH ended AS (
    UPDATE orders SET status = $1, updated_at = $2 WHERE status = 'placed' AND ${which} RETURNING *
  ), released AS (
    UPDATE animals SET status = $3 FROM ended WHERE animals.id = ended.animal_id AND animals.status = ANY($4)
  )
  SELECT * FROM ended`;

const END_ONE = END('id = $5 AND account_id = $6');

// An array, because a joined subquery may run more than once and lock more rows than its limit. Locked rows are already
// being ended, so they are skipped and workers share the work.
const END_DUE = END(`id = ANY(ARRAY(
  SELECT id FROM orders WHERE status = 'placed' AND created_at <= $5
  ORDER BY created_at, id LIMIT $6 FOR UPDATE SKIP LOCKED))`);

export class TypeOrmOrderRepository implements OrderRepository {
  constructor(private readonly dataSource: DataSource) {}

  private get orders(): Repository<Order> {
    return this.dataSource.getRepository(orderSchema);
  }

  async place({ accountId, animalId, createdAt }: NewOrder, mostPlaced?: number, transaction?: Transaction) {
    const parameters = [accountId, animalId, ...animalChange('placed'), new Date(createdAt), mostPlaced ?? null];
    const [row] = await writeToDatabase(
      this.dataSource,
      (manager) =>
        attempt(manager, (within) => within.query<{ may: boolean; id: string | null }[]>(PLACE, parameters)).catch(
          (error: unknown) => {
            if (sqlState(error) === UNIQUE_VIOLATION) return [];
            throw error;
          },
        ),
      transaction,
    );
    if (row?.may === false && mostPlaced !== undefined) throw tooManyOrders(mostPlaced);
    return row === undefined || row.id === null ? undefined : columns.fromRow(row);
  }

  async findById(accountId: AccountId, id: OrderId): Promise<Order | undefined> {
    return readFromDatabase(this.dataSource, async () => (await this.orders.findOneBy({ id, accountId })) ?? undefined);
  }

  /**
   * A range of one index, from one place to another. With `account_id = …` PostgreSQL would order by id only, and might
   * scan the orders of all accounts until it had found enough.
   */
  async list({ accountId, status, after, before, limit }: OrderQuery): Promise<readonly Order[]> {
    const isBack = before !== undefined;
    const begin = isBack ? '<' : after === undefined ? '>=' : '>';
    const [end, direction] = isBack ? (['>=', 'DESC'] as const) : (['<=', 'ASC'] as const);
    const place = { accountId, status, place: before ?? after ?? (INT64_MIN as OrderId) };
    const query = this.orders.createQueryBuilder('orders').limit(limit).orderBy('orders.accountId', direction);
    if (status === undefined) {
      query.where(`(orders.accountId, orders.id) ${begin} (:accountId, :place)`, place);
      query.andWhere(`orders.accountId ${end} :accountId`);
    } else {
      query.where('orders.accountId = :accountId', place);
      query.andWhere(`(orders.status, orders.id) ${begin} (:status, :place)`).andWhere(`orders.status ${end} :status`);
      query.addOrderBy('orders.status', direction);
    }
    const found = await readFromDatabase(this.dataSource, () => query.addOrderBy('orders.id', direction).getMany());
    return isBack ? found.reverse() : found;
  }

  async end({ accountId, id, outcome, at }: Parameters<OrderRepository['end']>[0], transaction?: Transaction) {
    const [ended] = await this.endThose(END_ONE, outcome, at, [id, accountId], transaction);
    return ended;
  }

  async expire({ placedUntil, at, limit }: Parameters<OrderRepository['expire']>[0]): Promise<readonly Order[]> {
    return this.endThose(END_DUE, 'expired', at, [new Date(placedUntil), limit]);
  }

  private async endThose(
    text: string,
    outcome: OrderOutcome,
    at: Instant,
    which: readonly unknown[],
    transaction?: Transaction,
  ) {
    const parameters = [outcome, new Date(at), ...animalChange(outcome), ...which];
    const rows = await writeToDatabase(
      this.dataSource,
      (manager) => manager.query<Record<string, unknown>[]>(text, parameters),
      transaction,
    );
    return rows.map((row) => columns.fromRow(row));
  }
}

/** The new status of an animal, and the statuses from which it may change. */
function animalChange(status: Order['status']) {
  const to = petStatusOnceOrder[status];
  return [to, statusesBefore(to, 'order')];
}
