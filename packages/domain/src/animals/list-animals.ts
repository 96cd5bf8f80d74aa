import { requireFewIds } from '../kernel/ids.js';
import { type Page, readPage } from '../kernel/page.js';
import type { Animal, AnimalId, CategoryId, PetStatus } from './animal.js';
import type { AnimalRepository } from './animal-repository.js';

export interface ListAnimalsInput {
  readonly status?: PetStatus | undefined;
  /** Only these animals, at most 100. */
  readonly ids?: readonly bigint[] | undefined;
  /** Only animals of these categories, at most 100. */
  readonly categoryIds?: readonly bigint[] | undefined;
  /** The end of the previous page. */
  readonly after?: bigint | undefined;
  /** 1–100. Default: 20. */
  readonly limit?: number | undefined;
}

export class ListAnimals {
  constructor(private readonly animals: AnimalRepository) {}

  /** @throws DomainError `invalid_parameter` */
  async execute(input: ListAnimalsInput = {}): Promise<Page<Animal>> {
    requireFewIds('id', input.ids);
    requireFewIds('categoryId', input.categoryIds);
    return readPage(input.limit, (limit) =>
      this.animals.list({
        status: input.status,
        ids: input.ids as readonly AnimalId[] | undefined,
        categoryIds: input.categoryIds as readonly CategoryId[] | undefined,
        after: input.after as AnimalId | undefined,
        limit,
      }),
    );
  }
}
