import {
  type Account,
  type AccountId,
  type Instant,
  type Session,
  sessionEnd,
  type SessionRepository,
} from '@adoption-store/domain';
import type { DataSource } from 'typeorm';
import { lockAccount } from '../accounts/account-queries.js';
import { accountFrom, type AccountRow } from '../accounts/account.schema.js';
import { readFromDatabase } from '../database/database-errors.js';
import { deletePortions } from '../database/delete-portions.js';
import { writeToDatabase } from '../database/transaction-limits.js';
import { inTransaction } from '../database/transactions.js';
import { type SessionRow, sessionSchema } from './session.schema.js';

/** Only `add` inserts a row, so an ended session stays ended, whatever requests are in progress. */
export class PostgresSessionRepository implements SessionRepository {
  constructor(private readonly dataSource: DataSource) {}

  async add(session: Session): Promise<boolean> {
    const { accountId: id, credentialVersion } = session;
    return inTransaction(this.dataSource, async (manager) => {
      // Locked, so that a session never begins during a change of the password.
      if ((await lockAccount(manager, { id, credentialVersion })) === null) return false;
      await manager.insert(sessionSchema, { ...session, expiresAt: sessionEnd(session) });
      return true;
    });
  }

  async find(tokenHash: string): Promise<{ readonly session: Session; readonly account: Account } | undefined> {
    const found = await readFromDatabase(this.dataSource, () =>
      this.dataSource.manager
        .createQueryBuilder(sessionSchema, 'session')
        .innerJoinAndMapOne('session.account', 'Account', 'account', 'account.id = session.accountId')
        .where({ tokenHash })
        .andWhere('account.credentialVersion = session.credentialVersion AND account.closedAt IS NULL')
        .getOne(),
    );
    if (found === null) return undefined;
    const { account, expiresAt: _expiresAt, ...session } = found as SessionRow & { account: AccountRow };
    return { session, account: accountFrom(account) };
  }

  async use(session: Session): Promise<boolean> {
    const { id, tokenHash, usedAt } = session;
    return this.change({ id, tokenHash }, { usedAt, expiresAt: sessionEnd(session) });
  }

  async renew(session: Session): Promise<boolean> {
    const { id, accountId, ...changed } = session;
    return this.change({ id, accountId }, { ...changed, expiresAt: sessionEnd(session) });
  }

  async end(id: string): Promise<void> {
    await writeToDatabase(this.dataSource, (manager) => manager.delete(sessionSchema, { id }));
  }

  async endAll(accountId: AccountId): Promise<void> {
    await writeToDatabase(this.dataSource, (manager) => manager.delete(sessionSchema, { accountId }));
  }

  async purge(until: Instant): Promise<number> {
    return deletePortions(this.dataSource, { table: 'sessions', time: 'expire' }, until);
  }

  private async change(which: Partial<Session>, change: Partial<SessionRow>): Promise<boolean> {
    const { affected } = await writeToDatabase(this.dataSource, (manager) =>
      manager.update(sessionSchema, which, change),
    );
    return affected === 1;
  }
}
