import type { Clock } from '../kernel/clock.js';
import { invalid } from '../kernel/errors.js';
import { type Account, emailAddress, requireProven } from './account.js';
import type { AccountRepository } from './account-repository.js';
import { describePlan, type Plan, samePlan } from './plan.js';

export interface OpenAccountInput {
  readonly email: string;
  /** The plan of a new account; the default is free. An existing account must have this plan already. */
  readonly plan?: Plan | undefined;
  /** Whether an account that is there may be one whose address isn't proven. */
  readonly isUnprovenFine?: boolean | undefined;
}

export class OpenAccount {
  /** @param provesAddresses whether mail can be sent, without which no address can be proven. */
  constructor(
    private readonly accounts: AccountRepository,
    private readonly clock: Clock,
    private readonly provesAddresses: boolean,
  ) {}

  /**
   * The account of that address, opened if there is none.
   *
   * @throws DomainError `invalid_parameter`, also where the account is there on another plan; `address_unproven`.
   */
  async execute(input: OpenAccountInput): Promise<Account> {
    const account = await this.accounts.open({
      email: emailAddress(input.email),
      plan: input.plan ?? { name: 'free' },
      createdAt: this.clock.now(),
    });
    if (this.provesAddresses && input.isUnprovenFine !== true) requireProven(account);
    if (input.plan !== undefined && !samePlan(account.plan, input.plan)) {
      throw invalid('plan', `differs from what the account of ${account.email} is on: ${describePlan(account.plan)}`);
    }
    return account;
  }
}
