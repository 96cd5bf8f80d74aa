import { type Animal, type AnimalId, animalNotFound } from './animal.js';
import type { AnimalPorts } from './ports.js';

export class GetAnimal {
  constructor(private readonly ports: Pick<AnimalPorts, 'animals'>) {}

  /** @throws DomainError `not_found` */
  async execute(id: bigint): Promise<Animal> {
    const animal = await this.ports.animals.findById(id as AnimalId);
    if (animal === undefined) throw animalNotFound(id);
    return animal;
  }
}
