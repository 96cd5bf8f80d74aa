// Accounts, for the API, the commands of operators and the portal.

import { invalid } from '../kernel/errors.js';
import type { ListPart } from '../kernel/page.js';
import { escapeInvisible } from '../kernel/text.js';
import { type Account, type AccountId, decidePlan, decideScopes, requireProven } from './account.js';
import { emailAddress, readTypedAddress, typedAddress } from './address.js';
import { sendsMail } from './deployment.js';
import { describePlan, type Plan, PLANS, samePlan } from './plan.js';
import type { AccountPorts } from './ports.js';
import { scopeList } from './scope.js';

export interface OpenAccountInput {
  readonly email: string;
  /** The plan of a new account; the default is free. An existing account must already be on this plan. */
  readonly plan?: Plan | undefined;
  /** Whether the address of an existing account may be unproven. */
  readonly isUnprovenFine?: boolean | undefined;
}

export class OpenAccount {
  constructor(private readonly ports: Pick<AccountPorts, 'accounts' | 'clock' | 'deployment' | 'domainToAscii'>) {}

  /**
   * Returns the account of that address, and opens one if there is none.
   *
   * @throws DomainError `invalid_parameter`, also if the account is on another plan; `address_unproven`.
   */
  async execute(input: OpenAccountInput): Promise<Account> {
    const account = (await this.ports.accounts.findByEmail(typedAddress(input.email))) ?? (await this.open(input));
    if (input.isUnprovenFine !== true && (await sendsMail(this.ports))) requireProven(account);
    if (input.plan !== undefined && !samePlan(account.plan, input.plan)) {
      const { email, plan } = account;
      throw invalid('plan', `differs from the plan of the account ${escapeInvisible(email)}: ${describePlan(plan)}`);
    }
    return account;
  }

  private async open({ email, plan = PLANS.free }: OpenAccountInput): Promise<Account> {
    const { accounts, clock, domainToAscii } = this.ports;
    const address = emailAddress(email, domainToAscii);
    return accounts.open({ email: address, plan, scopes: undefined, createdAt: clock.now() });
  }
}

export class SendsMail {
  constructor(private readonly ports: Pick<AccountPorts, 'deployment'>) {}

  /** As `sendsMail`. */
  async execute(): Promise<boolean> {
    return sendsMail(this.ports);
  }
}

export class RecordPortal {
  constructor(private readonly ports: Pick<AccountPorts, 'deployment'>) {}

  /** Called by a worker that sends mail. From then on accounts begin with a proof of their address. */
  async execute(url: string): Promise<void> {
    await this.ports.deployment.recordPortalUrl(url);
  }
}

export class GetAccount {
  constructor(private readonly ports: Pick<AccountPorts, 'accounts'>) {}

  /** Undefined if there is no such account, or it is closed. */
  async execute(id: AccountId): Promise<Account | undefined> {
    return this.ports.accounts.findById(id);
  }
}

export class FindAccount {
  constructor(private readonly ports: Pick<AccountPorts, 'accounts'>) {}

  /** Undefined if no open account has that address. */
  async execute(email: string): Promise<Account | undefined> {
    const address = readTypedAddress(email);
    return address === undefined ? undefined : this.ports.accounts.findByEmail(address);
  }
}

export class ListAccounts {
  constructor(private readonly ports: Pick<AccountPorts, 'accounts'>) {}

  /** The open accounts, or a part of them, ascending by id. */
  async execute(part?: ListPart<AccountId>): Promise<readonly Account[]> {
    return this.ports.accounts.list(part);
  }
}

export interface ChangePlanInput {
  readonly email: string;
  readonly plan: Plan;
  /** Whether the account's address may be unproven. */
  readonly isUnprovenFine?: boolean | undefined;
}

export class ChangePlan {
  constructor(private readonly ports: Pick<AccountPorts, 'accounts' | 'deployment'>) {}

  /**
   * Puts an account on another plan from its next request on. Its used counts stay.
   *
   * @throws DomainError `invalid_parameter`, `not_found` if no account has that address, or `address_unproven`.
   */
  async execute({ email, plan, isUnprovenFine = false }: ChangePlanInput): Promise<Account> {
    const isFine = isUnprovenFine || !(await sendsMail(this.ports));
    const command = { email: typedAddress(email), plan, isUnprovenFine: isFine };
    return this.ports.accounts.change(command.email, (account) => decidePlan(account, command));
  }
}

export interface ChangeScopesInput {
  readonly email: string;
  /** Undefined: all scopes. */
  readonly scopes: readonly string[] | undefined;
}

export class ChangeScopes {
  constructor(private readonly ports: Pick<AccountPorts, 'accounts'>) {}

  /**
   * Restricts an account, and so all its keys, to these scopes from its next request on. The keys' own scopes stay.
   *
   * @throws DomainError `invalid_parameter`, or `not_found` if no account has that address.
   */
  async execute({ email, scopes }: ChangeScopesInput): Promise<Account> {
    const command = { email: typedAddress(email), scopes: scopes && scopeList(scopes) };
    return this.ports.accounts.change(command.email, (account) => decideScopes(account, command));
  }
}
