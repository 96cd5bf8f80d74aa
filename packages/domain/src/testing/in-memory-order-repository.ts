import type { AccountId } from '../accounts/account.js';
import { statusesBefore } from '../animals/animal.js';
import { instant } from '../kernel/clock.js';
import {
  type NewOrder,
  type Order,
  type OrderId,
  type OrderOutcome,
  petStatusOnceOrder,
  tooManyOrders,
} from '../orders/order.js';
import type { OrderQuery, OrderRepository } from '../orders/order-repository.js';
import type { InMemoryAnimalRepository } from './in-memory-animal-repository.js';
import { remember } from './in-memory-idempotency-records.js';

export class InMemoryOrderRepository implements OrderRepository {
  // Insertion order is id order, as with the animals.
  private readonly orders = new Map<OrderId, Order>();

  constructor(private readonly animals: InMemoryAnimalRepository) {
    animals.askAboutOrders((id) =>
      [...this.orders.values()].some((order) => order.animalId === id && order.status === 'placed'),
    );
  }

  async place(order: NewOrder, mostPlaced = Infinity): Promise<Order | undefined> {
    const isPlaced = ({ accountId, status }: Order) => accountId === order.accountId && status === 'placed';
    if ([...this.orders.values()].filter(isPlaced).length >= mostPlaced) throw tooManyOrders(mostPlaced);
    const status = petStatusOnceOrder.placed;
    if (!this.animals.changeStatus(order.animalId, statusesBefore(status, 'order'), status)) return undefined;
    const id = BigInt(this.orders.size + 1) as OrderId;
    return this.put({ ...order, id, status: 'placed', updatedAt: order.createdAt });
  }

  async findById(accountId: AccountId, id: OrderId): Promise<Order | undefined> {
    const order = this.orders.get(id);
    return order?.accountId === accountId ? order : undefined;
  }

  async list({ accountId, status, after, before, limit }: OrderQuery): Promise<readonly Order[]> {
    return [...this.orders.values()]
      .filter((order) => order.accountId === accountId)
      .filter((order) => status === undefined || order.status === status)
      .filter((order) => after === undefined || order.id > after)
      .filter((order) => before === undefined || order.id < before)
      .slice(...(before === undefined ? [0, limit] : [-limit]));
  }

  async end({ accountId, id, outcome, at }: Parameters<OrderRepository['end']>[0]): Promise<Order | undefined> {
    const order = this.orders.get(id);
    return order?.accountId === accountId && order.status === 'placed' ? this.settle(order, outcome, at) : undefined;
  }

  async expire({ placedUntil, at, limit }: Parameters<OrderRepository['expire']>[0]): Promise<readonly Order[]> {
    return [...this.orders.values()]
      .filter(({ status, createdAt }) => status === 'placed' && createdAt <= placedUntil)
      .slice(0, limit)
      .map((order) => this.settle(order, 'expired', at));
  }

  private settle(order: Order, outcome: OrderOutcome, at: number): Order {
    const status = petStatusOnceOrder[outcome];
    this.animals.changeStatus(order.animalId, statusesBefore(status, 'order'), status);
    return this.put({ ...order, status: outcome, updatedAt: instant(at) });
  }

  private put(order: Order): Order {
    this.orders.set(order.id, order);
    return order;
  }

  /** Returns a function that restores the current state. */
  remember(): () => void {
    return remember(this.orders);
  }
}
