import { type ListOrdersInput, ORDER_STATUSES, type OrderStatus } from '@adoption-store/domain';
import { Cursor, Limit, OneOf } from '../http/query-parameters.js';

/** The name of this list in its cursors. */
export const ORDERS_CURSOR = 'orders';

/** The query of GET /v1/store/orders. Each parameter may occur once. */
export class ListOrdersQuery implements Omit<ListOrdersInput, 'accountId'> {
  @Limit()
  limit?: number;

  @OneOf('status', ORDER_STATUSES, 'Only orders with this status.', 'OrderStatus')
  status?: OrderStatus;

  @Cursor(ORDERS_CURSOR)
  after?: bigint;
}
