import { DomainError } from '../kernel/errors.js';
import { type Account, emailAddress } from './account.js';
import type { AccountRepository } from './account-repository.js';
import type { Plan } from './plan.js';

export interface ChangePlanInput {
  readonly email: string;
  readonly plan: Plan;
}

export class ChangePlan {
  constructor(private readonly accounts: AccountRepository) {}

  /**
   * Puts an account on another plan, from its next request on; what it has used stays used.
   *
   * @throws DomainError `invalid_parameter`, or `not_found` where nobody has that address.
   */
  async execute({ email, plan }: ChangePlanInput): Promise<Account> {
    const address = emailAddress(email);
    const changed = await this.accounts.changePlan(address, plan);
    if (changed === undefined) throw new DomainError('not_found', `no account has the address ${address}`);
    return changed;
  }
}
