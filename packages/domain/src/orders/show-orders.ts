import type { AccountId } from '../accounts/account.js';
import { INT64_MAX } from '../kernel/int64.js';
import { type PagePlace, readTwoWayPage, type TwoWayPage } from '../kernel/page.js';
import type { Order, OrderId, OrderStatus } from './order.js';
import type { OrderRepository } from './order-repository.js';

export interface ShowOrdersInput extends PagePlace<bigint> {
  readonly accountId: AccountId;
  readonly status?: OrderStatus | undefined;
}

/** A page of an account's orders, newest first, with the way back. */
export class ShowOrders {
  constructor(private readonly orders: OrderRepository) {}

  async execute({ accountId, status, ...place }: ShowOrdersInput): Promise<TwoWayPage<Order, OrderId>> {
    return readTwoWayPage(
      place as PagePlace<OrderId>,
      ({ id }) => id,
      // The repository's order is the other way round.
      async ({ after = INT64_MAX as OrderId, before, limit }) => {
        const next = before === undefined ? { before: after } : { after: before };
        return (await this.orders.list({ accountId, status, ...next, limit })).toReversed();
      },
    );
  }
}
