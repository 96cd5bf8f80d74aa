import type { Transaction } from '../kernel/transaction.js';
import { type Animal, newAnimal, type NewAnimalInput } from './animal.js';
import type { AnimalPorts } from './ports.js';

export class AddAnimal {
  constructor(private readonly ports: Pick<AnimalPorts, 'animals'>) {}

  /** @throws DomainError `invalid_parameter` */
  async execute(input: NewAnimalInput, transaction?: Transaction): Promise<Animal> {
    return await this.ports.animals.add(newAnimal(input), transaction);
  }
}
