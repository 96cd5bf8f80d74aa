import { type AnimalId, type AnimalWithdrawal, decideWithdrawal } from './animal.js';
import type { AnimalPorts } from './ports.js';

export class WithdrawAnimal {
  constructor(private readonly ports: Pick<AnimalPorts, 'animals' | 'clock'>) {}

  /** @throws DomainError `not_found`, `precondition_failed` or `order_in_progress`. */
  async execute(withdrawal: AnimalWithdrawal): Promise<void> {
    await this.ports.animals.withdraw(withdrawal.id as AnimalId, this.ports.clock.now(), (state) =>
      decideWithdrawal(state, withdrawal),
    );
  }
}
