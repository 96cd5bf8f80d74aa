import type { Cryptography } from '../kernel/cryptography.js';
import {
  type Animal,
  animalChange,
  type AnimalChangeInput,
  type AnimalEdit,
  type AnimalId,
  decideChange,
} from './animal.js';
import type { AnimalRepository } from './animal-repository.js';

export interface ChangeAnimalInput extends Omit<AnimalEdit, 'change'> {
  readonly change: AnimalChangeInput;
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
  async execute(input: ChangeAnimalInput): Promise<Animal> {
    const edit = { ...input, change: animalChange(input.change) };
    return this.animals.change(
      edit.id as AnimalId,
      (state) => decideChange(state, edit, (text) => this.cryptography.sha256(text)),
      edit.change.categoryId,
    );
  }
}
