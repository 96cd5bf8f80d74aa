import type { ApiKey } from '@adoption-store/domain';
import { EntitySchema } from 'typeorm/entity-schema/EntitySchema.js';
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
