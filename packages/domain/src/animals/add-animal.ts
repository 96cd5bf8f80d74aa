import type { Transaction } from '../kernel/transaction.js';
import { type Animal, newAnimal, type NewAnimalInput } from './animal.js';
import type { AnimalRepository } from './animal-repository.js';

export class AddAnimal {
  constructor(private readonly animals: AnimalRepository) {}

  /** @throws DomainError `invalid_parameter` */
  async execute(input: NewAnimalInput, transaction?: Transaction): Promise<Animal> {
    return await this.animals.add(newAnimal(input), transaction);
  }
}
