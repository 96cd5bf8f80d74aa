import type { Transaction } from '../kernel/transaction.js';
import { decideEnd, type Order, type OrderId, type OrderOutcome, type OwnOrder } from './order.js';
import type { OrderPorts } from './ports.js';

abstract class EndOrder {
  constructor(private readonly ports: Pick<OrderPorts, 'orders' | 'clock'>) {}

  protected abstract readonly outcome: OrderOutcome;

  /** @throws DomainError `not_found` if the account has no such order, `order_final` if it has already ended. */
  async execute({ accountId, id }: OwnOrder, transaction?: Transaction): Promise<Order> {
    const end = { accountId, id, outcome: this.outcome };
    const now = this.ports.clock.now();
    return this.ports.orders.change(id as OrderId, (state) => decideEnd(state, end, now), transaction);
  }
}

/** Completes an order: the animal is sold. */
export class CompleteOrder extends EndOrder {
  protected override readonly outcome = 'completed';
}

/** Cancels an order: its animal is available again. */
export class CancelOrder extends EndOrder {
  protected override readonly outcome = 'cancelled';
}
