import type { Animal, AnimalId, NewAnimal, PetStatus } from '../animals/animal.js';
import type { AnimalQuery, AnimalRepository } from '../animals/animal-repository.js';
import { remember } from './in-memory-idempotency-records.js';

export class InMemoryAnimalRepository implements AnimalRepository {
  // Insertion order is id order, so a walk over the values is a walk by id.
  private readonly animals = new Map<AnimalId, Animal>();
  private lastId = 0n;

  async add(animal: NewAnimal): Promise<Animal> {
    this.lastId += 1n;
    const added: Animal = { ...animal, id: this.lastId as AnimalId };
    this.animals.set(added.id, added);
    return added;
  }

  async findById(id: AnimalId): Promise<Animal | undefined> {
    return this.animals.get(id);
  }

  async list({ status, ids, after, limit }: AnimalQuery): Promise<readonly Animal[]> {
    return [...this.animals.values()]
      .filter((animal) => status === undefined || animal.status === status)
      .filter((animal) => ids === undefined || ids.includes(animal.id))
      .filter((animal) => after === undefined || animal.id > after)
      .slice(0, limit);
  }

  /** Changes the status if it is one of `from`. Returns whether it did. */
  changeStatus(id: AnimalId, from: readonly PetStatus[], to: PetStatus): boolean {
    const animal = this.animals.get(id);
    if (animal === undefined || !from.includes(animal.status)) return false;
    this.animals.set(id, { ...animal, status: to });
    return true;
  }

  /** Returns a function that restores the current state. */
  remember(): () => void {
    return remember(this.animals);
  }
}
