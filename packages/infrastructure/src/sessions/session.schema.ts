import type { Instant, Session } from '@adoption-store/domain';
import { EntitySchema } from 'typeorm';
import { instantColumn, int64Column } from '../database/columns.js';
import type { Writable } from '../kernel/writable.js';

export type SessionRow = Writable<Session> & {
  expiresAt: Instant;
  /** Only used by an earlier version. */
  data?: object;
};

/** The nullable columns are null in sessions of an earlier version, which sign nobody in. */
export const sessionSchema = new EntitySchema<SessionRow>({
  name: 'Session',
  tableName: 'sessions',
  columns: {
    id: { name: 'sid', type: 'text', primary: true },
    tokenHash: { name: 'token_hash', type: 'text', nullable: true },
    accountId: { name: 'account_id', type: 'bigint', nullable: true, transformer: int64Column },
    credentialVersion: { name: 'credential_version', type: 'integer', nullable: true },
    begunAt: { name: 'begun_at', type: 'timestamptz', nullable: true, transformer: instantColumn },
    usedAt: { name: 'used_at', type: 'timestamptz', nullable: true, transformer: instantColumn },
    expiresAt: { name: 'expire', type: 'timestamptz', transformer: instantColumn },
    data: { name: 'sess', type: 'jsonb', default: {}, select: false },
  },
});
