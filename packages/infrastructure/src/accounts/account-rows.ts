import type { Account, AccountId } from '@adoption-store/domain';
import type { EntityManager } from 'typeorm';
import { Columns } from '../database/columns.js';
import { accountFrom, accountSchema } from './account.schema.js';

const columns = new Columns(accountSchema);

/** What an account is read from, by statements of our own. */
export const ACCOUNT_COLUMNS = columns.list();

export type AccountColumns = Readonly<Record<string, unknown>>;

export function accountFromColumns(row: AccountColumns): Account {
  return accountFrom(columns.fromRow(row));
}

const LOCK =
  'SELECT password_hash, credential_version FROM accounts WHERE id = $1 AND closed_at IS NULL FOR NO KEY UPDATE';

/** Takes the account's row until the transaction ends; undefined where there is no such account, or it is closed. */
export async function lockAccount(
  manager: EntityManager,
  id: AccountId,
): Promise<{ readonly passwordHash: string | undefined; readonly version: number } | undefined> {
  const [row] = await manager.query<{ password_hash: string | null; credential_version: number }[]>(LOCK, [
    id.toString(),
  ]);
  return row && { passwordHash: row.password_hash ?? undefined, version: row.credential_version };
}
