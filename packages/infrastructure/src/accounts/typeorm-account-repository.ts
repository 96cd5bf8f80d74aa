import { readFromDatabase } from '../database/on-database.js';
import type { Account, AccountId, AccountRepository, ListPart, NewAccount } from '@adoption-store/domain';
import { type DataSource, type FindOptionsWhere, IsNull, MoreThan } from 'typeorm';
import { inTransaction, writeToDatabase } from '../database/transactions.js';
import { insertAccount, lockAccount, withAddress } from './account-queries.js';
import { accountFrom, type AccountRow, accountSchema, planColumns } from './account.schema.js';

export class TypeOrmAccountRepository implements AccountRepository {
  constructor(private readonly dataSource: DataSource) {}

  async open(account: NewAccount): Promise<Account> {
    const existing = await this.findByEmail(account.email);
    if (existing !== undefined) return existing;
    await writeToDatabase(this.dataSource, (manager) => insertAccount(manager, account).orIgnore().execute());
    // If another process was faster, this is the account that it has opened.
    const opened = await this.findByEmail(account.email);
    if (opened === undefined) throw new Error('the account was closed as it was opened');
    return opened;
  }

  async findByEmail(email: string): Promise<Account | undefined> {
    return this.find({ email: withAddress(email) });
  }

  async findById(id: AccountId): Promise<Account | undefined> {
    return this.find({ id });
  }

  async list({ after, limit }: ListPart<AccountId> = {}): Promise<readonly Account[]> {
    const where = { closedAt: IsNull(), ...(after !== undefined && { id: MoreThan(after) }) };
    const rows = await readFromDatabase(this.dataSource, () =>
      this.dataSource.manager.find(accountSchema, {
        where,
        order: { id: 'ASC' },
        ...(limit !== undefined && { take: limit }),
      }),
    );
    return rows.map(accountFrom);
  }

  async change(email: string, decide: (account: Account | undefined) => Account): Promise<Account> {
    return inTransaction(this.dataSource, async (manager) => {
      const row = await lockAccount(manager, { email: withAddress(email) });
      const stored = row === null ? undefined : accountFrom(row);
      const decided = decide(stored);
      if (stored === undefined) return decided;
      const { plan, scopes } = decided;
      await manager.update(accountSchema, { id: stored.id }, { ...planColumns(plan), scopes: scopes ?? null });
      return { ...stored, plan, scopes };
    });
  }

  private async find(where: FindOptionsWhere<AccountRow>): Promise<Account | undefined> {
    const row = await readFromDatabase(this.dataSource, () =>
      this.dataSource.manager.findOneBy(accountSchema, { ...where, closedAt: IsNull() }),
    );
    return row === null ? undefined : accountFrom(row);
  }
}
