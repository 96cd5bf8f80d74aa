import {
  type Account,
  type AccountId,
  closedEmail,
  type CredentialChange,
  type CredentialRepository,
  type Credentials,
  type Instant,
  type NewAccount,
  type PasswordReset,
} from '@adoption-store/domain';
import type { DataSource, EntityManager } from 'typeorm';
import { onDatabase, readFromDatabase } from '../database/database-errors.js';
import { ACCOUNT_COLUMNS, accountFromColumns, type AccountColumns, lockAccount } from './account-rows.js';
import { KEY_END } from './api-key.schema.js';
import { planColumns } from './account.schema.js';

type CredentialColumns = AccountColumns & { readonly password_hash: string | null };

const OPEN = `
  INSERT INTO accounts (email, plan, per_minute, per_day, created_at, password_hash, credential_version)
  VALUES ($1, $2, $3, $4, $5, $6, 1)
  ON CONFLICT (email) DO NOTHING RETURNING ${ACCOUNT_COLUMNS}`;
const FIND = `SELECT ${ACCOUNT_COLUMNS}, password_hash FROM accounts WHERE closed_at IS NULL AND`;
const SET_PASSWORD = `
  UPDATE accounts SET password_hash = $2, credential_version = credential_version + 1
  WHERE id = $1 RETURNING ${ACCOUNT_COLUMNS}`;
const REHASH = 'UPDATE accounts SET password_hash = $3 WHERE id = $1 AND password_hash = $2 AND closed_at IS NULL';
const COUNT_RESETS = 'SELECT count(*)::integer AS count FROM password_resets WHERE account_id = $1 AND expires_at > $2';
const ADD_RESET = 'INSERT INTO password_resets (token_hash, account_id, expires_at) VALUES ($1, $2, $3)';
const FIND_RESET = `
  SELECT ${ACCOUNT_COLUMNS} FROM accounts
  WHERE closed_at IS NULL
    AND id = (SELECT account_id FROM password_resets WHERE token_hash = $1 AND expires_at > $2)`;
const SPEND_RESET = 'DELETE FROM password_resets WHERE token_hash = $1 AND expires_at > $2';
const TAKE_BACK_RESETS = 'DELETE FROM password_resets WHERE account_id = $1';
const CLOSE = `
  UPDATE accounts
  SET email = $2, password_hash = NULL, credential_version = credential_version + 1, closed_at = $3
  WHERE id = $1 RETURNING ${ACCOUNT_COLUMNS}`;
// In the order of their ids, as uses of them are written. Those that are over stay as they are: there may be very many.
const REVOKE_KEYS = `
  WITH locked AS (
    SELECT id FROM api_keys WHERE account_id = $1 AND ${KEY_END} > $2 AND revoked_at IS NULL
    ORDER BY id FOR NO KEY UPDATE
  )
  UPDATE api_keys SET revoked_at = $2 FROM locked WHERE api_keys.id = locked.id`;
// In portions, as a statement that takes too long is ended. By their places, or PostgreSQL reads the whole table to find
// the rows of a portion.
const FORGET_RESETS = `
  DELETE FROM password_resets WHERE ctid = ANY(ARRAY(
    SELECT ctid FROM password_resets WHERE expires_at <= $1
    ORDER BY expires_at LIMIT 1000 FOR UPDATE SKIP LOCKED))`;

/** What changes an account takes its row first, which is what makes racing changes wait for each other. */
export class PostgresCredentialRepository implements CredentialRepository {
  /** @param onChange told of each account that this instance has changed, before the change is returned. */
  constructor(
    private readonly dataSource: DataSource,
    private readonly onChange: (account: Account) => void = () => undefined,
  ) {}

  async open({ email, plan, createdAt }: NewAccount, passwordHash: string): Promise<Account | undefined> {
    const { perMinute, perDay } = planColumns(plan);
    const [row] = await onDatabase(() =>
      this.dataSource.query<AccountColumns[]>(OPEN, [
        email,
        plan.name,
        perMinute,
        perDay,
        new Date(createdAt),
        passwordHash,
      ]),
    );
    return row && accountFromColumns(row);
  }

  async findByEmail(email: string): Promise<Credentials | undefined> {
    return this.find(`${FIND} email = $1`, email);
  }

  async findById(id: AccountId): Promise<Credentials | undefined> {
    return this.find(`${FIND} id = $1`, id.toString());
  }

  async changePassword(change: CredentialChange & { readonly next: string }): Promise<Account | undefined> {
    return this.changing(async (manager) =>
      (await isUnchanged(manager, change)) ? setPassword(manager, change.accountId, change.next) : undefined,
    );
  }

  async rehash({ accountId, current, next }: CredentialChange & { readonly next: string }): Promise<void> {
    await onDatabase(() => this.dataSource.query(REHASH, [accountId.toString(), current, next]));
  }

  async addReset({ tokenHash, accountId, createdAt, expiresAt }: PasswordReset, most: number): Promise<boolean> {
    const id = accountId.toString();
    return onDatabase(() =>
      this.dataSource.transaction(async (manager) => {
        if ((await lockAccount(manager, accountId)) === undefined) return false;
        const [{ count }] = await manager.query<[{ count: number }]>(COUNT_RESETS, [id, new Date(createdAt)]);
        if (count >= most) return false;
        await manager.query(ADD_RESET, [tokenHash, id, new Date(expiresAt)]);
        return true;
      }),
    );
  }

  async findReset(tokenHash: string, at: Instant): Promise<Account | undefined> {
    const [row] = await readFromDatabase(this.dataSource, () =>
      this.dataSource.query<AccountColumns[]>(FIND_RESET, [tokenHash, new Date(at)]),
    );
    return row && accountFromColumns(row);
  }

  async resetPassword({
    tokenHash,
    passwordHash,
    at,
  }: Parameters<CredentialRepository['resetPassword']>[0]): Promise<Account | undefined> {
    return this.changing(async (manager) => {
      const token = [tokenHash, new Date(at)];
      const [found] = await manager.query<AccountColumns[]>(FIND_RESET, token);
      if (found === undefined) return undefined;
      const { id } = accountFromColumns(found);
      if ((await lockAccount(manager, id)) === undefined) return undefined;
      // Whoever had the account's row before may have spent it.
      const [, spent] = await manager.query<[unknown[], number]>(SPEND_RESET, token);
      return spent === 1 ? setPassword(manager, id, passwordHash) : undefined;
    });
  }

  async close(change: CredentialChange & { readonly at: Instant }): Promise<boolean> {
    const { accountId, at } = change;
    const closed = await this.changing(async (manager) => {
      if (!(await isUnchanged(manager, change))) return undefined;
      const [id, time] = [accountId.toString(), new Date(at)];
      const [[row]] = await manager.query<[AccountColumns[], number]>(CLOSE, [id, closedEmail(accountId), time]);
      await manager.query(REVOKE_KEYS, [id, time]);
      await manager.query(TAKE_BACK_RESETS, [id]);
      return row && accountFromColumns(row);
    });
    return closed !== undefined;
  }

  async forgetResets(until: Instant): Promise<number> {
    let forgotten = 0;
    for (;;) {
      const [, count] = await onDatabase(() =>
        this.dataSource.query<[unknown[], number]>(FORGET_RESETS, [new Date(until)]),
      );
      forgotten += count;
      if (count === 0) return forgotten;
    }
  }

  private async find(text: string, value: string): Promise<Credentials | undefined> {
    const [row] = await readFromDatabase(this.dataSource, () =>
      this.dataSource.query<CredentialColumns[]>(text, [value]),
    );
    return row && { account: accountFromColumns(row), passwordHash: row.password_hash ?? undefined };
  }

  private async changing(work: (manager: EntityManager) => Promise<Account | undefined>): Promise<Account | undefined> {
    const changed = await onDatabase(() => this.dataSource.transaction(work));
    if (changed !== undefined) this.onChange(changed);
    return changed;
  }
}

async function isUnchanged(manager: EntityManager, { accountId, current }: CredentialChange): Promise<boolean> {
  return (await lockAccount(manager, accountId))?.passwordHash === current;
}

async function setPassword(manager: EntityManager, id: AccountId, hash: string): Promise<Account | undefined> {
  const [[row]] = await manager.query<[AccountColumns[], number]>(SET_PASSWORD, [id.toString(), hash]);
  await manager.query(TAKE_BACK_RESETS, [id.toString()]);
  return row && accountFromColumns(row);
}
