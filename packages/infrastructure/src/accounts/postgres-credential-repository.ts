import {
  type Account,
  ACCOUNT_MAIL_KINDS,
  type AccountId,
  type AccountMailKind,
  closedEmail,
  type CredentialChange,
  type CredentialRepository,
  type Credentials,
  type Instant,
  isProven,
  type NewAccount,
} from '@adoption-store/domain';
import { type DataSource, type EntityManager, IsNull, type SelectQueryBuilder } from 'typeorm';
import { onDatabase, readFromDatabase } from '../database/database-errors.js';
import { deletePortions } from '../database/delete-portions.js';
import { insertAccount, lockAccount, selectAccount, updateAccount } from './account-queries.js';
import { accountFrom, type AccountRow, accountSchema } from './account.schema.js';
import { KEY_END } from './api-key.schema.js';
import { LINKS, TAKE_BACK_MAILS } from './postgres-account-mail-queue.js';

// Locked in the order of their ids, like the writes of uses. Past keys stay unchanged, because there may be very many.
const REVOKE_KEYS = `
  WITH locked AS (
    SELECT id FROM api_keys WHERE account_id = $1 AND ${KEY_END} > $2 AND revoked_at IS NULL
    ORDER BY id FOR NO KEY UPDATE
  )
  UPDATE api_keys SET revoked_at = $2 FROM locked WHERE api_keys.id = locked.id`;

type SpentReset = Parameters<CredentialRepository['resetPassword']>[0];
type SpentProof = Parameters<CredentialRepository['proveAddress']>[0];

/** Every change of an account locks its row first, so that concurrent changes wait for each other. */
export class PostgresCredentialRepository implements CredentialRepository {
  /** @param onChange called with each account that this instance has changed, before the change is returned. */
  constructor(
    private readonly dataSource: DataSource,
    private readonly onChange: (account: Account) => void = () => undefined,
  ) {}

  async open(account: NewAccount, passwordHash: string): Promise<Account | undefined> {
    return onDatabase(() =>
      this.dataSource.transaction(async (manager) => {
        if (!(await insertAccount(manager, account, { passwordHash, credentialVersion: 1 }))) return undefined;
        return accountFrom(await manager.findOneByOrFail(accountSchema, { email: account.email }));
      }),
    );
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
      await takeBack(manager, 'reset', row);
      return updateAccount(manager, row, withPassword(row, change.next));
    });
  }

  async rehash({ accountId, current, next }: CredentialChange & { readonly next: string }): Promise<void> {
    const unchanged = { id: accountId, passwordHash: current, closedAt: IsNull() };
    await onDatabase(() => this.dataSource.manager.update(accountSchema, unchanged, { passwordHash: next }));
  }

  async findReset(tokenHash: string, at: Instant): Promise<Account | undefined> {
    return (await this.find(selectLinked(this.dataSource.manager, 'reset', tokenHash, at)))?.account;
  }

  async resetPassword({ tokenHash, passwordHash, at }: SpentReset): Promise<Account | undefined> {
    return this.changing(async (manager) => {
      const row = await spend(manager, 'reset', tokenHash, at);
      if (row === undefined) return undefined;
      if (!isProven(row)) await manager.query(REVOKE_KEYS, [row.id, new Date(at)]);
      for (const kind of ACCOUNT_MAIL_KINDS) await takeBack(manager, kind, row);
      return updateAccount(manager, row, { ...withPassword(row, passwordHash), provenAt: row.provenAt ?? at });
    });
  }

  async proveAddress({ tokenHash, at }: SpentProof): Promise<Account | undefined> {
    return this.changing(async (manager) => {
      const row = await spend(manager, 'proof', tokenHash, at);
      if (row === undefined) return undefined;
      await takeBack(manager, 'proof', row);
      return updateAccount(manager, row, { provenAt: row.provenAt ?? at });
    });
  }

  async close(change: CredentialChange & { readonly at: Instant }): Promise<boolean> {
    const closed = await this.changing(async (manager) => {
      const row = await lockUnchanged(manager, change);
      if (row === undefined) return undefined;
      await manager.query(REVOKE_KEYS, [row.id, new Date(change.at)]);
      for (const kind of ACCOUNT_MAIL_KINDS) await takeBack(manager, kind, row);
      const closing = { email: closedEmail(row.id), closedAt: change.at };
      return updateAccount(manager, row, { ...withPassword(row, null), ...closing });
    });
    return closed !== undefined;
  }

  async forgetResets(until: Instant): Promise<number> {
    const forget = (table: string) => deletePortions(this.dataSource, { table, time: 'expires_at' }, until);
    return (await forget(LINKS.reset)) + (await forget(LINKS.proof));
  }

  private async find(account: SelectQueryBuilder<AccountRow>): Promise<Credentials | undefined> {
    const row = await readFromDatabase(this.dataSource, () => account.getOne());
    return row === null ? undefined : { account: accountFrom(row), passwordHash: row.passwordHash ?? undefined };
  }

  private async changing(work: (manager: EntityManager) => Promise<Account | undefined>): Promise<Account | undefined> {
    const changed = await onDatabase(() => this.dataSource.transaction(work));
    if (changed !== undefined) this.onChange(changed);
    return changed;
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
function selectLinked(manager: EntityManager, kind: AccountMailKind, tokenHash: string, at: Instant) {
  const linked = `account.id = (SELECT account_id FROM ${LINKS[kind]} WHERE token_hash = :tokenHash AND expires_at > :at)`;
  return selectAccount(manager, {}).andWhere(linked, { tokenHash, at: new Date(at) });
}

/** Uses up the link and locks the row of its account. Of concurrent callers one succeeds. */
async function spend(
  manager: EntityManager,
  kind: AccountMailKind,
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

async function takeBack(manager: EntityManager, kind: AccountMailKind, { id }: AccountRow): Promise<void> {
  await manager.query(`DELETE FROM ${LINKS[kind]} WHERE account_id = $1`, [id]);
  await manager.query(TAKE_BACK_MAILS, [id, kind]);
}
