import type { AccountId } from '../../accounts/account.js';
import { type AnimalId, newAnimal, type PetStatus } from '../../animals/animal.js';
import type { Ports } from '../../application.js';
import { HOUR, type Instant, later, MINUTE } from '../../kernel/clock.js';
import type { Order, OrderId, OrderOutcome } from '../../orders/order.js';
import { NOON, type Unique } from './fixtures.js';

/** The ports that the suite of orders needs. */
export type OrderPorts = 'accounts' | 'animals' | 'orders';

export const OUTCOMES = ['completed', 'cancelled', 'expired'] as const satisfies readonly OrderOutcome[];

/** Not the domain's own table: the suites say again what holds. */
export const petStatusAfter: Readonly<Record<Order['status'], PetStatus>> = {
  placed: 'pending',
  completed: 'sold',
  cancelled: 'available',
  expired: 'available',
};

export const isOrder = (order: Order | undefined): order is Order => order !== undefined;
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

  async statusOf(id: AnimalId): Promise<PetStatus | undefined> {
    return (await this.ports.animals.findById(id))?.status;
  }

  find(id: OrderId, by = this.accountId): Promise<Order | undefined> {
    return this.ports.orders.findById(by, id);
  }

  place(animalId: AnimalId, createdAt = NOON, by = this.accountId): Promise<Order | undefined> {
    return this.ports.orders.place({ accountId: by, animalId, createdAt });
  }

  /** Places an order for a new animal. */
  async placed(createdAt = NOON, by = this.accountId): Promise<Order> {
    const order = await this.place(await this.addAnimal(), createdAt, by);
    if (order === undefined) throw new Error('the animal is not available');
    return order;
  }

  end(id: OrderId, outcome: OrderOutcome, at = later(NOON, MINUTE), by = this.accountId): Promise<Order | undefined> {
    return this.ports.orders.end({ accountId: by, id, outcome, at });
  }

  expire(placedUntil: Instant, limit = 100, at = later(NOON, HOUR)): Promise<readonly Order[]> {
    return this.ports.orders.expire({ placedUntil, at, limit });
  }

  /** Leaves nothing due: expiry asks for no account, so it would take the orders of an earlier test. */
  async clear(): Promise<void> {
    await this.expire(later(NOON, 1_000 * HOUR), 1_000);
  }
}
