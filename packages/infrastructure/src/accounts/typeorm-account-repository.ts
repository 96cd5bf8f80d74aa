import type { Account, AccountId, AccountRepository, ListPart, NewAccount, Plan } from '@adoption-store/domain';
import { type DataSource, type FindOptionsWhere, IsNull, MoreThan, type Repository } from 'typeorm';
import { onDatabase, readFromDatabase } from '../database/database-errors.js';
import { ACCOUNT_COLUMNS, type AccountColumns, accountFromColumns } from './account-rows.js';
import { accountFrom, type AccountRow, accountSchema, planColumns } from './account.schema.js';

const CHANGE_PLAN = `
  UPDATE accounts SET plan = $2, per_minute = $3, per_day = $4 WHERE email = $1 AND closed_at IS NULL
  RETURNING ${ACCOUNT_COLUMNS}`;

export class TypeOrmAccountRepository implements AccountRepository {
  private readonly accounts: Repository<AccountRow>;

  /** @param onChange told of each account that this instance has changed, before the change is returned. */
  constructor(
    private readonly dataSource: DataSource,
    private readonly onChange: (account: Account) => void = () => undefined,
  ) {
    this.accounts = dataSource.getRepository(accountSchema);
  }

  async open({ email, plan, createdAt }: NewAccount): Promise<Account> {
    return onDatabase(async () => {
      for (;;) {
        await this.accounts
          .createQueryBuilder()
          .insert()
          .values({ email, ...planColumns(plan), createdAt })
          .orIgnore()
          .updateEntity(false)
          .execute();
        const row = await this.accounts.findOneBy({ email });
        // Null where the one that had the address was closed between the two looks at it.
        if (row !== null) return accountFrom(row);
      }
    });
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
      this.accounts.find({ where, order: { id: 'ASC' }, ...(limit !== undefined && { take: limit }) }),
    );
    return rows.map(accountFrom);
  }

  async changePlan(email: string, plan: Plan): Promise<Account | undefined> {
    const { perMinute, perDay } = planColumns(plan);
    const [[row]] = await onDatabase(() =>
      this.dataSource.query<[AccountColumns[], number]>(CHANGE_PLAN, [email, plan.name, perMinute, perDay]),
    );
    if (row === undefined) return undefined;
    const changed = accountFromColumns(row);
    this.onChange(changed);
    return changed;
  }

  private async find(where: FindOptionsWhere<AccountRow>): Promise<Account | undefined> {
    const row = await readFromDatabase(this.dataSource, () =>
      this.accounts.findOneBy({ ...where, closedAt: IsNull() }),
    );
    return row === null ? undefined : accountFrom(row);
  }
}
