import type { Instant } from '../kernel/clock.js';
import type { Transaction } from '../kernel/transaction.js';
import type { WantedVersions } from '../kernel/version.js';
import type { Animal, AnimalChange, AnimalId, CategoryId, NewAnimal, PetStatus } from './animal.js';

export interface AnimalQuery {
  /** Only animals of this status. */
  readonly status?: PetStatus | undefined;
  /** Only these animals; an unknown id is simply absent. */
  readonly ids?: readonly AnimalId[] | undefined;
  /** Only animals of these categories. */
  readonly categoryIds?: readonly CategoryId[] | undefined;
  /** Only animals with a greater id. */
  readonly after?: AnimalId | undefined;
  /** Only animals with a lesser id, the greatest of them. Not together with `after`. */
  readonly before?: AnimalId | undefined;
  /** At most so many, 1 or more. */
  readonly limit: number;
}

/** Port: the animals. Each method is atomic, and a write is durable once its promise resolves. */
export interface AnimalRepository {
  /**
   * Stores the animal under a new id.
   *
   * @throws DomainError `invalid_parameter` if the policy is `strict` and no category has its `categoryId`.
   */
  add(animal: NewAnimal, transaction?: Transaction): Promise<Animal>;
  findById(id: AnimalId): Promise<Animal | undefined>;
  /** The matching animals, ascending by id. */
  list(query: AnimalQuery): Promise<readonly Animal[]>;
  /**
   * Changes the animal as `changedAnimal` says, in one step with its checks: of concurrent changes, orders and
   * withdrawals each sees the outcome of the one before. Undefined if the animal is unknown.
   *
   * @throws DomainError `precondition_failed`, `order_in_progress` or `invalid_transition`, or as `add`; nothing changed.
   */
  change(id: AnimalId, change: AnimalChange, versions?: WantedVersions): Promise<Animal | undefined>;
  /**
   * Withdraws the animal for good, in one step with the checks of `requireWithdrawable`: no method finds it any more,
   * and its id is never given again. Its orders stay. False if the animal is unknown.
   *
   * @throws DomainError `precondition_failed` or `order_in_progress`, and nothing changed.
   */
  withdraw(id: AnimalId, at: Instant, versions?: WantedVersions): Promise<boolean>;
}
