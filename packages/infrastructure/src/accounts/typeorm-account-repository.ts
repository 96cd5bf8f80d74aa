import type { Account, AccountId, AccountRepository, ListPart, NewAccount, Plan, Scopes } from '@adoption-store/domain';
import { type DataSource, type FindOptionsWhere, IsNull, MoreThan } from 'typeorm';
import { readFromDatabase } from '../database/database-errors.js';
import { writeToDatabase } from '../database/transaction-limits.js';
import { inTransaction } from '../database/transactions.js';
import { insertAccount, lockAccount, updateAccount } from './account-queries.js';
import { accountFrom, type AccountRow, accountSchema, planColumns } from './account.schema.js';

export class TypeOrmAccountRepository implements AccountRepository {
  constructor(private readonly dataSource: DataSource) {}

  async open(account: NewAccount): Promise<Account> {
    for (;;) {
      await writeToDatabase(this.dataSource, (manager) => insertAccount(manager, account));
      const opened = await this.findByEmail(account.email);
      // Undefined if the account with that address was closed between the two queries.
      if (opened !== undefined) return opened;
    }
  }

  async findByEmail(email: string): Promise<Account | undefined> {
    return this.find({ email });
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

  async changePlan(email: string, plan: Plan): Promise<Account | undefined> {
    return this.change(email, planColumns(plan));
  }

  async holdToScopes(email: string, scopes: Scopes): Promise<Account | undefined> {
    return this.change(email, { scopes: scopes ?? null });
  }

  private async change(email: string, change: Partial<AccountRow>): Promise<Account | undefined> {
    return inTransaction(this.dataSource, async (manager) => {
      const row = await lockAccount(manager, { email });
      return row === null ? undefined : updateAccount(manager, row, change);
    });
  }

  private async find(where: FindOptionsWhere<AccountRow>): Promise<Account | undefined> {
    const row = await readFromDatabase(this.dataSource, () =>
      this.dataSource.manager.findOneBy(accountSchema, { ...where, closedAt: IsNull() }),
    );
    return row === null ? undefined : accountFrom(row);
  }
}
