import type { AccountId } from '../accounts/account.js';
import { type Page, readPage } from '../kernel/page.js';
import type { Order, OrderId, OrderStatus } from './order.js';
import type { OrderRepository } from './order-repository.js';

export interface ListOrdersInput {
  readonly accountId: AccountId;
  readonly status?: OrderStatus | undefined;
  /** The end of the previous page. */
  readonly after?: bigint | undefined;
  /** 1–100. Default: 20. */
  readonly limit?: number | undefined;
}

export class ListOrders {
  constructor(private readonly orders: OrderRepository) {}

  /** @throws DomainError `invalid_parameter` */
  async execute({ accountId, status, after, limit }: ListOrdersInput): Promise<Page<Order>> {
    return readPage(limit, (most) =>
      this.orders.list({ accountId, status, after: after as OrderId | undefined, limit: most }),
    );
  }
}
