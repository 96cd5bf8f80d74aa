import type { ApiKey } from '@adoption-store/domain';
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
    scopes: { type: 'text', array: true, nullable: true, transformer: optionalColumn },
    createdAt: { name: 'created_at', type: 'timestamptz', transformer: instantColumn },
    expiresAt: { name: 'expires_at', type: 'timestamptz', nullable: true, transformer: instantColumn },
    revokedAt: { name: 'revoked_at', type: 'timestamptz', nullable: true, transformer: instantColumn },
    disabledAt: { name: 'disabled_at', type: 'timestamptz', nullable: true, transformer: instantColumn },
    replacedBy: { name: 'replaced_by', type: 'bigint', nullable: true, transformer: int64Column },
    lastUsedAt: { name: 'last_used_at', type: 'timestamptz', nullable: true, transformer: instantColumn },
  },
  relations: {
    account: {
      type: 'many-to-one',
      target: 'Account',
      nullable: false,
      joinColumn: { name: 'account_id', foreignKeyConstraintName: 'api_keys_account_id_fkey' },
    },
  },
});

/** SQL for the end of a key, as in its indexes. Infinity for a key that never ends. */
export const KEY_END = `COALESCE(LEAST(revoked_at, expires_at), 'infinity'::timestamptz)`;

/** SQL for the opposite of `hasEnded` at the instant $2. It is a range of the index by account and end. */
export const HAS_NOT_ENDED = `${KEY_END} > $2 AND revoked_at IS NULL`;

/** SQL for `keyState` at the instant $2, in its words. */
export const KEY_STATE = `
  CASE
    WHEN ${HAS_NOT_ENDED} THEN CASE WHEN disabled_at IS NULL THEN 'active' ELSE 'disabled' END
    WHEN revoked_at IS NULL OR revoked_at = expires_at THEN 'expired'
    ELSE 'revoked'
  END`;
