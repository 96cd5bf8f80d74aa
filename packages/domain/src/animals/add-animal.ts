import { type Animal, newAnimal, type PetStatus } from './animal.js';
import type { AnimalRepository } from './animal-repository.js';

export interface AddAnimalInput {
  readonly name: string;
  readonly categoryId: bigint;
  readonly status?: PetStatus | undefined;
}

export class AddAnimal {
  constructor(private readonly animals: AnimalRepository) {}

  /** @throws DomainError `invalid_parameter` */
  async execute(input: AddAnimalInput): Promise<Animal> {
    return await this.animals.add(newAnimal(input));
  }
}
