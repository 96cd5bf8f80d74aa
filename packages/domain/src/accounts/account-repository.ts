import type { Account, AccountId, NewAccount } from './account.js';
import type { ListPart } from './api-key-repository.js';
import type { Plan } from './plan.js';

/** Port: the accounts; those that are closed aren't there. Each method is atomic. */
export interface AccountRepository {
  /** The account of that e-mail address, opened if there is none; racing callers get the same one. */
  open(account: NewAccount): Promise<Account>;
  findByEmail(email: string): Promise<Account | undefined>;
  findById(id: AccountId): Promise<Account | undefined>;
  /** All of them, ascending by id; of a part of them only that is read. */
  list(part?: ListPart<AccountId>): Promise<readonly Account[]>;
  /** Puts the account of that address on the plan; of racing callers the last one's stays. Undefined where there is none. */
  changePlan(email: string, plan: Plan): Promise<Account | undefined>;
}
