import { type Account, decidePlan, emailAddress } from './account.js';
import type { Plan } from './plan.js';
import type { KeyOptions, KeyPorts } from './ports.js';

export interface ChangePlanInput {
  readonly email: string;
  readonly plan: Plan;
  /** Whether the account's address may be unproven. */
  readonly isUnprovenFine?: boolean | undefined;
}

export class ChangePlan {
  constructor(
    private readonly ports: Pick<KeyPorts, 'accounts'>,
    private readonly options: Pick<KeyOptions, 'provesAddresses'>,
  ) {}

  /**
   * Puts an account on another plan from its next request on. Its used counts stay.
   *
   * @throws DomainError `invalid_parameter`, `not_found` if no account has that address, or `address_unproven`.
   */
  async execute({ email, plan, isUnprovenFine = false }: ChangePlanInput): Promise<Account> {
    const command = {
      email: emailAddress(email),
      plan,
      isUnprovenFine: isUnprovenFine || !this.options.provesAddresses,
    };
    return this.ports.accounts.change(command.email, (account) => decidePlan(account, command));
  }
}
