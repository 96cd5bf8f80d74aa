import type { AccountId } from '../accounts/account.js';
import { INT64_MAX } from '../kernel/int64.js';
import { type Page, type PageRequest, readPage } from '../kernel/page.js';
import type { Order, OrderId, OrderStatus } from './order.js';
import type { OrderPorts } from './ports.js';

export interface ListOrdersInput extends PageRequest<bigint> {
  readonly accountId: AccountId;
  readonly status?: OrderStatus | undefined;
  /** Default: the oldest. */
  readonly first?: 'oldest' | 'newest';
}

/** A page of an account's orders. */
export class ListOrders {
  constructor(private readonly ports: Pick<OrderPorts, 'orders'>) {}

  /** @throws DomainError `invalid_parameter` */
  async execute({ accountId, status, first, ...page }: ListOrdersInput): Promise<Page<Order, OrderId>> {
    return readPage(
      page as PageRequest<OrderId>,
      ({ id }) => id,
      async ({ after, before, limit }) => {
        if (first !== 'newest') return this.ports.orders.list({ accountId, status, after, before, limit });
        // The repository lists the oldest first, so the directions are swapped.
        const place = before === undefined ? { before: after ?? (INT64_MAX as OrderId) } : { after: before };
        return (await this.ports.orders.list({ accountId, status, ...place, limit })).toReversed();
      },
    );
  }
}
