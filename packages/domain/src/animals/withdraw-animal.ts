import type { Clock } from '../kernel/clock.js';
import type { WantedVersions } from '../kernel/version.js';
import type { AnimalId } from './animal.js';
import type { AnimalRepository } from './animal-repository.js';
import { animalNotFound } from './get-animal.js';

export interface WithdrawAnimalInput {
  readonly id: bigint;
  /** Default: any version. */
  readonly versions?: WantedVersions;
}

export class WithdrawAnimal {
  constructor(
    private readonly animals: AnimalRepository,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError `not_found`, `precondition_failed` or `order_in_progress`. */
  async execute({ id, versions }: WithdrawAnimalInput): Promise<void> {
    if (!(await this.animals.withdraw(id as AnimalId, this.clock.now(), versions))) throw animalNotFound(id);
  }
}
