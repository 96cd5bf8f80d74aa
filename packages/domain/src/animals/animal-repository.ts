import type { Instant } from '../kernel/clock.js';
import type { PagePart } from '../kernel/page.js';
import type { Transaction } from '../kernel/transaction.js';
import type { Animal, AnimalId, AnimalState, CategoryId, DecidedAnimal, NewAnimal, PetStatus } from './animal.js';

export interface AnimalQuery extends PagePart<AnimalId> {
  /** Only animals of this status. */
  readonly status?: PetStatus | undefined;
  /** Only these animals; an unknown id is simply absent. */
  readonly ids?: readonly AnimalId[] | undefined;
  /** Only animals of these categories. */
  readonly categoryIds?: readonly CategoryId[] | undefined;
}

/** Port: the animals. Each method is atomic, and a write is durable once its promise resolves. */
export interface AnimalRepository {
  /**
   * Stores the animal under a new id, and the event `AnimalAdded` with it.
   *
   * @throws DomainError `invalid_parameter` if the policy is `strict` and no category has its `categoryId`.
   */
  add(animal: NewAnimal, transaction?: Transaction): Promise<Animal>;
  findById(id: AnimalId): Promise<Animal | undefined>;
  /** The matching animals, ascending by id. */
  list(query: AnimalQuery): Promise<readonly Animal[]>;
  /**
   * Stores what `decide` makes of the animal, with its events, and returns it. The animal is locked, and no order for it is
   * placed or ends, until that is stored. If `decide` throws, nothing changes.
   *
   * @param categoryId the category that the change names. Under the policy `strict` it must be known, and nobody removes
   * it meanwhile.
   * @throws DomainError as `decide`, then as `add`.
   */
  change(id: AnimalId, decide: (state: AnimalState) => DecidedAnimal, categoryId?: CategoryId): Promise<Animal>;
  /**
   * Withdraws the animal that `decide` returns for good, as `change` changes it: no method finds it any more, and its id is
   * never given again. Its orders stay.
   *
   * @throws DomainError as `decide`.
   */
  withdraw(id: AnimalId, at: Instant, decide: (state: AnimalState) => DecidedAnimal): Promise<void>;
}
