import {
  type Account,
  type AccountId,
  closedEmail,
  type CredentialChange,
  type CredentialRepository,
  type Credentials,
  type Instant,
  isProven,
  type MailedLink,
  type NewAccount,
} from '@adoption-store/domain';
import type { DataSource, EntityManager } from 'typeorm';
import { onDatabase, readFromDatabase } from '../database/database-errors.js';
import { deletePortions } from '../database/delete-portions.js';
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
const PROVE = `
  UPDATE accounts SET proven_at = COALESCE(proven_at, $2) WHERE id = $1 RETURNING ${ACCOUNT_COLUMNS}`;
const RESETS = linksIn('password_resets');
const PROOFS = linksIn('address_proofs');
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

/** The statements of a table of links that were mailed. */
function linksIn(table: string) {
  return {
    count: `SELECT count(*)::integer AS count FROM ${table} WHERE account_id = $1 AND expires_at > $2`,
    add: `INSERT INTO ${table} (token_hash, account_id, expires_at) VALUES ($1, $2, $3)`,
    find: `
      SELECT ${ACCOUNT_COLUMNS} FROM accounts
      WHERE closed_at IS NULL AND id = (SELECT account_id FROM ${table} WHERE token_hash = $1 AND expires_at > $2)`,
    spend: `DELETE FROM ${table} WHERE token_hash = $1 AND expires_at > $2`,
    takeBack: `DELETE FROM ${table} WHERE account_id = $1`,
    forget: { table, time: 'expires_at' },
  };
}
type Links = ReturnType<typeof linksIn>;

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

  async addReset(reset: MailedLink, most: number): Promise<boolean> {
    return this.addLink(RESETS, reset, most);
  }

  async findReset(tokenHash: string, at: Instant): Promise<Account | undefined> {
    const [row] = await readFromDatabase(this.dataSource, () =>
      this.dataSource.query<AccountColumns[]>(RESETS.find, [tokenHash, new Date(at)]),
    );
    return row && accountFromColumns(row);
  }

  async resetPassword({
    tokenHash,
    passwordHash,
    at,
  }: Parameters<CredentialRepository['resetPassword']>[0]): Promise<Account | undefined> {
    return this.changing(async (manager) => {
      const account = await spend(manager, RESETS, tokenHash, at);
      if (account === undefined) return undefined;
      if (!isProven(account)) await manager.query(REVOKE_KEYS, [account.id.toString(), new Date(at)]);
      await prove(manager, account.id, at);
      return setPassword(manager, account.id, passwordHash);
    });
  }

  async addProof(proof: MailedLink, most: number): Promise<boolean> {
    return this.addLink(PROOFS, proof, most);
  }

  async proveAddress({
    tokenHash,
    at,
  }: Parameters<CredentialRepository['proveAddress']>[0]): Promise<Account | undefined> {
    return this.changing(async (manager) => {
      const account = await spend(manager, PROOFS, tokenHash, at);
      return account && prove(manager, account.id, at);
    });
  }

  async close(change: CredentialChange & { readonly at: Instant }): Promise<boolean> {
    const { accountId, at } = change;
    const closed = await this.changing(async (manager) => {
      if (!(await isUnchanged(manager, change))) return undefined;
      const [id, time] = [accountId.toString(), new Date(at)];
      const [[row]] = await manager.query<[AccountColumns[], number]>(CLOSE, [id, closedEmail(accountId), time]);
      await manager.query(REVOKE_KEYS, [id, time]);
      for (const { takeBack } of [RESETS, PROOFS]) await manager.query(takeBack, [id]);
      return row && accountFromColumns(row);
    });
    return closed !== undefined;
  }

  async forgetResets(until: Instant): Promise<number> {
    return (await this.forgetLinks(RESETS, until)) + (await this.forgetLinks(PROOFS, until));
  }

  private async addLink(links: Links, link: MailedLink, most: number): Promise<boolean> {
    const { tokenHash, accountId, createdAt, expiresAt } = link;
    const id = accountId.toString();
    return onDatabase(() =>
      this.dataSource.transaction(async (manager) => {
        if ((await lockAccount(manager, accountId)) === undefined) return false;
        const [{ count }] = await manager.query<[{ count: number }]>(links.count, [id, new Date(createdAt)]);
        if (count >= most) return false;
        await manager.query(links.add, [tokenHash, id, new Date(expiresAt)]);
        return true;
      }),
    );
  }

  private async forgetLinks({ forget }: Links, until: Instant): Promise<number> {
    return deletePortions(this.dataSource, forget, until);
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

/** The account that the link was mailed to, whose row is then locked; of racing callers one spends the link. */
async function spend(
  manager: EntityManager,
  links: Links,
  tokenHash: string,
  at: Instant,
): Promise<Account | undefined> {
  const token = [tokenHash, new Date(at)];
  const [found] = await manager.query<AccountColumns[]>(links.find, token);
  if (found === undefined) return undefined;
  const { id } = accountFromColumns(found);
  if ((await lockAccount(manager, id)) === undefined) return undefined;
  // Another transaction may have spent it before this one had the account's row.
  const [, spent] = await manager.query<[unknown[], number]>(links.spend, token);
  if (spent !== 1) return undefined;
  // As the account is now: it may have been proven before the row was locked.
  const [locked] = await manager.query<AccountColumns[]>(`${FIND} id = $1`, [id.toString()]);
  return locked && accountFromColumns(locked);
}

async function prove(manager: EntityManager, id: AccountId, at: Instant): Promise<Account | undefined> {
  await manager.query(PROOFS.takeBack, [id.toString()]);
  const [[row]] = await manager.query<[AccountColumns[], number]>(PROVE, [id.toString(), new Date(at)]);
  return row && accountFromColumns(row);
}

async function setPassword(manager: EntityManager, id: AccountId, hash: string): Promise<Account | undefined> {
  const [[row]] = await manager.query<[AccountColumns[], number]>(SET_PASSWORD, [id.toString(), hash]);
  await manager.query(RESETS.takeBack, [id.toString()]);
  return row && accountFromColumns(row);
}
