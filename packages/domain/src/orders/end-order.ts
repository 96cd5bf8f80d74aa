import type { Transaction } from '../kernel/transaction.js';
import { decideEnd, type Order, type OrderEnd, type OrderId, type OrderOutcome } from './order.js';
import type { OrderPorts } from './ports.js';

abstract class EndOrder {
  constructor(private readonly ports: Pick<OrderPorts, 'orders' | 'clock'>) {}

  protected abstract readonly outcome: OrderOutcome;

  /** @throws DomainError as `decideEnd`. */
  async execute(order: Omit<OrderEnd, 'outcome'>, transaction?: Transaction): Promise<Order> {
    const end = { ...order, outcome: this.outcome };
    const now = this.ports.clock.now();
    return this.ports.orders.change(order.id as OrderId, (state) => decideEnd(state, end, now), transaction);
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
