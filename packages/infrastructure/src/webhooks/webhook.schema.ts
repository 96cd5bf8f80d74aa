import type { AccountWebhook, EventType, Instant, Webhook, WebhookWithFailures } from '@adoption-store/domain';
import { EntitySchema } from 'typeorm';
import { accountFrom, type AccountRow } from '../accounts/account.schema.js';
import { instantColumn, int64Column } from '../database/columns.js';
import type { Writable } from '../kernel/writable.js';
import type { Encrypted } from './secret-cipher.js';

/** An encrypted secret that was replaced. */
export interface StoredPastSecret extends Encrypted {
  /** In Unix milliseconds. */
  readonly until: Instant;
}

/** Null, not undefined, which TypeORM's updates skip. */
export type WebhookRow = Writable<Omit<Webhook, 'types' | 'description'>> & {
  types: readonly EventType[] | null;
  description: string | null;
  secret: string;
  /** The number of rounds so far; it identifies the latest one. */
  rounds: number;
  /** When the next round is due: not before `busyUntil`, nor before a delivery is due. Infinity without any delivery. */
  roundAt: Instant;
  /** The end of the round's lease, or of the pause after it. */
  busyUntil: Instant;
  failedRounds: number;
  failingSince: Instant | undefined;
  /** It has taken the events of the feed up to this position. */
  feedPosition: bigint;
  /** It gets no event that happened before. */
  followsSince: Instant;
  /** The end of the pause after its last round. */
  pausedUntil: Instant;
  /** Milliseconds that its last round took. Null before the first one. */
  roundTook: number | null;
  /** When a delivery was last attempted. */
  attemptedAt: Instant | undefined;
  /** The events after this position, up to `recoveryEnd`, must still be recovered. Null until the begin is found. */
  recoveryPosition: bigint | null;
  recoveryEnd: bigint | null;
  /** A short hash of the key that has encrypted `secret`. Empty if not known, as of secrets from before 1.0.0. */
  secretKey: string;
  pastSecrets: readonly StoredPastSecret[];
  account?: AccountRow;
};

/** Only the queue's own SQL reads such a column. A new row gets its default. */
const OF_THE_QUEUE = { select: false, insert: false } as const;

export const webhookSchema = new EntitySchema<WebhookRow>({
  name: 'Webhook',
  tableName: 'webhooks',
  columns: {
    id: { type: 'text', primary: true },
    accountId: { name: 'account_id', type: 'bigint', transformer: int64Column },
    url: { type: 'text' },
    types: { type: 'text', array: true, nullable: true },
    description: { type: 'text', nullable: true },
    status: { type: 'text' },
    secret: { type: 'text' },
    createdAt: { name: 'created_at', type: 'timestamptz', transformer: instantColumn },
    updatedAt: { name: 'updated_at', type: 'timestamptz', transformer: instantColumn },
    rounds: { name: 'turns', type: 'integer', default: 0 },
    roundAt: { name: 'turn_at', type: 'timestamptz', default: () => "'infinity'", ...OF_THE_QUEUE },
    busyUntil: { name: 'busy_until', type: 'timestamptz', default: () => 'now()', ...OF_THE_QUEUE },
    failedRounds: { name: 'failed_turns', type: 'integer', default: 0 },
    failingSince: { name: 'failing_since', type: 'timestamptz', nullable: true, transformer: instantColumn },
    feedPosition: {
      name: 'feed_position',
      type: 'bigint',
      default: () => 'event_feed_end()',
      transformer: int64Column,
      ...OF_THE_QUEUE,
    },
    followsSince: {
      name: 'follows_since',
      type: 'timestamptz',
      default: () => 'now()',
      transformer: instantColumn,
      ...OF_THE_QUEUE,
    },
    pausedUntil: { name: 'paused_until', type: 'timestamptz', default: () => "'-infinity'", ...OF_THE_QUEUE },
    roundTook: { name: 'turn_took', type: 'integer', nullable: true, ...OF_THE_QUEUE },
    attemptedAt: { name: 'attempted_at', type: 'timestamptz', nullable: true, transformer: instantColumn },
    recoveringSince: { name: 'recovering_since', type: 'timestamptz', nullable: true, transformer: instantColumn },
    recoveryPosition: { name: 'recovery_position', type: 'bigint', nullable: true, ...OF_THE_QUEUE },
    recoveryEnd: { name: 'recovery_end', type: 'bigint', nullable: true, ...OF_THE_QUEUE },
    secretKey: { name: 'secret_key', type: 'text' },
    pastSecrets: { name: 'past_secrets', type: 'jsonb', default: () => "'[]'" },
  },
  relations: {
    account: {
      type: 'many-to-one',
      target: 'Account',
      nullable: false,
      joinColumn: { name: 'account_id', foreignKeyConstraintName: 'webhooks_account_id_fkey' },
    },
  },
});

export function webhookFrom(row: Omit<WebhookRow, 'account' | 'failingSince'>): Webhook {
  const { id, accountId, url, types, description, status, recoveringSince, createdAt, updatedAt } = row;
  const optional = { types: types ?? undefined, description: description ?? undefined };
  return { id, accountId, url, ...optional, status, recoveringSince, createdAt, updatedAt };
}

export function withFailures(row: WebhookRow): WebhookWithFailures {
  return { ...webhookFrom(row), failingSince: row.failingSince };
}

export function accountWebhookFrom({ account, failingSince, ...row }: WebhookRow): AccountWebhook[] {
  if (account === undefined) return [];
  return [{ account: accountFrom(account), webhook: webhookFrom(row), failingSince }];
}

/** The columns that its owner sets. The queue sets the others. */
export function fieldsOf({ types, description, recoveringSince, ...webhook }: Webhook) {
  return { ...webhook, types: types ?? null, description: description ?? null };
}
