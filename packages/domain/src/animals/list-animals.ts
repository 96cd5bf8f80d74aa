import { invalid } from '../kernel/errors.js';
import { type Page, readPage } from '../kernel/page.js';
import type { Animal, AnimalId, PetStatus } from './animal.js';
import type { AnimalRepository } from './animal-repository.js';

export const MAX_IDS = 100;

export interface ListAnimalsInput {
  readonly status?: PetStatus | undefined;
  /** Only these animals, at most 100. */
  readonly ids?: readonly bigint[] | undefined;
  /** The end of the previous page. */
  readonly after?: bigint | undefined;
  /** 1–100. Default: 20. */
  readonly limit?: number | undefined;
}

export class ListAnimals {
  constructor(private readonly animals: AnimalRepository) {}

  /** @throws DomainError `invalid_parameter` */
  async execute(input: ListAnimalsInput = {}): Promise<Page<Animal>> {
    if (input.ids !== undefined && input.ids.length > MAX_IDS) {
      throw invalid('id', `must be given at most ${MAX_IDS} times`);
    }
    return readPage(input.limit, (limit) =>
      this.animals.list({
        status: input.status,
        ids: input.ids as readonly AnimalId[] | undefined,
        after: input.after as AnimalId | undefined,
        limit,
      }),
    );
  }
}
