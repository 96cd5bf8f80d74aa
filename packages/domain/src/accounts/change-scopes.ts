import { type Account, decideScopes, emailAddress } from './account.js';
import { scopeList } from './scope.js';
import type { KeyPorts } from './ports.js';

export interface ChangeScopesInput {
  readonly email: string;
  /** Undefined: all scopes. */
  readonly scopes: readonly string[] | undefined;
}

export class ChangeScopes {
  constructor(private readonly ports: Pick<KeyPorts, 'accounts'>) {}

  /**
   * Restricts an account, and so all its keys, to these scopes from its next request on. The keys' own scopes stay.
   *
   * @throws DomainError `invalid_parameter`, or `not_found` if no account has that address.
   */
  async execute({ email, scopes }: ChangeScopesInput): Promise<Account> {
    const command = { email: emailAddress(email), scopes: scopes && scopeList(scopes) };
    return this.ports.accounts.change(command.email, (account) => decideScopes(account, command));
  }
}
