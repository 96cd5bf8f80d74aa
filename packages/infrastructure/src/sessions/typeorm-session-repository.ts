import { readFromDatabase } from '../database/on-database.js';
import {
  type Account,
  type AccountId,
  type Instant,
  type Session,
  sessionEnd,
  type SessionRepository,
  type SessionState,
} from '@adoption-store/domain';
import type { DataSource } from 'typeorm';
import { lockAccount } from '../accounts/account-queries.js';
import { accountFrom, type AccountRow } from '../accounts/account.schema.js';
import { deletePortions } from '../database/delete-portions.js';
import { inTransaction, writeToDatabase } from '../database/transactions.js';
import { type SessionRow, sessionSchema } from './session.schema.js';

/** Only `add` inserts a row, so a request in progress can't bring an ended session back. */
export class TypeOrmSessionRepository implements SessionRepository {
  constructor(private readonly dataSource: DataSource) {}

  async add(
    accountId: AccountId,
    decide: (account: Account | undefined) => Session | undefined,
  ): Promise<Session | undefined> {
    return inTransaction(this.dataSource, async (manager) => {
      const account = await lockAccount(manager, { id: accountId });
      const session = decide(account === null ? undefined : accountFrom(account));
      if (session !== undefined) await manager.insert(sessionSchema, { ...session, expiresAt: sessionEnd(session) });
      return session;
    });
  }

  async find(tokenHash: string): Promise<SessionState | undefined> {
    const found = await readFromDatabase(this.dataSource, () =>
      this.dataSource.manager
        .createQueryBuilder(sessionSchema, 'session')
        .innerJoinAndMapOne('session.account', 'Account', 'account', 'account.id = session.accountId')
        .where({ tokenHash })
        .andWhere('account.closedAt IS NULL')
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

  // One statement is faster than a decision on a locked row, and requests of the portal wait for it.
  private async change(which: Partial<Session>, change: Partial<SessionRow>): Promise<boolean> {
    const { affected } = await writeToDatabase(this.dataSource, (manager) =>
      manager.update(sessionSchema, which, change),
    );
    return affected === 1;
  }
}
