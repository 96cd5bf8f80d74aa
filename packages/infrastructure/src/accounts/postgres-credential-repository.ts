import {
  type Account,
  type AccountId,
  closedEmail,
  type CredentialChange,
  type CredentialRepository,
  type Credentials,
  emailTaken,
  type Instant,
  isProven,
  LINK_KINDS,
  type LinkKind,
  type NewAccount,
} from '@adoption-store/domain';
import { type DataSource, type EntityManager, IsNull, type SelectQueryBuilder } from 'typeorm';
import { readFromDatabase, sqlState, UNIQUE_VIOLATION } from '../database/database-errors.js';
import { deletePortions } from '../database/delete-portions.js';
import { writeToDatabase } from '../database/transaction-limits.js';
import { inTransaction } from '../database/transactions.js';
import { DELETE_HOURS, DELETE_REFUSALS } from '../quotas/postgres-request-records.js';
import { insertAccount, lockAccount, selectAccount, updateAccount } from './account-queries.js';
import { accountFrom, type AccountRow, accountSchema } from './account.schema.js';
import { KEY_END } from './api-key.schema.js';
import { insertMail, LINKS, TAKE_BACK_MAILS } from './postgres-account-mail-queue.js';

// Locked in the order of their ids, like the writes of uses. Past keys stay unchanged, because there may be very many.
const REVOKE_KEYS = `
  WITH locked AS (
    SELECT id FROM api_keys WHERE account_id = $1 AND ${KEY_END} > $2 AND revoked_at IS NULL
    ORDER BY id FOR NO KEY UPDATE
  )
  UPDATE api_keys SET revoked_at = $2 FROM locked WHERE api_keys.id = locked.id`;

// The address stands in the mail, which is kept as long as its link.
const MAILED_ADDRESS = `
  SELECT address FROM account_mails
  WHERE id = (SELECT mail_id FROM ${LINKS.change} WHERE token_hash = $1)`;

type SpentReset = Parameters<CredentialRepository['resetPassword']>[0];
type SpentProof = Parameters<CredentialRepository['proveAddress']>[0];
type SpentChange = Parameters<CredentialRepository['changeAddress']>[0];

/** Every change of an account locks its row first, so that concurrent changes wait for each other. */
export class PostgresCredentialRepository implements CredentialRepository {
  constructor(private readonly dataSource: DataSource) {}

  async open(account: NewAccount, passwordHash: string): Promise<Account | undefined> {
    return inTransaction(this.dataSource, async (manager) => {
      const insert = insertAccount(manager, account, { passwordHash, credentialVersion: 1 }).orIgnore();
      if ((await insert.execute()).identifiers[0] === undefined) return undefined;
      return accountFrom(await manager.findOneByOrFail(accountSchema, { email: account.email }));
    });
  }

  async findByEmail(email: string): Promise<Credentials | undefined> {
    return this.find(selectAccount(this.dataSource.manager, { email }));
  }

  async findById(id: AccountId): Promise<Credentials | undefined> {
    return this.find(selectAccount(this.dataSource.manager, { id }));
  }

  async changePassword(change: CredentialChange & { readonly next: string }): Promise<Account | undefined> {
    return this.changing(async (manager) => {
      const row = await lockUnchanged(manager, change);
      if (row === undefined) return undefined;
      await takeBack(manager, row, 'reset', 'change');
      return updateAccount(manager, row, withPassword(row, change.next));
    });
  }

  async rehash({ accountId, current, next }: CredentialChange & { readonly next: string }): Promise<void> {
    const unchanged = { id: accountId, passwordHash: current, closedAt: IsNull() };
    await writeToDatabase(this.dataSource, (manager) =>
      manager.update(accountSchema, unchanged, { passwordHash: next }),
    );
  }

  async findReset(tokenHash: string, at: Instant): Promise<Account | undefined> {
    return (await this.find(selectLinked(this.dataSource.manager, 'reset', tokenHash, at)))?.account;
  }

  async resetPassword({ tokenHash, passwordHash, at }: SpentReset): Promise<Account | undefined> {
    return this.changing(async (manager) => {
      const row = await spend(manager, 'reset', tokenHash, at);
      if (row === undefined) return undefined;
      if (!isProven(row)) await manager.query(REVOKE_KEYS, [row.id, new Date(at)]);
      await takeBack(manager, row, ...LINK_KINDS);
      return updateAccount(manager, row, { ...withPassword(row, passwordHash), provenAt: row.provenAt ?? at });
    });
  }

  async proveAddress({ tokenHash, at }: SpentProof): Promise<Account | undefined> {
    return this.changing(async (manager) => {
      const row = await spend(manager, 'proof', tokenHash, at);
      if (row === undefined) return undefined;
      await takeBack(manager, row, 'proof');
      return updateAccount(manager, row, { provenAt: row.provenAt ?? at });
    });
  }

  async changeAddress({ tokenHash, at, notice }: SpentChange): Promise<Account | undefined> {
    try {
      return await this.changing(async (manager) => {
        const [mail] = await manager.query<{ address: string | null }[]>(MAILED_ADDRESS, [tokenHash]);
        const row = await spend(manager, 'change', tokenHash, at);
        if (row === undefined || typeof mail?.address !== 'string') return undefined;
        const { id: accountId, email: address } = row;
        await takeBack(manager, row, ...LINK_KINDS);
        await insertMail(manager, { ...notice, accountId, kind: 'changed', page: '', address, createdAt: at });
        return updateAccount(manager, row, { email: mail.address, provenAt: at });
      });
    } catch (error) {
      throw sqlState(error) === UNIQUE_VIOLATION ? emailTaken() : error;
    }
  }

  async close(change: CredentialChange & { readonly at: Instant }): Promise<boolean> {
    const closed = await this.changing(async (manager) => {
      const row = await lockUnchanged(manager, change);
      if (row === undefined) return undefined;
      await manager.query(REVOKE_KEYS, [row.id, new Date(change.at)]);
      await takeBack(manager, row, ...LINK_KINDS);
      for (const statement of [DELETE_REFUSALS, DELETE_HOURS]) await manager.query(statement, [row.id]);
      const closing = { email: closedEmail(row.id), closedAt: change.at };
      return updateAccount(manager, row, { ...withPassword(row, null), ...closing });
    });
    return closed !== undefined;
  }

  async purgeLinks(until: Instant): Promise<number> {
    let deleted = 0;
    for (const kind of LINK_KINDS) {
      deleted += await deletePortions(this.dataSource, { table: LINKS[kind], time: 'expires_at' }, until);
    }
    return deleted;
  }

  private async find(account: SelectQueryBuilder<AccountRow>): Promise<Credentials | undefined> {
    const row = await readFromDatabase(this.dataSource, () => account.getOne());
    return row === null ? undefined : { account: accountFrom(row), passwordHash: row.passwordHash ?? undefined };
  }

  private async changing(work: (manager: EntityManager) => Promise<Account | undefined>): Promise<Account | undefined> {
    return inTransaction(this.dataSource, work);
  }
}

async function lockUnchanged(
  manager: EntityManager,
  { accountId, current }: CredentialChange,
): Promise<AccountRow | undefined> {
  const row = await lockAccount(manager, { id: accountId });
  return row?.passwordHash === current ? row : undefined;
}

function withPassword({ credentialVersion }: AccountRow, passwordHash: string | null): Partial<AccountRow> {
  return { passwordHash, credentialVersion: credentialVersion + 1 };
}

/** Selects the account to which the link was mailed. */
function selectLinked(manager: EntityManager, kind: LinkKind, tokenHash: string, at: Instant) {
  const linked = `account.id = (SELECT account_id FROM ${LINKS[kind]} WHERE token_hash = :tokenHash AND expires_at > :at)`;
  return selectAccount(manager, {}).andWhere(linked, { tokenHash, at: new Date(at) });
}

/** Uses up the link and locks the row of its account. Of concurrent callers one succeeds. */
async function spend(
  manager: EntityManager,
  kind: LinkKind,
  tokenHash: string,
  at: Instant,
): Promise<AccountRow | undefined> {
  const row = await selectLinked(manager, kind, tokenHash, at).setLock('for_no_key_update').getOne();
  if (row === null) return undefined;
  // Another transaction may have used the link before this one locked the row.
  const spend = `DELETE FROM ${LINKS[kind]} WHERE token_hash = $1 AND expires_at > $2`;
  const [, spent] = await manager.query<[unknown[], number]>(spend, [tokenHash, new Date(at)]);
  return spent === 1 ? row : undefined;
}

async function takeBack(manager: EntityManager, { id }: AccountRow, ...kinds: readonly LinkKind[]): Promise<void> {
  for (const kind of kinds) {
    await manager.query(`DELETE FROM ${LINKS[kind]} WHERE account_id = $1`, [id]);
    await manager.query(TAKE_BACK_MAILS, [id, kind]);
  }
}
