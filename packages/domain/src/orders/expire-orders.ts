import { HOUR, later } from '../kernel/clock.js';
import { decideExpiry, type Order } from './order.js';
import type { OrderOptions, OrderPorts } from './ports.js';

/** How long an order may stay `placed`. */
export const DEFAULT_ORDER_TTL = 48 * HOUR;
const MOST_AT_ONCE = 100;

/** Expires the orders that are past their time to live. Their animals are available again. */
export class ExpireOrders {
  constructor(
    private readonly ports: Pick<OrderPorts, 'orders' | 'clock'>,
    private readonly options: Pick<OrderOptions, 'orderTtl'>,
  ) {}

  /** The expired orders, at most 100 per call. If there are 100, more may be due. */
  async execute(): Promise<{ readonly expired: readonly Order[]; readonly mayHaveMore: boolean }> {
    const { orderTtl } = this.options;
    const now = this.ports.clock.now();
    const due = { placedUntil: later(now, -orderTtl), limit: MOST_AT_ONCE };
    const expired = await this.ports.orders.expire(due, (state) => decideExpiry(state, orderTtl, now));
    return { expired, mayHaveMore: expired.length === MOST_AT_ONCE };
  }
}
