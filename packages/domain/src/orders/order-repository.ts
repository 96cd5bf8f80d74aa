import type { AccountId } from '../accounts/account.js';
import type { Instant } from '../kernel/clock.js';
import type { NewOrder, Order, OrderId, OrderOutcome, OrderStatus } from './order.js';

export interface OrderQuery {
  readonly accountId: AccountId;
  /** Only orders of this status. */
  readonly status?: OrderStatus | undefined;
  /** Only orders with a greater id. */
  readonly after?: OrderId | undefined;
  /** At most so many, 1 or more. */
  readonly limit: number;
}

/**
 * Port: the orders, and with each the status of its animal: both change in one step or neither does
 * (`petStatusOnceOrder`). Each method is atomic; what it has acknowledged is durable.
 */
export interface OrderRepository {
  /**
   * Places an order and reserves the animal. Undefined, and nothing changed, where the animal is unknown or its status
   * doesn't allow it: however many race for one animal, one places the order.
   *
   * @throws DomainError `too_many_orders`, and nothing changed, where the account has `mostPlaced` that are placed:
   * however many of an account race, it never has more.
   */
  place(order: NewOrder, mostPlaced?: number): Promise<Order | undefined>;
  findById(accountId: AccountId, id: OrderId): Promise<Order | undefined>;
  /** The account's matching orders, ascending by id. */
  list(query: OrderQuery): Promise<readonly Order[]>;
  /**
   * Ends the account's order. Undefined, and nothing changed, where it has none of that id or it has ended already: of
   * racing callers one ends it.
   */
  end(ending: {
    readonly accountId: AccountId;
    readonly id: OrderId;
    readonly outcome: OrderOutcome;
    readonly at: Instant;
  }): Promise<Order | undefined>;
  /** Lets at most `limit` orders, of any account, expire that were placed at `placedUntil` or before; those it has. */
  expire(expiry: {
    readonly placedUntil: Instant;
    readonly at: Instant;
    readonly limit: number;
  }): Promise<readonly Order[]>;
}
