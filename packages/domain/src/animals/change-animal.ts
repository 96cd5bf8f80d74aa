import type { WantedVersions } from '../kernel/version.js';
import { type Animal, animalChange, type AnimalChangeInput, type AnimalId } from './animal.js';
import type { AnimalRepository } from './animal-repository.js';
import { animalNotFound } from './get-animal.js';

export interface ChangeAnimalInput {
  readonly id: bigint;
  readonly change: AnimalChangeInput;
  /** Default: any version. */
  readonly versions?: WantedVersions;
}

export class ChangeAnimal {
  constructor(private readonly animals: AnimalRepository) {}

  /**
   * @throws DomainError `invalid_parameter`, `not_found`, `precondition_failed`, `order_in_progress` or
   * `invalid_transition`.
   */
  async execute({ id, change, versions }: ChangeAnimalInput): Promise<Animal> {
    const changed = await this.animals.change(id as AnimalId, animalChange(change), versions);
    if (changed === undefined) throw animalNotFound(id);
    return changed;
  }
}
