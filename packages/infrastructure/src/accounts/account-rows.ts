import { type Account, type AccountId, instant, type PlanName } from '@adoption-store/domain';
import type { EntityManager } from 'typeorm';
import { accountFrom } from './account.schema.js';

/** What an account is read from, by statements that the query builder has no words for. */
export const ACCOUNT_COLUMNS = 'id, email, plan, per_minute, per_day, created_at, credential_version, proven_at';

export interface AccountColumns {
  readonly id: string;
  readonly email: string;
  readonly plan: PlanName;
  readonly per_minute: number | null;
  readonly per_day: number | null;
  readonly created_at: Date;
  readonly credential_version: number;
  readonly proven_at: Date | null;
}

export function accountFromColumns(row: AccountColumns): Account {
  return accountFrom({
    id: BigInt(row.id) as AccountId,
    email: row.email,
    plan: row.plan,
    perMinute: row.per_minute ?? undefined,
    perDay: row.per_day ?? undefined,
    createdAt: instant(row.created_at.getTime()),
    credentialVersion: row.credential_version,
    provenAt: row.proven_at === null ? undefined : instant(row.proven_at.getTime()),
    closedAt: undefined,
  });
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
