import type { Instant } from '../kernel/clock.js';
import { int64From } from '../kernel/int64.js';
import type { PagePart } from '../kernel/page.js';
import type { Transaction } from '../kernel/transaction.js';
import type { Animal, AnimalId, AnimalState, CategoryId, DecidedAnimal, NewAnimal, PetStatus } from './animal.js';

export interface AnimalFilter {
  /** Only animals of this status. */
  readonly status?: PetStatus | undefined;
  /** Only these animals; an unknown id is simply absent. */
  readonly ids?: readonly AnimalId[] | undefined;
  /** Only animals of these categories. */
  readonly categoryIds?: readonly CategoryId[] | undefined;
}

export function matchesFilter({ id, status, categoryId }: Animal, filter: AnimalFilter): boolean {
  return (
    (filter.status === undefined || filter.status === status) &&
    (filter.ids === undefined || filter.ids.includes(id)) &&
    (filter.categoryIds === undefined || filter.categoryIds.includes(categoryId))
  );
}

export interface AnimalQuery extends AnimalFilter, PagePart<AnimalId> {}

/** What `list` returns if these are all animals. */
export function animalPage(animals: readonly Animal[], query: AnimalQuery): readonly Animal[] {
  const { after, before, limit } = query;
  const wanted = animals
    .filter((animal) => matchesFilter(animal, query))
    .filter(({ id }) => (after === undefined || id > after) && (before === undefined || id < before))
    .sort((one, other) => (one.id < other.id ? -1 : 1));
  return before === undefined ? wanted.slice(0, limit) : wanted.slice(-limit);
}

/** An animal's place in a list by name. */
export interface NamePosition {
  readonly nameKey: string;
  readonly id: AnimalId;
}

/** The position as a text that `namePositionFrom` reads, such as `7:luna`. */
export function namePositionText({ id, nameKey }: NamePosition): string {
  return `${id}:${nameKey}`;
}

export function namePositionFrom(text: string): NamePosition | undefined {
  const [, digits, nameKey = ''] = /^([^:]*):(.+)$/su.exec(text) ?? [];
  const id = int64From(digits);
  return id === undefined ? undefined : { id: id as AnimalId, nameKey };
}

export interface NamedAnimalsQuery extends AnimalFilter {
  /** Only animals whose `animalNameKey` begins with it. */
  readonly prefix: string;
  readonly after?: NamePosition | undefined;
  readonly limit: number;
  /** How many animals with such a name may be read. */
  readonly most: number;
}

export interface NamedAnimals {
  readonly animals: readonly Animal[];
  /** The last animal that was read, if `most` were read before `limit` matching ones were found. */
  readonly readTo: NamePosition | undefined;
}

/**
 * Port: the animals. Each method is atomic, and every read that begins after a write has resolved sees it. `decide` is
 * called once. If it throws, nothing changes.
 */
export interface AnimalRepository {
  /**
   * Stores the animal under a new id, and the event `pet.added` with it.
   *
   * @throws DomainError `invalid_parameter` if the policy is `strict` and no category has its `categoryId`.
   */
  add(animal: NewAnimal, transaction?: Transaction): Promise<Animal>;
  findById(id: AnimalId): Promise<Animal | undefined>;
  /** The matching animals, ascending by id. */
  list(query: AnimalQuery): Promise<readonly Animal[]>;
  /** The matching animals, ascending by `animalNameKey` in the order of its code points, then by id. */
  listByName(query: NamedAnimalsQuery): Promise<NamedAnimals>;
  /**
   * Stores the animal that `decide` returns, with its events. Until then the animal is locked, so no order for it is
   * placed or ends. Resolves to the stored animal.
   *
   * @param categoryId the category that the change names. If the policy is `strict`, it must exist, and can't be
   * removed meanwhile.
   * @throws DomainError as `decide`, then as `add`.
   */
  change(id: AnimalId, decide: (state: AnimalState) => DecidedAnimal, categoryId?: CategoryId): Promise<Animal>;
  /**
   * Withdraws the animal for good, with the events that `decide` returns. It is locked as by `change`. Afterwards no method finds it,
   * and its id is never given again. Its orders stay.
   *
   * @throws DomainError as `decide`.
   */
  withdraw(id: AnimalId, at: Instant, decide: (state: AnimalState) => DecidedAnimal): Promise<void>;
}
