import { type PagePlace, readTwoWayPage, type TwoWayPage } from '../kernel/page.js';
import type { Animal, AnimalId, PetStatus } from './animal.js';
import type { AnimalQuery, AnimalRepository } from './animal-repository.js';

export interface ShowAnimalsInput extends PagePlace<bigint> {
  readonly status?: PetStatus | undefined;
  readonly id?: bigint | undefined;
  readonly categoryId?: bigint | undefined;
}

/** A page of animals, ascending by id, with the way back. */
export class ShowAnimals {
  constructor(private readonly animals: AnimalRepository) {}

  async execute({ status, id, categoryId, ...place }: ShowAnimalsInput): Promise<TwoWayPage<Animal, AnimalId>> {
    const query = {
      status,
      ids: id === undefined ? undefined : [id],
      categoryIds: categoryId === undefined ? undefined : [categoryId],
    } as Omit<AnimalQuery, 'limit'>;
    return readTwoWayPage(
      place as PagePlace<AnimalId>,
      (animal) => animal.id,
      (part) => this.animals.list({ ...query, ...part }),
    );
  }
}
