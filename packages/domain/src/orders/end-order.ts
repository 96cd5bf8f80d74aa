import type { AccountId } from '../accounts/account.js';
import type { Clock } from '../kernel/clock.js';
import { DomainError } from '../kernel/errors.js';
import type { Transaction } from '../kernel/transaction.js';
import { orderNotFound } from './get-order.js';
import type { Order, OrderId, OrderOutcome } from './order.js';
import type { OrderRepository } from './order-repository.js';

export interface EndOrderInput {
  readonly accountId: AccountId;
  readonly id: bigint;
}

abstract class EndOrder {
  constructor(
    private readonly orders: OrderRepository,
    private readonly clock: Clock,
    private readonly outcome: OrderOutcome,
  ) {}

  /** @throws DomainError `not_found` if the account has no such order, `order_final` if it has already ended. */
  async execute({ accountId, id }: EndOrderInput, transaction?: Transaction): Promise<Order> {
    const order = { accountId, id: id as OrderId };
    const ended = await this.orders.end({ ...order, outcome: this.outcome, at: this.clock.now() }, transaction);
    if (ended !== undefined) return ended;
    const found = await this.orders.findById(order.accountId, order.id);
    if (found === undefined) throw orderNotFound(id);
    throw new DomainError('order_final', `the order ${id} is ${found.status} already`);
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
