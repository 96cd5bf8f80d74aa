import type { Instant, Session } from '@adoption-store/domain';
import { EntitySchema } from 'typeorm';
import { instantColumn, int64Column } from '../database/columns.js';
import type { Writable } from '../kernel/writable.js';

export type SessionRow = Writable<Session> & {
  expiresAt: Instant;
};

export const sessionSchema = new EntitySchema<SessionRow>({
  name: 'Session',
  tableName: 'sessions',
  columns: {
    id: { name: 'sid', type: 'text', primary: true },
    tokenHash: { name: 'token_hash', type: 'text' },
    accountId: { name: 'account_id', type: 'bigint', transformer: int64Column },
    credentialVersion: { name: 'credential_version', type: 'integer' },
    begunAt: { name: 'begun_at', type: 'timestamptz', transformer: instantColumn },
    usedAt: { name: 'used_at', type: 'timestamptz', transformer: instantColumn },
    expiresAt: { name: 'expire', type: 'timestamptz', transformer: instantColumn },
  },
});
