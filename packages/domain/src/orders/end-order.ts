import type { Clock } from '../kernel/clock.js';
import type { Transaction } from '../kernel/transaction.js';
import { decideEnd, type Order, type OrderId, type OrderOutcome, type OwnOrder } from './order.js';
import type { OrderRepository } from './order-repository.js';

abstract class EndOrder {
  constructor(
    private readonly orders: OrderRepository,
    private readonly clock: Clock,
    private readonly outcome: OrderOutcome,
  ) {}

  /** @throws DomainError `not_found` if the account has no such order, `order_final` if it has already ended. */
  async execute({ accountId, id }: OwnOrder, transaction?: Transaction): Promise<Order> {
    const end = { accountId, id, outcome: this.outcome };
    const now = this.clock.now();
    return this.orders.change(id as OrderId, (state) => decideEnd(state, end, now), transaction);
  }
}

/** Completes an order: the animal is sold. */
export class CompleteOrder extends EndOrder {
  constructor(orders: OrderRepository, clock: Clock) {
    super(orders, clock, 'completed');
  }
}

/** Cancels an order: its animal is available again. */
export class CancelOrder extends EndOrder {
  constructor(orders: OrderRepository, clock: Clock) {
    super(orders, clock, 'cancelled');
  }
}
