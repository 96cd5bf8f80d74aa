import {
  type Account,
  type AccountId,
  type AccountRepository,
  instant,
  type NewAccount,
  type Plan,
} from '@adoption-store/domain';
import type { DataSource, Repository } from 'typeorm';
import { onDatabase, readFromDatabase } from '../database/database-errors.js';
import { accountFrom, type AccountRow, accountSchema } from './account.schema.js';

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
      await this.accounts
        .createQueryBuilder()
        .insert()
        .values({ email, ...planColumns(plan), createdAt })
        .orIgnore()
        .updateEntity(false)
        .execute();
      // Nothing deletes accounts, so whoever won the insert, the row is there.
      return accountFrom(await this.accounts.findOneByOrFail({ email }));
    });
  }

  async findByEmail(email: string): Promise<Account | undefined> {
    const row = await readFromDatabase(this.dataSource, () => this.accounts.findOneBy({ email }));
    return row === null ? undefined : accountFrom(row);
  }

  async changePlan(email: string, plan: Plan): Promise<Account | undefined> {
    const { perMinute, perDay } = planColumns(plan);
    const text = `
      UPDATE accounts SET plan = $2, per_minute = $3, per_day = $4 WHERE email = $1 RETURNING id, created_at`;
    const [[row]] = await onDatabase(() =>
      this.dataSource.query<[{ id: string; created_at: Date }[], number]>(text, [email, plan.name, perMinute, perDay]),
    );
    if (row === undefined) return undefined;
    const changed = { id: BigInt(row.id) as AccountId, email, plan, createdAt: instant(row.created_at.getTime()) };
    this.onChange(changed);
    return changed;
  }
}

function planColumns(plan: Plan) {
  return plan.name === 'enterprise'
    ? { plan: plan.name, perMinute: plan.perMinute, perDay: plan.perDay }
    : { plan: plan.name, perMinute: undefined, perDay: undefined };
}
