import { invalid } from '../kernel/errors.js';
import { type Account, emailAddress, requireProven } from './account.js';
import { describePlan, type Plan, samePlan } from './plan.js';
import type { KeyOptions, KeyPorts } from './ports.js';

export interface OpenAccountInput {
  readonly email: string;
  /** The plan of a new account; the default is free. An existing account must already be on this plan. */
  readonly plan?: Plan | undefined;
  /** Whether the address of an existing account may be unproven. */
  readonly isUnprovenFine?: boolean | undefined;
}

export class OpenAccount {
  constructor(
    private readonly ports: Pick<KeyPorts, 'accounts' | 'clock'>,
    private readonly options: Pick<KeyOptions, 'provesAddresses'>,
  ) {}

  /**
   * Returns the account of that address, and opens one if there is none.
   *
   * @throws DomainError `invalid_parameter`, also if the account is on another plan; `address_unproven`.
   */
  async execute(input: OpenAccountInput): Promise<Account> {
    const account = await this.ports.accounts.open({
      email: emailAddress(input.email),
      plan: input.plan ?? { name: 'free' },
      scopes: undefined,
      createdAt: this.ports.clock.now(),
    });
    if (this.options.provesAddresses && input.isUnprovenFine !== true) requireProven(account);
    if (input.plan !== undefined && !samePlan(account.plan, input.plan)) {
      throw invalid('plan', `differs from the plan of the account ${account.email}: ${describePlan(account.plan)}`);
    }
    return account;
  }
}
