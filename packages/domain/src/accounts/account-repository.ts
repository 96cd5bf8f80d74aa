import type { Account, NewAccount } from './account.js';

/** Port: the accounts. Each method is atomic. */
export interface AccountRepository {
  /** The account of that e-mail address, opened if there is none; racing callers get the same one. */
  open(account: NewAccount): Promise<Account>;
  findByEmail(email: string): Promise<Account | undefined>;
}
