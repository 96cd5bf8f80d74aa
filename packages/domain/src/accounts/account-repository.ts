import type { Account, AccountId, NewAccount } from './account.js';
import type { ListPart } from './api-key-repository.js';
import type { Plan } from './plan.js';
import type { Scopes } from './scope.js';

/** Port: the open accounts. A closed account is never returned. Each method is atomic. */
export interface AccountRepository {
  /**
   * Returns the account of this e-mail address, and opens one if there is none. Concurrent callers get the same
   * account.
   */
  open(account: NewAccount): Promise<Account>;
  findByEmail(email: string): Promise<Account | undefined>;
  findById(id: AccountId): Promise<Account | undefined>;
  /** All accounts, or the given part of them, ascending by id. Only that part is read from the store. */
  list(part?: ListPart<AccountId>): Promise<readonly Account[]>;
  /** Changes the plan. With concurrent calls the last one wins. Undefined if no account has the address. */
  changePlan(email: string, plan: Plan): Promise<Account | undefined>;
  /** Sets the scopes. With concurrent calls the last one wins. Undefined if no account has the address. */
  holdToScopes(email: string, scopes: Scopes): Promise<Account | undefined>;
}
