import { type Page, type PageRequest, readPage, requireFewIds } from '../kernel/page.js';
import type { Transaction } from '../kernel/transaction.js';
import {
  type Animal,
  animalChange,
  type AnimalChangeInput,
  type AnimalEdit,
  type AnimalId,
  animalNotFound,
  type AnimalWithdrawal,
  type CategoryId,
  decideChange,
  decideWithdrawal,
  newAnimal,
  type NewAnimalInput,
  type PetStatus,
} from './animal.js';
import type { AnimalPorts } from './ports.js';

export { ImportAnimals } from './import-animals.js';

export class AddAnimal {
  constructor(private readonly ports: Pick<AnimalPorts, 'animals'>) {}

  /** @throws DomainError `invalid_parameter` */
  async execute(input: NewAnimalInput, transaction?: Transaction): Promise<Animal> {
    return await this.ports.animals.add(newAnimal(input), transaction);
  }
}

export interface ListAnimalsInput extends PageRequest<bigint> {
  readonly status?: PetStatus | undefined;
  /** Only these animals, at most 100. */
  readonly ids?: readonly bigint[] | undefined;
  /** Only animals of these categories, at most 100. */
  readonly categoryIds?: readonly bigint[] | undefined;
}

/** A page of animals, ascending by id. */
export class ListAnimals {
  constructor(private readonly ports: Pick<AnimalPorts, 'animals'>) {}

  /** @throws DomainError `invalid_parameter` */
  async execute(input: ListAnimalsInput = {}): Promise<Page<Animal, AnimalId>> {
    requireFewIds('id', input.ids);
    requireFewIds('categoryId', input.categoryIds);
    return readPage(
      input as PageRequest<AnimalId>,
      ({ id }) => id,
      (part) =>
        this.ports.animals.list({
          status: input.status,
          ids: input.ids as readonly AnimalId[] | undefined,
          categoryIds: input.categoryIds as readonly CategoryId[] | undefined,
          ...part,
        }),
    );
  }
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
