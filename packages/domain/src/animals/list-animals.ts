import { invalid } from '../kernel/errors.js';
import type { Animal, AnimalId, PetStatus } from './animal.js';
import type { AnimalRepository } from './animal-repository.js';

export const DEFAULT_PAGE_SIZE = 20;
export const MAX_PAGE_SIZE = 100;
export const MAX_IDS = 100;

export interface ListAnimalsInput {
  readonly status?: PetStatus | undefined;
  /** Only these animals, at most 100. */
  readonly ids?: readonly bigint[] | undefined;
  /** Where the page before ended. */
  readonly after?: bigint | undefined;
  /** 1–100, 20 unless given. */
  readonly limit?: number | undefined;
}

export interface AnimalPage {
  /** Ascending by id. */
  readonly animals: readonly Animal[];
  /** What `after` has to be for the next page; undefined on the last page. */
  readonly next: AnimalId | undefined;
}

/**
 * A page of animals. Pages are cut by id, not by position, so a walk from `next` to `next` meets every animal that
 * existed throughout exactly once, whatever is added meanwhile.
 */
export class ListAnimals {
  constructor(private readonly animals: AnimalRepository) {}

  /** @throws DomainError `invalid_parameter` */
  async execute(input: ListAnimalsInput = {}): Promise<AnimalPage> {
    const limit = input.limit ?? DEFAULT_PAGE_SIZE;
    if (!Number.isInteger(limit) || limit < 1 || limit > MAX_PAGE_SIZE) {
      throw invalid('limit', `must be an integer from 1 to ${MAX_PAGE_SIZE}`);
    }
    if (input.ids !== undefined && input.ids.length > MAX_IDS) {
      throw invalid('id', `must be given at most ${MAX_IDS} times`);
    }
    // One more than asked for tells whether another page follows.
    const found = await this.animals.list({
      status: input.status,
      ids: input.ids as readonly AnimalId[] | undefined,
      after: input.after as AnimalId | undefined,
      limit: limit + 1,
    });
    if (found.length <= limit) return { animals: found, next: undefined };
    const animals = found.slice(0, limit);
    return { animals, next: animals.at(-1)?.id };
  }
}
