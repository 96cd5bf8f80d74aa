import { DomainError } from '../kernel/errors.js';
import type { Animal, AnimalId } from './animal.js';
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

export function animalNotFound(id: bigint): DomainError {
  return new DomainError('not_found', `no animal has the id ${id}`);
}
