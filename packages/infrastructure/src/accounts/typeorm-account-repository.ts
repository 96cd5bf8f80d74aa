import type { Account, AccountRepository, NewAccount } from '@adoption-store/domain';
import type { DataSource, Repository } from 'typeorm';
import { onDatabase } from '../database/database-errors.js';
import { accountFrom, type AccountRow, accountSchema } from './account.schema.js';

export class TypeOrmAccountRepository implements AccountRepository {
  private readonly accounts: Repository<AccountRow>;

  constructor(dataSource: DataSource) {
    this.accounts = dataSource.getRepository(accountSchema);
  }

  async open({ email, plan, createdAt }: NewAccount): Promise<Account> {
    const limits = plan.name === 'enterprise' ? { perMinute: plan.perMinute, perDay: plan.perDay } : {};
    return onDatabase(async () => {
      await this.accounts
        .createQueryBuilder()
        .insert()
        .values({ email, plan: plan.name, ...limits, createdAt })
        .orIgnore()
        .updateEntity(false)
        .execute();
      // Nothing deletes accounts, so whoever won the insert, the row is there.
      return accountFrom(await this.accounts.findOneByOrFail({ email }));
    });
  }

  async findByEmail(email: string): Promise<Account | undefined> {
    const row = await onDatabase(() => this.accounts.findOneBy({ email }));
    return row === null ? undefined : accountFrom(row);
  }
}
