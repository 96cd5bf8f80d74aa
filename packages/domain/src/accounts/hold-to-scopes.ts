import { DomainError } from '../kernel/errors.js';
import { type Account, emailAddress } from './account.js';
import type { AccountRepository } from './account-repository.js';
import { scopeList } from './scope.js';

export interface HoldToScopesInput {
  readonly email: string;
  /** Undefined: all scopes. */
  readonly scopes: readonly string[] | undefined;
}

export class HoldToScopes {
  constructor(private readonly accounts: AccountRepository) {}

  /**
   * Holds an account, and so all its keys, to these scopes from its next request on. The keys keep their own.
   *
   * @throws DomainError `invalid_parameter`, or `not_found` if no account has that address.
   */
  async execute({ email, scopes }: HoldToScopesInput): Promise<Account> {
    const address = emailAddress(email);
    const held = await this.accounts.holdToScopes(address, scopes && scopeList(scopes));
    if (held === undefined) throw new DomainError('not_found', `no account has the address ${address}`);
    return held;
  }
}
