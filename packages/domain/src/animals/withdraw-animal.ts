import type { Clock } from '../kernel/clock.js';
import type { Cryptography } from '../kernel/cryptography.js';
import { type AnimalId, type AnimalWithdrawal, decideWithdrawal } from './animal.js';
import type { AnimalRepository } from './animal-repository.js';

export class WithdrawAnimal {
  constructor(
    private readonly animals: AnimalRepository,
    private readonly cryptography: Cryptography,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError `not_found`, `precondition_failed` or `order_in_progress`. */
  async execute(withdrawal: AnimalWithdrawal): Promise<void> {
    await this.animals.withdraw(withdrawal.id as AnimalId, this.clock.now(), (state) =>
      decideWithdrawal(state, withdrawal, (text) => this.cryptography.sha256(text)),
    );
  }
}
