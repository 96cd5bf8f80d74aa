import type { Account, AccountId, NewAccount } from '../accounts/account.js';
import type { AccountRepository } from '../accounts/account-repository.js';
import { canonicalAddress } from '../accounts/address.js';
import type { ListPart } from '../kernel/page.js';
import { predictableDomainToAscii } from './predictable-domain-to-ascii.js';

/** An account with its password hash and state, which `Account` doesn't show. */
export interface StoredAccount {
  readonly account: Account;
  readonly passwordHash: string | undefined;
  readonly isClosed: boolean;
}

export class InMemoryAccountRepository implements AccountRepository {
  private readonly accounts = new Map<AccountId, StoredAccount>();

  async open(account: NewAccount): Promise<Account> {
    return (
      this.storedAt(account.email)?.account ??
      this.add({ ...account, credentialVersion: 0, provenAt: undefined }, undefined)
    );
  }

  async findByEmail(email: string): Promise<Account | undefined> {
    return this.storedAt(email)?.account;
  }

  async findById(id: AccountId): Promise<Account | undefined> {
    return this.stored(id)?.account;
  }

  async list({ after, limit }: ListPart<AccountId> = {}): Promise<readonly Account[]> {
    return [...this.accounts.values()]
      .filter(({ account: { id }, isClosed }) => !isClosed && (after === undefined || id > after))
      .slice(0, limit)
      .map(({ account }) => account);
  }

  async change(email: string, decide: (account: Account | undefined) => Account): Promise<Account> {
    const stored = this.storedAt(email);
    const decided = decide(stored?.account);
    if (stored === undefined) return decided;
    const account = { ...stored.account, plan: decided.plan, scopes: decided.scopes };
    this.put({ ...stored, account });
    return account;
  }

  /** Includes closed accounts, because their orders and messages remain. */
  accountOf(id: AccountId): Account {
    const stored = this.accounts.get(id);
    if (stored === undefined) throw new Error(`there is no account ${id}`);
    return stored.account;
  }

  /** Undefined if the account is closed or unknown. */
  stored(id: AccountId): StoredAccount | undefined {
    const stored = this.accounts.get(id);
    return stored?.isClosed === true ? undefined : stored;
  }

  storedAt(email: string): StoredAccount | undefined {
    const open = [...this.accounts.values()].filter(({ isClosed }) => !isClosed);
    const canonical = canonicalOf(email);
    return (
      open.find(({ account }) => account.email === email) ??
      open.find(({ account }) => account.email === canonical) ??
      open.find(({ account }) => canonicalOf(account.email) === canonical)
    );
  }

  add(account: Omit<Account, 'id'>, passwordHash: string | undefined): Account {
    const opened = { ...account, id: BigInt(this.accounts.size + 1) as AccountId };
    this.put({ account: opened, passwordHash, isClosed: false });
    return opened;
  }

  put(stored: StoredAccount): void {
    this.accounts.set(stored.account.id, stored);
  }
}

function canonicalOf(email: string): string {
  return canonicalAddress(email, predictableDomainToAscii);
}
