import type { Account, AccountId, NewAccount } from './account.js';
import type { ListPart } from '../kernel/page.js';

/**
 * Port: the open accounts. A closed account is never returned, and its id never given again. An account is found by its
 * exact address, or else by its `canonicalAddress`: of several older accounts that share that, the one that is written
 * so. Each method is atomic.
 */
export interface AccountRepository {
  /**
   * Returns the account of this e-mail address, and opens one if there is none. Concurrent callers get the same
   * account.
   */
  open(account: NewAccount): Promise<Account>;
  findByEmail(email: string): Promise<Account | undefined>;
  findById(id: AccountId): Promise<Account | undefined>;
  /** All accounts, or the given part of them, ascending by id. */
  list(part?: ListPart<AccountId>): Promise<readonly Account[]>;
  /**
   * Stores the plan and the scopes that `decide` returns, and nothing else. `decide` is called once, with the account
   * locked. If it throws, or there is no account, nothing is changed. Resolves to the account as it is stored.
   */
  change(email: string, decide: (account: Account | undefined) => Account): Promise<Account>;
}
