import { type Account, type Instant, type Plan, type PlanName, PLANS, type Scopes } from '@adoption-store/domain';
import { EntitySchema } from 'typeorm';
import { instantColumn, int64Column } from '../database/columns.js';
import type { Writable } from '../kernel/writable.js';

export type AccountRow = Writable<Omit<Account, 'plan' | 'scopes'>> & {
  plan: PlanName;
  perMinute: number | null;
  perDay: number | null;
  /** Null means all scopes. Not undefined, which TypeORM's updates skip. */
  scopes: NonNullable<Scopes> | null;
  closedAt: Instant | undefined;
  /** Not selected by default, because it is only compared in SQL. */
  canonicalEmail?: string | null | undefined;
  /** Not selected by default; a query must name it. */
  passwordHash?: string | null;
};

export const accountSchema = new EntitySchema<AccountRow>({
  name: 'Account',
  tableName: 'accounts',
  columns: {
    id: { type: 'bigint', primary: true, generated: 'increment', transformer: int64Column },
    email: { type: 'text' },
    canonicalEmail: { name: 'canonical_email', type: 'text', nullable: true, select: false },
    plan: { type: 'text' },
    perMinute: { name: 'per_minute', type: 'integer', nullable: true },
    perDay: { name: 'per_day', type: 'integer', nullable: true },
    scopes: { type: 'text', array: true, nullable: true },
    createdAt: { name: 'created_at', type: 'timestamptz', transformer: instantColumn },
    credentialVersion: { name: 'credential_version', type: 'integer', default: 0 },
    provenAt: { name: 'proven_at', type: 'timestamptz', nullable: true, transformer: instantColumn },
    closedAt: { name: 'closed_at', type: 'timestamptz', nullable: true, transformer: instantColumn },
    passwordHash: { name: 'password_hash', type: 'text', nullable: true, select: false },
  },
});

/** Restores a stored account without validating it again. */
export function accountFrom(row: AccountRow): Account {
  const { id, email, createdAt, credentialVersion, provenAt } = row;
  // Not a spread, which takes several times as long: this runs constantly for keys in use.
  return { id, email, plan: planFrom(row), scopes: row.scopes ?? undefined, createdAt, credentialVersion, provenAt };
}

function planFrom({ plan: name, perMinute, perDay }: AccountRow): Plan {
  return name === 'enterprise' ? { name, perMinute: Number(perMinute), perDay: Number(perDay) } : PLANS[name];
}

export function planColumns(plan: Plan) {
  return plan.name === 'enterprise'
    ? { plan: plan.name, perMinute: plan.perMinute, perDay: plan.perDay }
    : { plan: plan.name, perMinute: null, perDay: null };
}
