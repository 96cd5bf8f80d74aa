import type { AccountId } from '../accounts/account.js';
import type { AnimalId } from '../animals/animal.js';
import { later } from '../kernel/clock.js';
import { type Page, type PageRequest, readNewest, readPage } from '../kernel/page.js';
import type { Transaction } from '../kernel/transaction.js';
import {
  decideEnd,
  decideExpiry,
  decidePlacement,
  expiryOf,
  type Order,
  type OrderId,
  orderNotFound,
  type OrderEnd,
  type OrderStatus,
  type OrderWithExpiry,
  type OwnOrder,
} from './order.js';
import type { AccountOrder, AllOrdersQuery } from './order-repository.js';
import type { OrderOptions, OrderPorts } from './ports.js';

export class PlaceOrder {
  constructor(
    private readonly ports: Pick<OrderPorts, 'orders' | 'clock'>,
    private readonly options: Pick<OrderOptions, 'orderLimit'>,
  ) {}

  /**
   * @throws DomainError `too_many_orders` if the account is at its limit of placed orders, `not_found` if there is no
   * such animal, `pet_not_available` if it can't be ordered.
   */
  async execute(
    { accountId, animalId }: { readonly accountId: AccountId; readonly animalId: bigint },
    transaction?: Transaction,
  ): Promise<Order> {
    const placement = { accountId, animalId: animalId as AnimalId, limit: this.options.orderLimit };
    const now = this.ports.clock.now();
    return this.ports.orders.place(placement, (state) => decidePlacement(state, placement, now), transaction);
  }
}

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
    return (first === 'newest' ? readNewest : readPage)(
      page as PageRequest<OrderId>,
      ({ id }) => id,
      (part) => this.ports.orders.list({ accountId, status, ...part }),
    );
  }
}

/** The orders of all accounts, for the operator. */
export class ListAllOrders {
  constructor(private readonly ports: Pick<OrderPorts, 'orders'>) {}

  async execute(query: AllOrdersQuery): Promise<readonly AccountOrder[]> {
    return this.ports.orders.listAll(query);
  }
}

export class GetOrder {
  constructor(
    private readonly ports: Pick<OrderPorts, 'orders'>,
    private readonly options: Pick<OrderOptions, 'orderTtl'>,
  ) {}

  /** @throws DomainError `not_found`, also for another account's order. */
  async execute({ accountId, id }: OwnOrder): Promise<OrderWithExpiry> {
    const order = await this.ports.orders.findById(accountId, id as OrderId);
    if (order === undefined) throw orderNotFound(id, accountId);
    return { ...order, expiresAt: expiryOf(order, this.options.orderTtl) };
  }
}

/** The account's own order that keeps an animal from being changed or withdrawn. */
export class GetPlacedOrder {
  constructor(private readonly ports: Pick<OrderPorts, 'orders'>) {}

  /** Undefined if no order of the animal is placed, or it is another account's. */
  async execute({
    accountId,
    animalId,
  }: {
    readonly accountId: AccountId;
    readonly animalId: bigint;
  }): Promise<Order | undefined> {
    return this.ports.orders.findPlaced(accountId, animalId as AnimalId);
  }
}

/** Completes or cancels an order, for its account or for the operator. */
export class EndOrder {
  constructor(private readonly ports: Pick<OrderPorts, 'orders' | 'clock'>) {}

  /** @throws DomainError as `decideEnd`. */
  async execute(end: OrderEnd, transaction?: Transaction): Promise<Order> {
    const now = this.ports.clock.now();
    return this.ports.orders.change(end.id as OrderId, (state) => decideEnd(state, end, now), transaction);
  }
}

/** Orders that expire in one transaction. */
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
