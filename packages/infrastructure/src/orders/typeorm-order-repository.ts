import {
  type AccountId,
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
import { accountSchema } from '../accounts/account.schema.js';
import { animalSchema } from '../animals/animal.schema.js';
import { readFromDatabase } from '../database/database-errors.js';
import { inTransaction } from '../database/transactions.js';
import { hasStatus, orderSchema } from './order.schema.js';

const LOCKED = { mode: 'for_no_key_update' } as const;

export class TypeOrmOrderRepository implements OrderRepository {
  constructor(private readonly dataSource: DataSource) {}

  private get orders(): Repository<Order> {
    return this.dataSource.getRepository(orderSchema);
  }

  async place(
    { accountId, animalId }: Parameters<OrderRepository['place']>[0],
    decide: (state: PlacementState) => PlacedOrder,
    transaction?: Transaction,
  ): Promise<Order> {
    const place = async (manager: EntityManager) => {
      await manager.findOne(accountSchema, { select: { id: true }, where: { id: accountId }, lock: LOCKED });
      // Each begins with the lock held, so it sees every order before it.
      const placedOrders = await manager.countBy(orderSchema, { accountId, status: 'placed' });
      const stored = await manager.findOne(animalSchema, { where: { id: animalId }, lock: LOCKED });
      const hasLiveOrder = await manager.existsBy(orderSchema, { animalId, status: hasStatus(...LIVE_ORDER_STATUSES) });
      const { order, animal } = decide({ animal: stored ?? undefined, hasLiveOrder, placedOrders });
      const { identifiers } = await manager.insert(orderSchema, { ...order });
      await manager.update(animalSchema, { id: animalId }, { status: animal.status });
      return { ...order, id: BigInt(identifiers[0]?.['id'] as string) as OrderId };
    };
    return inTransaction(this.dataSource, place, { within: transaction });
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
      // Others that are locked now are decided on elsewhere. What is still due then is found the next time.
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

/** One statement for each table, however many there are. */
async function store(manager: EntityManager, ended: readonly EndedOrder[]): Promise<void> {
  const orders = ended.map(({ order }) => order);
  await manager.query(
    `UPDATE orders SET status = ended.status, updated_at = ended.updated_at
    FROM unnest($1::bigint[], $2::text[], $3::timestamptz[]) AS ended (id, status, updated_at)
    WHERE orders.id = ended.id`,
    [
      orders.map(({ id }) => id),
      orders.map(({ status }) => status),
      orders.map(({ updatedAt }) => new Date(updatedAt)),
    ],
  );
  const animals = ended.flatMap(({ animal }) => animal ?? []);
  await manager.query(
    `UPDATE animals SET status = changed.status
    FROM unnest($1::bigint[], $2::text[]) AS changed (id, status) WHERE animals.id = changed.id`,
    [animals.map(({ id }) => id), animals.map(({ status }) => status)],
  );
}
