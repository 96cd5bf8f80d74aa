import { type Order, type OrderId, orderNotFound, type OwnOrder } from './order.js';
import type { OrderPorts } from './ports.js';

export class GetOrder {
  constructor(private readonly ports: Pick<OrderPorts, 'orders'>) {}

  /** @throws DomainError `not_found`, also for another account's order. */
  async execute({ accountId, id }: OwnOrder): Promise<Order> {
    const order = await this.ports.orders.findById(accountId, id as OrderId);
    if (order === undefined) throw orderNotFound(id);
    return order;
  }
}
