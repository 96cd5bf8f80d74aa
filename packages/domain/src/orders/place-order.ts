import type { AccountId } from '../accounts/account.js';
import type { AnimalId } from '../animals/animal.js';
import type { Transaction } from '../kernel/transaction.js';
import { decidePlacement, type Order } from './order.js';
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
