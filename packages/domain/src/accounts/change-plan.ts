import { type Account, decidePlan, emailAddress } from './account.js';
import type { AccountRepository } from './account-repository.js';
import type { Plan } from './plan.js';

export interface ChangePlanInput {
  readonly email: string;
  readonly plan: Plan;
  /** Whether the account's address may be unproven. */
  readonly isUnprovenFine?: boolean | undefined;
}

export class ChangePlan {
  /** @param provesAddresses whether mail can be sent. Without mail no address can be proven. */
  constructor(
    private readonly accounts: AccountRepository,
    private readonly provesAddresses: boolean,
  ) {}

  /**
   * Puts an account on another plan from its next request on. Its used counts stay.
   *
   * @throws DomainError `invalid_parameter`, `not_found` if no account has that address, or `address_unproven`.
   */
  async execute({ email, plan, isUnprovenFine = false }: ChangePlanInput): Promise<Account> {
    const command = { email: emailAddress(email), plan, isUnprovenFine: isUnprovenFine || !this.provesAddresses };
    return this.accounts.change(command.email, (account) => decidePlan(account, command));
  }
}
