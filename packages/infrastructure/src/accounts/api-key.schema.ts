import { type AccountId, type ApiKey, type ApiKeyId, instant } from '@adoption-store/domain';
import { EntitySchema } from 'typeorm';
import { instantColumn, int64Column, optionalColumn } from '../database/columns.js';
import type { Writable } from '../kernel/writable.js';
import type { AccountRow } from './account.schema.js';

export type ApiKeyRow = Writable<ApiKey> & { account?: AccountRow };

export const apiKeySchema = new EntitySchema<ApiKeyRow>({
  name: 'ApiKey',
  tableName: 'api_keys',
  columns: {
    id: { type: 'bigint', primary: true, generated: 'increment', transformer: int64Column },
    accountId: { name: 'account_id', type: 'bigint', transformer: int64Column },
    hash: { type: 'text' },
    ending: { type: 'text' },
    name: { type: 'text', nullable: true, transformer: optionalColumn },
    createdAt: { name: 'created_at', type: 'timestamptz', transformer: instantColumn },
    expiresAt: { name: 'expires_at', type: 'timestamptz', nullable: true, transformer: instantColumn },
    revokedAt: { name: 'revoked_at', type: 'timestamptz', nullable: true, transformer: instantColumn },
    replacedBy: { name: 'replaced_by', type: 'bigint', nullable: true, transformer: int64Column },
    lastUsedAt: { name: 'last_used_at', type: 'timestamptz', nullable: true, transformer: instantColumn },
  },
  relations: {
    account: { type: 'many-to-one', target: 'Account', joinColumn: { name: 'account_id' } },
  },
});

export function apiKeyFrom({ account: _account, ...key }: ApiKeyRow): ApiKey {
  return key;
}

/** From when on a key is refused, as the indexes by it have it; of one that works for ever it is later than any time. */
export const KEY_END = `COALESCE(LEAST(revoked_at, expires_at), 'infinity'::timestamptz)`;

/** A row as the driver gives it, where the statement is our own and TypeORM restores nothing. */
export interface ApiKeyColumns {
  readonly id: string;
  readonly account_id: string;
  readonly hash: string;
  readonly ending: string;
  readonly name: string | null;
  readonly created_at: Date;
  readonly expires_at: Date | null;
  readonly revoked_at: Date | null;
  readonly replaced_by: string | null;
  readonly last_used_at: Date | null;
}

export function apiKeyFromColumns(row: ApiKeyColumns): ApiKey {
  return {
    id: BigInt(row.id) as ApiKeyId,
    accountId: BigInt(row.account_id) as AccountId,
    hash: row.hash,
    ending: row.ending,
    name: row.name ?? undefined,
    createdAt: instant(row.created_at.getTime()),
    expiresAt: instantOf(row.expires_at),
    revokedAt: instantOf(row.revoked_at),
    replacedBy: row.replaced_by === null ? undefined : (BigInt(row.replaced_by) as ApiKeyId),
    lastUsedAt: instantOf(row.last_used_at),
  };
}

function instantOf(time: Date | null) {
  return time === null ? undefined : instant(time.getTime());
}
