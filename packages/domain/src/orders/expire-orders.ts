import { type Clock, HOUR, later } from '../kernel/clock.js';
import { decideExpiry, type Order } from './order.js';
import type { OrderRepository } from './order-repository.js';

/** How long an order may stay `placed`. */
export const DEFAULT_ORDER_TTL = 48 * HOUR;
const MOST_AT_ONCE = 100;

/** Expires the orders that are past their time to live. Their animals are available again. */
export class ExpireOrders {
  constructor(
    private readonly orders: OrderRepository,
    private readonly clock: Clock,
    private readonly ttl: number,
  ) {}

  /** The expired orders, at most 100 per call. If there are 100, more may be due. */
  async execute(): Promise<{ readonly expired: readonly Order[]; readonly mayHaveMore: boolean }> {
    const now = this.clock.now();
    const due = { placedUntil: later(now, -this.ttl), limit: MOST_AT_ONCE };
    const expired = await this.orders.expire(due, (state) => decideExpiry(state, this.ttl, now));
    return { expired, mayHaveMore: expired.length === MOST_AT_ONCE };
  }
}
