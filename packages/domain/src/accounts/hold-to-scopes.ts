import { type Account, decideScopes, emailAddress } from './account.js';
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
    const command = { email: emailAddress(email), scopes: scopes && scopeList(scopes) };
    return this.accounts.change(command.email, (account) => decideScopes(account, command));
  }
}
