import type { Account, AccountId, Instant, Plan, PlanName } from '@adoption-store/domain';
import { EntitySchema } from 'typeorm';
import { instantColumn, int64Column, optionalColumn } from '../database/columns.js';

export interface AccountRow {
  id: AccountId;
  email: string;
  plan: PlanName;
  perMinute: number | undefined;
  perDay: number | undefined;
  createdAt: Instant;
  credentialVersion: number;
  closedAt: Instant | undefined;
}

export const accountSchema = new EntitySchema<AccountRow>({
  name: 'Account',
  tableName: 'accounts',
  columns: {
    id: { type: 'bigint', primary: true, generated: 'increment', transformer: int64Column },
    email: { type: 'text' },
    plan: { type: 'text' },
    perMinute: { name: 'per_minute', type: 'integer', nullable: true, transformer: optionalColumn },
    perDay: { name: 'per_day', type: 'integer', nullable: true, transformer: optionalColumn },
    createdAt: { name: 'created_at', type: 'timestamptz', transformer: instantColumn },
    credentialVersion: { name: 'credential_version', type: 'integer', default: 0 },
    closedAt: { name: 'closed_at', type: 'timestamptz', nullable: true, transformer: instantColumn },
  },
});

/** Restores an account as it was stored; the rules of opening one aren't asked again. */
export function accountFrom({ plan, perMinute, perDay, closedAt: _closedAt, ...account }: AccountRow): Account {
  return {
    ...account,
    plan: (plan === 'enterprise' ? { name: plan, perMinute, perDay } : { name: plan }) as Plan,
  };
}

export function planColumns(plan: Plan) {
  return plan.name === 'enterprise'
    ? { plan: plan.name, perMinute: plan.perMinute, perDay: plan.perDay }
    : { plan: plan.name, perMinute: undefined, perDay: undefined };
}
