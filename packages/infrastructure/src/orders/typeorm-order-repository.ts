import { readFromDatabase } from '../database/on-database.js';
import {
  type AccountId,
  type AccountOrder,
  type AllOrdersQuery,
  type AnimalId,
  type EndedOrder,
  type EndState,
  INT64_MIN,
  LIVE_ORDER_STATUSES,
  type Order,
  type OrderId,
  type OrderQuery,
  type OrderRepository,
  type PlacedOrder,
  type PlacementState,
  type Transaction,
} from '@adoption-store/domain';
import { type DataSource, type EntityManager, In, LessThanOrEqual, type Repository } from 'typeorm';
import { animalSchema } from '../animals/animal.schema.js';
import { Columns, hasStatus, isOneOf } from '../database/columns.js';
import { scanOf } from '../database/prepared.js';
import { inTransaction } from '../database/transactions.js';
import { eventValues, storeEvents } from '../events/outbox.js';
import { accountOrderFrom, type OrderRow, orderSchema } from './order.schema.js';

const LOCKED = { mode: 'for_no_key_update' } as const;

const columns = new Columns(orderSchema);

// While one order is placed, the account's other orders wait. So there are few queries, and they are written in SQL:
// with TypeORM's, a hundred concurrent orders took twice as long.
const LOCK_ACCOUNT = 'SELECT FROM accounts WHERE id = $1 FOR NO KEY UPDATE';
const STATE = `
  SELECT next_order_id() AS id,
    (SELECT count(*)::integer FROM orders WHERE account_id = $1 AND status = 'placed') AS "placedOrders",
    EXISTS (SELECT FROM orders WHERE animal_id = $2 AND status ${isOneOf(...LIVE_ORDER_STATUSES)}) AS "hasLiveOrder"`;
const STORE_PLACED = `
  WITH reserved AS (UPDATE animals SET status = $1 WHERE id = $2), event AS (${storeEvents(4)})
  INSERT INTO orders (id, ${columns.listInserted()}) VALUES ($3, ${columns.listParameters(7)})`;

const STORE_ENDED = `
  WITH ended AS (
    UPDATE orders SET status = changed.status, updated_at = changed.updated_at
    FROM unnest($1::bigint[], $2::text[], $3::timestamptz[]) AS changed (id, status, updated_at)
    WHERE orders.id = changed.id
  ), event AS (${storeEvents(6)})
  UPDATE animals SET status = changed.status
  FROM unnest($4::bigint[], $5::text[]) AS changed (id, status)
  WHERE animals.id = changed.id`;

type StateRow = Omit<PlacementState, 'animal' | 'id'> & { readonly id: string };

/** Rows are locked in this order, so that no two callers wait for each other: account, order, animal. */
export class TypeOrmOrderRepository implements OrderRepository {
  constructor(private readonly dataSource: DataSource) {}

  private get orders(): Repository<OrderRow> {
    return this.dataSource.getRepository(orderSchema);
  }

  async place(
    { accountId, animalId }: Parameters<OrderRepository['place']>[0],
    decide: (state: PlacementState) => PlacedOrder,
    transaction?: Transaction,
  ): Promise<Order> {
    const place = async (manager: EntityManager) => {
      await manager.query(LOCK_ACCOUNT, [accountId]);
      const stored = await manager.findOne(animalSchema, { where: { id: animalId }, lock: LOCKED });
      // This query begins with both locks held, so it sees all earlier orders.
      const [{ id, ...counted }] = await manager.query<[StateRow]>(STATE, [accountId, animalId]);
      const { order, animal, events } = decide({ id: BigInt(id) as OrderId, animal: stored ?? undefined, ...counted });
      const values = [animal.status, animal.id, order.id, ...eventValues(events), ...columns.rowValuesOf(order)];
      await manager.query(STORE_PLACED, values);
      return order;
    };
    return inTransaction(this.dataSource, place, { within: transaction });
  }

  async findById(accountId: AccountId, id: OrderId): Promise<Order | undefined> {
    return readFromDatabase(this.dataSource, async () => (await this.orders.findOneBy({ id, accountId })) ?? undefined);
  }

  async findPlaced(accountId: AccountId, animalId: AnimalId): Promise<Order | undefined> {
    const where = { accountId, animalId, status: hasStatus('placed') };
    return readFromDatabase(this.dataSource, async () => (await this.orders.findOneBy(where)) ?? undefined);
  }

  /**
   * The row comparison makes the page a range of one index. With `account_id = …` PostgreSQL might scan the orders of
   * all accounts by id until it has found enough.
   */
  async list({ accountId, status, limit, ...at }: OrderQuery): Promise<readonly Order[]> {
    const { position, beyond, end, direction, inOrder } = scanOf('ASC', at);
    const begin = position === undefined ? '>=' : beyond;
    const place = { accountId, status, place: position ?? INT64_MIN };
    const query = this.orders.createQueryBuilder('orders').limit(limit).orderBy('orders.accountId', direction);
    if (status === undefined) {
      query.where(`(orders.accountId, orders.id) ${begin} (:accountId, :place)`, place);
      query.andWhere(`orders.accountId ${end} :accountId`);
    } else {
      query.where('orders.accountId = :accountId', place);
      query.andWhere(`(orders.status, orders.id) ${begin} (:status, :place)`).andWhere(`orders.status ${end} :status`);
      query.addOrderBy('orders.status', direction);
    }
    return inOrder(await readFromDatabase(this.dataSource, () => query.addOrderBy('orders.id', direction).getMany()));
  }

  async listAll({ status, after, limit }: AllOrdersQuery): Promise<readonly AccountOrder[]> {
    const query = this.orders
      .createQueryBuilder('orders')
      .innerJoinAndSelect('orders.account', 'account')
      .where('orders.id > :after', { after: after ?? INT64_MIN })
      .orderBy('orders.id')
      .limit(limit);
    // A literal: a generic plan doesn't know a parameter's value, and so wouldn't use the index of placed orders.
    if (status !== undefined) query.andWhere(`orders.status = 'placed'`);
    const rows = await readFromDatabase(this.dataSource, () => query.getMany());
    return rows.flatMap(accountOrderFrom);
  }

  async change(id: OrderId, decide: (state: EndState) => EndedOrder, transaction?: Transaction): Promise<Order> {
    const change = async (manager: EntityManager) => {
      const order = (await manager.findOne(orderSchema, { where: { id }, lock: LOCKED })) ?? undefined;
      const animal = order && (await manager.findOne(animalSchema, { where: { id: order.animalId }, lock: LOCKED }));
      const ended = decide({ order, animal: animal ?? undefined });
      await store(manager, [ended]);
      return ended.order;
    };
    return inTransaction(this.dataSource, change, { within: transaction });
  }

  async expire(
    { placedUntil, limit }: Parameters<OrderRepository['expire']>[0],
    decide: (state: EndState) => EndedOrder | undefined,
  ): Promise<readonly Order[]> {
    return inTransaction(this.dataSource, async (manager) => {
      // Skips locked orders: another transaction is ending them. If they stay due, the next call finds them.
      const due = await manager.find(orderSchema, {
        where: { status: hasStatus('placed'), createdAt: LessThanOrEqual(placedUntil) },
        order: { createdAt: 'ASC', id: 'ASC' },
        take: limit,
        lock: { ...LOCKED, onLocked: 'skip_locked' },
      });
      if (due.length === 0) return [];
      const animals = await manager.find(animalSchema, {
        where: { id: In(due.map(({ animalId }) => animalId)) },
        order: { id: 'ASC' },
        lock: LOCKED,
      });
      const byId = new Map(animals.map((animal) => [animal.id, animal]));
      const ended = due.flatMap((order) => decide({ order, animal: byId.get(order.animalId) }) ?? []);
      await store(manager, ended);
      return ended.map(({ order }) => order);
    });
  }
}

async function store(manager: EntityManager, ended: readonly EndedOrder[]): Promise<void> {
  const orders = ended.map(({ order }) => order);
  const animals = ended.flatMap(({ animal }) => animal ?? []);
  await manager.query(STORE_ENDED, [
    orders.map(({ id }) => id),
    orders.map(({ status }) => status),
    orders.map(({ updatedAt }) => new Date(updatedAt)),
    animals.map(({ id }) => id),
    animals.map(({ status }) => status),
    ...eventValues(ended.flatMap(({ events }) => events)),
  ]);
}
