import { invalid } from '../kernel/errors.js';
import {
  DEFAULT_PAGE_SIZE,
  type Page,
  type PagePart,
  type PageRequest,
  readNewest,
  readPage,
  requireFewIds,
  requirePageSize,
} from '../kernel/page.js';
import type { Transaction } from '../kernel/transaction.js';
import {
  type Animal,
  animalChange,
  type AnimalChangeInput,
  type AnimalEdit,
  type AnimalId,
  animalNameKey,
  animalNotFound,
  type AnimalWithdrawal,
  type CategoryId,
  decideChange,
  decideWithdrawal,
  type Fields,
  isNamePrefix,
  NAME_PREFIX_RULE,
  newAnimal,
  type NewAnimalInput,
  type PetStatus,
} from './animal.js';
import type { AnimalFilter, AnimalQuery, NamePosition } from './animal-repository.js';
import type { AnimalPorts } from './ports.js';

export { ImportAnimals } from './import-animals.js';

export class AddAnimal {
  constructor(private readonly ports: Pick<AnimalPorts, 'animals'>) {}

  /** @throws DomainError `invalid_parameter` */
  async execute(input: NewAnimalInput, transaction?: Transaction): Promise<Animal> {
    return await this.ports.animals.add(newAnimal(input), transaction);
  }
}

interface AnimalFilterInput {
  readonly status?: PetStatus | undefined;
  /** Only these animals, at most 100. */
  readonly ids?: readonly bigint[] | undefined;
  /** Only animals of these categories, at most 100. */
  readonly categoryIds?: readonly bigint[] | undefined;
}

export interface ListAnimalsInput extends AnimalFilterInput, PageRequest<bigint> {
  /** Default: the oldest. */
  readonly first?: 'oldest' | 'newest';
}

/** A page of animals by id. */
export class ListAnimals {
  constructor(private readonly ports: Pick<AnimalPorts, 'animals'>) {}

  /** @throws DomainError `invalid_parameter` */
  async execute(input: ListAnimalsInput = {}): Promise<Page<Animal, AnimalId>> {
    const { status, ids, categoryIds } = animalFilter(input);
    const list = ({ after, before, limit }: PagePart<AnimalId>) => {
      const query = { status, ids, categoryIds, after, before, limit } satisfies Fields<AnimalQuery>;
      return this.ports.animals.list(query);
    };
    return (input.first === 'newest' ? readNewest : readPage)(input as PageRequest<AnimalId>, idOf, list);
  }
}

/** The most animals that one search by name reads: with other filters it may have to read many that don't match. */
const MOST_READ = 10_000;

export interface ListAnimalsByNameInput extends AnimalFilterInput {
  /** The beginning of a name, 1–255 characters. It is compared in NFC and without regard to case. */
  readonly name: string;
  readonly after?: NamePosition | undefined;
  /** 1–100. Default: 20. */
  readonly limit?: number | undefined;
}

/**
 * A page of the animals whose names begin with a text, by `animalNameKey`, then by id. With other filters it may be short,
 * even empty, and still have a next one.
 */
export class ListAnimalsByName {
  constructor(private readonly ports: Pick<AnimalPorts, 'animals'>) {}

  /** @throws DomainError `invalid_parameter` */
  async execute(input: ListAnimalsByNameInput): Promise<Page<Animal, NamePosition>> {
    const { name, after, limit = DEFAULT_PAGE_SIZE } = input;
    if (!isNamePrefix(name)) throw invalid('name', NAME_PREFIX_RULE);
    requirePageSize(limit);
    const prefix = animalNameKey(name);
    // One more than asked for shows whether another page follows.
    const part = { prefix, after, limit: limit + 1, most: MOST_READ };
    const { animals, readTo } = await this.ports.animals.listByName({ ...animalFilter(input), ...part });
    const items = animals.slice(0, limit);
    const last = items.at(-1);
    const hasMore = animals.length > limit && last !== undefined;
    const next = hasMore ? { nameKey: animalNameKey(last.name), id: last.id } : readTo;
    return { items, next, previous: undefined };
  }
}

function idOf({ id }: Animal): AnimalId {
  return id;
}

function animalFilter({ status, ids, categoryIds }: AnimalFilterInput): AnimalFilter {
  requireFewIds('id', ids);
  requireFewIds('categoryId', categoryIds);
  const filter = {
    status,
    ids: ids as readonly AnimalId[] | undefined,
    categoryIds: categoryIds as readonly CategoryId[] | undefined,
  } satisfies Required<AnimalFilter>;
  return filter;
}

export class GetAnimal {
  constructor(private readonly ports: Pick<AnimalPorts, 'animals'>) {}

  /** @throws DomainError `not_found` */
  async execute(id: bigint): Promise<Animal> {
    const animal = await this.ports.animals.findById(id as AnimalId);
    if (animal === undefined) throw animalNotFound(id);
    return animal;
  }
}

export interface ChangeAnimalInput extends Omit<AnimalEdit, 'change'> {
  readonly change: AnimalChangeInput;
}

export class ChangeAnimal {
  constructor(private readonly ports: Pick<AnimalPorts, 'animals'>) {}

  /**
   * @throws DomainError `invalid_parameter`, `not_found`, `precondition_failed`, `order_in_progress` or
   * `invalid_transition`.
   */
  async execute(input: ChangeAnimalInput): Promise<Animal> {
    const edit = { ...input, change: animalChange(input.change) };
    return this.ports.animals.change(edit.id as AnimalId, (state) => decideChange(state, edit), edit.change.categoryId);
  }
}

export class WithdrawAnimal {
  constructor(private readonly ports: Pick<AnimalPorts, 'animals' | 'clock'>) {}

  /** @throws DomainError `not_found`, `precondition_failed` or `order_in_progress`. */
  async execute(withdrawal: AnimalWithdrawal): Promise<void> {
    await this.ports.animals.withdraw(withdrawal.id as AnimalId, this.ports.clock.now(), (state) =>
      decideWithdrawal(state, withdrawal),
    );
  }
}

/** Animals that are read at a time. Each part is a query of its own, so a slow caller holds no transaction open. */
const PART = 1_000;

export class ExportAnimals {
  constructor(private readonly ports: Pick<AnimalPorts, 'animals'>) {}

  /** All animals ascending by id, in parts. An animal that exists during the whole export is in it exactly once. */
  async *execute(): AsyncGenerator<readonly Animal[]> {
    for (let after: AnimalId | undefined; ;) {
      const part = await this.ports.animals.list({ after, limit: PART });
      const last = part.at(-1);
      if (last === undefined) return;
      yield part;
      after = last.id;
    }
  }
}
