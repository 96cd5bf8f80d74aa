import type { AccountId } from '../accounts/account.js';
import type { AnimalId } from '../animals/animal.js';
import type { AnimalRepository } from '../animals/animal-repository.js';
import { animalNotFound } from '../animals/get-animal.js';
import type { Clock } from '../kernel/clock.js';
import { DomainError } from '../kernel/errors.js';
import type { Transaction } from '../kernel/transaction.js';
import type { Order } from './order.js';
import type { OrderRepository } from './order-repository.js';

export interface PlaceOrderInput {
  readonly accountId: AccountId;
  readonly animalId: bigint;
}

export class PlaceOrder {
  constructor(
    private readonly orders: OrderRepository,
    private readonly animals: AnimalRepository,
    private readonly clock: Clock,
    private readonly limit: number,
  ) {}

  /**
   * @throws DomainError `too_many_orders` if the account is at its limit of placed orders, `not_found` if there is no
   * such animal, `pet_not_available` if it can't be ordered.
   */
  async execute({ accountId, animalId: id }: PlaceOrderInput, transaction?: Transaction): Promise<Order> {
    const animalId = id as AnimalId;
    const order = await this.orders.place(
      { accountId, animalId, createdAt: this.clock.now() },
      this.limit,
      transaction,
    );
    if (order !== undefined) return order;
    // This query only serves the error message, so only refused requests run it.
    if ((await this.animals.findById(animalId)) === undefined) throw animalNotFound(id);
    throw new DomainError('pet_not_available', `the animal ${id} is not available`);
  }
}
