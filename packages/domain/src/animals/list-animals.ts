import { type Page, type PageRequest, readPage, requireFewIds } from '../kernel/page.js';
import type { Animal, AnimalId, CategoryId, PetStatus } from './animal.js';
import type { AnimalPorts } from './ports.js';

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
