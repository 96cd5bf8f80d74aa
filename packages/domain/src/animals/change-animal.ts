import {
  type Animal,
  animalChange,
  type AnimalChangeInput,
  type AnimalEdit,
  type AnimalId,
  decideChange,
} from './animal.js';
import type { AnimalPorts } from './ports.js';

export interface ChangeAnimalInput extends Omit<AnimalEdit, 'change'> {
  readonly change: AnimalChangeInput;
}

export class ChangeAnimal {
  constructor(private readonly ports: Pick<AnimalPorts, 'animals'>) {}

  /**
   * @throws DomainError `invalid_parameter`, `not_found`, `precondition_failed`, `order_in_progress` or
   * `invalid_transition`.
   */
  async execute(input: ChangeAnimalInput): Promise<Animal> {
    const edit = { ...input, change: animalChange(input.change) };
    return this.ports.animals.change(edit.id as AnimalId, (state) => decideChange(state, edit), edit.change.categoryId);
  }
}
