import type { AccountId } from '../accounts/account.js';
import type { AnimalId } from '../animals/animal.js';
import {
  type EndedOrder,
  type EndState,
  LIVE_ORDER_STATUSES,
  type Order,
  type OrderId,
  type OrderStatus,
  type PlacedOrder,
  type PlacementState,
} from '../orders/order.js';
import type { AccountOrder, AllOrdersQuery, OrderQuery, OrderRepository } from '../orders/order-repository.js';
import type { InMemoryAccountRepository } from './in-memory-account-repository.js';
import type { InMemoryAnimalRepository } from './in-memory-animal-repository.js';
import type { InMemoryEventFeed } from './in-memory-event-feed.js';
import { remember } from './in-memory-idempotency-records.js';

export class InMemoryOrderRepository implements OrderRepository {
  // New orders get increasing ids, so the map's order is that of the ids.
  private readonly orders = new Map<OrderId, Order>();
  /** Returns a function that restores the current state. */
  readonly remember = () => remember(this.orders);

  constructor(
    private readonly accounts: InMemoryAccountRepository,
    private readonly animals: InMemoryAnimalRepository,
    private readonly events: InMemoryEventFeed,
  ) {
    animals.askAboutOrders((id) => this.has(id, ['placed']));
  }

  async place(
    { accountId, animalId }: Parameters<OrderRepository['place']>[0],
    decide: (state: PlacementState) => PlacedOrder,
  ): Promise<Order> {
    const placed = decide({
      id: BigInt(this.orders.size + 1) as OrderId,
      animal: this.animals.get(animalId),
      hasLiveOrder: this.has(animalId, LIVE_ORDER_STATUSES),
      placedOrders: this.placed().filter((each) => each.accountId === accountId).length,
    });
    return this.store(placed);
  }

  async findById(accountId: AccountId, id: OrderId): Promise<Order | undefined> {
    const order = this.orders.get(id);
    return order?.accountId === accountId ? order : undefined;
  }

  async findPlaced(accountId: AccountId, animalId: AnimalId): Promise<Order | undefined> {
    return this.placed().find((order) => order.animalId === animalId && order.accountId === accountId);
  }

  async list({ accountId, status, after, before, limit }: OrderQuery): Promise<readonly Order[]> {
    return [...this.orders.values()]
      .filter((order) => order.accountId === accountId)
      .filter((order) => status === undefined || order.status === status)
      .filter((order) => after === undefined || order.id > after)
      .filter((order) => before === undefined || order.id < before)
      .slice(...(before === undefined ? [0, limit] : [-limit]));
  }

  async listAll({ status, after, limit }: AllOrdersQuery): Promise<readonly AccountOrder[]> {
    return [...this.orders.values()]
      .filter((order) => status === undefined || order.status === status)
      .filter((order) => after === undefined || order.id > after)
      .slice(0, limit)
      .map((order) => ({ account: this.accounts.accountOf(order.accountId), order }));
  }

  async change(id: OrderId, decide: (state: EndState) => EndedOrder): Promise<Order> {
    return this.store(decide(this.stateOf(this.orders.get(id))));
  }

  async expire(
    { placedUntil, limit }: Parameters<OrderRepository['expire']>[0],
    decide: (state: EndState) => EndedOrder | undefined,
  ): Promise<readonly Order[]> {
    return this.placed()
      .filter(({ createdAt }) => createdAt <= placedUntil)
      .sort((one, other) => one.createdAt - other.createdAt)
      .slice(0, limit)
      .flatMap((order) => decide(this.stateOf(order)) ?? [])
      .map((ended) => this.store(ended));
  }

  private placed(): Order[] {
    return [...this.orders.values()].filter(({ status }) => status === 'placed');
  }

  private has(animalId: AnimalId, statuses: readonly OrderStatus[]): boolean {
    return [...this.orders.values()].some((order) => order.animalId === animalId && statuses.includes(order.status));
  }

  private stateOf(order: Order | undefined): EndState {
    return { order, animal: order && this.animals.get(order.animalId) };
  }

  private store({ order, animal, events }: EndedOrder): Order {
    this.events.add(events);
    if (animal !== undefined) this.animals.store(animal, animal.id);
    this.orders.set(order.id, order);
    return order;
  }
}
