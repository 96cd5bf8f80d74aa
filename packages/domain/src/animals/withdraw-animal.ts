import type { Clock } from '../kernel/clock.js';
import type { Cryptography } from '../kernel/cryptography.js';
import type { WantedVersions } from '../kernel/version.js';
import { type AnimalId, decideWithdrawal } from './animal.js';
import type { AnimalRepository } from './animal-repository.js';

export interface WithdrawAnimalInput {
  readonly id: bigint;
  /** Default: any version. */
  readonly versions?: WantedVersions;
}

export class WithdrawAnimal {
  constructor(
    private readonly animals: AnimalRepository,
    private readonly cryptography: Cryptography,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError `not_found`, `precondition_failed` or `order_in_progress`. */
  async execute({ id, versions }: WithdrawAnimalInput): Promise<void> {
    const withdrawal = { id: id as AnimalId, versions };
    await this.animals.withdraw(withdrawal.id, this.clock.now(), (state) =>
      decideWithdrawal(state, withdrawal, (text) => this.cryptography.sha256(text)),
    );
  }
}
