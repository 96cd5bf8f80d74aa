import type { Account, AccountId } from '../accounts/account.js';
import type { AnimalId } from '../animals/animal.js';
import type { Instant } from '../kernel/clock.js';
import type { PagePart } from '../kernel/page.js';
import type { Transaction } from '../kernel/transaction.js';
import type { EndedOrder, EndState, Order, OrderId, OrderStatus, PlacedOrder, PlacementState } from './order.js';

export interface OrderQuery extends PagePart<OrderId> {
  readonly accountId: AccountId;
  /** Only orders of this status. */
  readonly status?: OrderStatus | undefined;
}

export interface AllOrdersQuery {
  /** Only placed orders. Without it all. */
  readonly status?: 'placed' | undefined;
  /** The list begins after that order. */
  readonly after?: OrderId | undefined;
  readonly limit: number;
}

/** An order as the operator sees it. */
export interface AccountOrder {
  readonly account: Account;
  readonly order: Order;
}

/**
 * Port: the orders, and the status of their animals. Each method is atomic, and every read that begins after a write has
 * resolved sees it. `decide` is called once. While it runs, what it is given is locked, and no caller fails because of
 * another's locks. What it returns is stored with its events. If it throws, nothing changes.
 */
export interface OrderRepository {
  /**
   * Stores the order that `decide` returns, and its animal. Both the account and the animal are locked, so the account
   * places no other order meanwhile.
   *
   * @throws DomainError as `decide`.
   */
  place(
    what: { readonly accountId: AccountId; readonly animalId: AnimalId },
    decide: (state: PlacementState) => PlacedOrder,
    transaction?: Transaction,
  ): Promise<Order>;
  findById(accountId: AccountId, id: OrderId): Promise<Order | undefined>;
  /** The placed order of the animal, of which there is at most one, if it is the account's. */
  findPlaced(accountId: AccountId, animalId: AnimalId): Promise<Order | undefined>;
  /** The account's matching orders, also those for withdrawn animals, ascending by id. */
  list(query: OrderQuery): Promise<readonly Order[]>;
  /** The matching orders of all accounts, also of closed ones, ascending by id. */
  listAll(query: AllOrdersQuery): Promise<readonly AccountOrder[]>;
  /**
   * Stores the order and the animal that `decide` returns. Both are locked.
   *
   * @throws DomainError as `decide`.
   */
  change(id: OrderId, decide: (state: EndState) => EndedOrder, transaction?: Transaction): Promise<Order>;
  /**
   * Calls `decide` for each of the longest placed orders, at most `limit`, that were placed at or before `placedUntil`,
   * and stores the order and the animal that it returns. Orders that another transaction has locked are left out.
   * Returns the changed orders.
   */
  expire(
    due: { readonly placedUntil: Instant; readonly limit: number },
    decide: (state: EndState) => EndedOrder | undefined,
  ): Promise<readonly Order[]>;
}
