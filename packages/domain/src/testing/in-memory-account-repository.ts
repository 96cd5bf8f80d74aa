import type { Account, AccountId, NewAccount } from '../accounts/account.js';
import type { AccountRepository } from '../accounts/account-repository.js';
import type { Plan } from '../accounts/plan.js';

export class InMemoryAccountRepository implements AccountRepository {
  private readonly accounts = new Map<string, Account>();

  async open(account: NewAccount): Promise<Account> {
    const opened = this.accounts.get(account.email) ?? { ...account, id: BigInt(this.accounts.size + 1) as AccountId };
    this.accounts.set(account.email, opened);
    return opened;
  }

  async findByEmail(email: string): Promise<Account | undefined> {
    return this.accounts.get(email);
  }

  async changePlan(email: string, plan: Plan): Promise<Account | undefined> {
    const account = this.accounts.get(email);
    if (account === undefined) return undefined;
    const changed = { ...account, plan };
    this.accounts.set(email, changed);
    return changed;
  }

  findById(id: AccountId): Account | undefined {
    return [...this.accounts.values()].find((account) => account.id === id);
  }
}
