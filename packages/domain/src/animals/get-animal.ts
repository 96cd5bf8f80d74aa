import { type Animal, type AnimalId, animalNotFound } from './animal.js';
import type { AnimalRepository } from './animal-repository.js';

export class GetAnimal {
  constructor(private readonly animals: AnimalRepository) {}

  /** @throws DomainError `not_found` */
  async execute(id: bigint): Promise<Animal> {
    const animal = await this.animals.findById(id as AnimalId);
    if (animal === undefined) throw animalNotFound(id);
    return animal;
  }
}
