import type { Cryptography } from '../kernel/cryptography.js';
import type { WantedVersions } from '../kernel/version.js';
import { type Animal, animalChange, type AnimalChangeInput, type AnimalId, decideChange } from './animal.js';
import type { AnimalRepository } from './animal-repository.js';

export interface ChangeAnimalInput {
  readonly id: bigint;
  readonly change: AnimalChangeInput;
  /** Default: any version. */
  readonly versions?: WantedVersions;
}

export class ChangeAnimal {
  constructor(
    private readonly animals: AnimalRepository,
    private readonly cryptography: Cryptography,
  ) {}

  /**
   * @throws DomainError `invalid_parameter`, `not_found`, `precondition_failed`, `order_in_progress` or
   * `invalid_transition`.
   */
  async execute({ id, change: input, versions }: ChangeAnimalInput): Promise<Animal> {
    const edit = { id: id as AnimalId, change: animalChange(input), versions };
    return this.animals.change(
      edit.id,
      (state) => decideChange(state, edit, (text) => this.cryptography.sha256(text)),
      edit.change.categoryId,
    );
  }
}
