import { readFromDatabase } from '../database/on-database.js';
import type { Account, AccountId, AccountRepository, ListPart, NewAccount } from '@adoption-store/domain';
import { type DataSource, type FindOptionsWhere, IsNull, MoreThan } from 'typeorm';
import { Columns } from '../database/columns.js';
import { inTransaction, writeToDatabase } from '../database/transactions.js';
import { insertAccount, lockAccount } from './account-queries.js';
import { accountFrom, type AccountRow, accountSchema, planColumns } from './account.schema.js';

const columns = new Columns(accountSchema);

export class TypeOrmAccountRepository implements AccountRepository {
  constructor(private readonly dataSource: DataSource) {}

  async open(account: NewAccount): Promise<Account> {
    const inserted = await writeToDatabase(this.dataSource, (manager) =>
      insertAccount(manager, account)
        // The update changes nothing, because the address is the same, but the existing account is returned.
        .orUpdate(['email'], ['email'])
        .returning('*')
        .execute(),
    );
    const [row = {}] = inserted.raw as readonly Readonly<Record<string, unknown>>[];
    return accountFrom(columns.fromRow(row));
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

  async change(email: string, decide: (account: Account | undefined) => Account): Promise<Account> {
    return inTransaction(this.dataSource, async (manager) => {
      const row = await lockAccount(manager, { email });
      const account = decide(row === null ? undefined : accountFrom(row));
      const { id, plan, scopes } = account;
      await manager.update(accountSchema, { id }, { ...planColumns(plan), scopes: scopes ?? null });
      return account;
    });
  }

  private async find(where: FindOptionsWhere<AccountRow>): Promise<Account | undefined> {
    const row = await readFromDatabase(this.dataSource, () =>
      this.dataSource.manager.findOneBy(accountSchema, { ...where, closedAt: IsNull() }),
    );
    return row === null ? undefined : accountFrom(row);
  }
}
