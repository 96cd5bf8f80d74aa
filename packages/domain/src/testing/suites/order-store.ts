import type { AccountId } from '../../accounts/account.js';
import { type Animal, type AnimalId, animalNotFound, newAnimal, type PetStatus } from '../../animals/animal.js';
import type { Ports } from '../../application.js';
import { HOUR, type Instant, later, MINUTE } from '../../kernel/clock.js';
import {
  decideEnd,
  decideExpiry,
  decidePlacement,
  type Order,
  type OrderId,
  type OrderOutcome,
} from '../../orders/order.js';
import { eventless, NOON, type Unique } from './fixtures.js';

/** The ports that the suite of orders needs. */
export type OrderPorts = 'accounts' | 'animals' | 'orders';

export const OUTCOMES = ['completed', 'cancelled', 'expired'] as const satisfies readonly OrderOutcome[];

export const idsOf = (orders: readonly Order[]): OrderId[] => orders.map(({ id }) => id);

/** Two accounts of a store, and their orders. */
export class OrderStore {
  private constructor(
    private readonly ports: Pick<Ports, OrderPorts>,
    readonly accountId: AccountId,
    readonly other: AccountId,
  ) {}

  static async open(ports: Pick<Ports, OrderPorts>, unique: Unique): Promise<OrderStore> {
    const [one, other] = [await ports.accounts.open(unique.account()), await ports.accounts.open(unique.account())];
    return new OrderStore(ports, one.id, other.id);
  }

  async addAnimal(status?: PetStatus): Promise<AnimalId> {
    return (await this.ports.animals.add(newAnimal({ name: 'Luna', categoryId: 1n, status }))).id;
  }

  async animal(id: AnimalId): Promise<Animal> {
    const animal = await this.ports.animals.findById(id);
    if (animal === undefined) throw animalNotFound(id);
    return animal;
  }

  async statusOf(id: AnimalId): Promise<PetStatus> {
    return (await this.animal(id)).status;
  }

  async withdraw(id: AnimalId): Promise<void> {
    const animal = await this.animal(id);
    await this.ports.animals.withdraw(id, NOON, () => eventless(animal));
  }

  find(id: OrderId, by = this.accountId): Promise<Order | undefined> {
    return this.ports.orders.findById(by, id);
  }

  place(animalId: AnimalId, createdAt = NOON, by = this.accountId, limit = Infinity): Promise<Order> {
    const placement = { accountId: by, animalId, limit };
    return this.ports.orders.place(placement, (state) => decidePlacement(state, placement, createdAt));
  }

  /** Places an order for a new animal. */
  async placed(createdAt = NOON, by = this.accountId): Promise<Order> {
    return this.place(await this.addAnimal(), createdAt, by);
  }

  end(id: OrderId, outcome: OrderOutcome, at = later(NOON, MINUTE)): Promise<Order> {
    const end = { accountId: this.accountId, id, outcome };
    return this.ports.orders.change(id, (state) => decideEnd(state, end, at));
  }

  expire(placedUntil: Instant, limit = 100, at = later(NOON, HOUR)): Promise<readonly Order[]> {
    return this.ports.orders.expire({ placedUntil, limit }, (state) => decideExpiry(state, at - placedUntil, at));
  }

  /** Leaves nothing due: expiry asks for no account, so it would take the orders of an earlier test. */
  async clear(): Promise<void> {
    await this.expire(later(NOON, 1_000 * HOUR), 1_000);
  }
}
