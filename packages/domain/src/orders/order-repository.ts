import type { AccountId } from '../accounts/account.js';
import type { Instant } from '../kernel/clock.js';
import type { Transaction } from '../kernel/transaction.js';
import type { NewOrder, Order, OrderId, OrderOutcome, OrderStatus } from './order.js';

export interface OrderQuery {
  readonly accountId: AccountId;
  /** Only orders of this status. */
  readonly status?: OrderStatus | undefined;
  /** Only orders with a greater id. */
  readonly after?: OrderId | undefined;
  /** Only orders with a lesser id, the greatest of them. Not together with `after`. */
  readonly before?: OrderId | undefined;
  /** At most so many, 1 or more. */
  readonly limit: number;
}

/**
 * Port: the orders, and the status of their animals. An order and its animal change together or not at all
 * (`petStatusOnceOrder`). Each method is atomic, and a write is durable once its promise resolves.
 */
export interface OrderRepository {
  /**
   * Places an order and reserves the animal. Undefined, and nothing changed, if the animal is unknown or its status
   * doesn't allow it. Of concurrent callers for one animal exactly one places the order.
   *
   * @throws DomainError `too_many_orders`, and nothing changed, if the account has `mostPlaced` placed orders.
   * Concurrent calls can't exceed that number.
   */
  place(order: NewOrder, mostPlaced?: number, transaction?: Transaction): Promise<Order | undefined>;
  findById(accountId: AccountId, id: OrderId): Promise<Order | undefined>;
  /** The account's matching orders, ascending by id. */
  list(query: OrderQuery): Promise<readonly Order[]>;
  /**
   * Ends the account's order. Undefined, and nothing changed, if the account has no such order or it has already ended.
   * Of concurrent callers one ends it.
   */
  end(
    ending: {
      readonly accountId: AccountId;
      readonly id: OrderId;
      readonly outcome: OrderOutcome;
      readonly at: Instant;
    },
    transaction?: Transaction,
  ): Promise<Order | undefined>;
  /**
   * Expires at most `limit` orders of all accounts that were placed at or before `placedUntil`. Returns the expired
   * ones.
   */
  expire(expiry: {
    readonly placedUntil: Instant;
    readonly at: Instant;
    readonly limit: number;
  }): Promise<readonly Order[]>;
}
