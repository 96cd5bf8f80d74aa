import type { EventType, Instant, Webhook, WebhookId, WebhookSecrets } from '@adoption-store/domain';
import { EntitySchema } from 'typeorm';
import { instantColumn, int64Column } from '../database/columns.js';
import type { Writable } from '../kernel/writable.js';
import type { SecretCipher } from './secret-cipher.js';

/** Null, not undefined, which TypeORM's updates skip. */
export type WebhookRow = Writable<Omit<Webhook, 'types' | 'description'>> & {
  types: readonly EventType[] | null;
  description: string | null;
  secret: string;
  previousSecret: string | null;
  previousUntil: Instant | null;
  /** The number of turns so far; it identifies the latest one. */
  turns: number;
  /** When the next turn is due: not before `busyUntil`, nor before a delivery is due. Infinity if none is queued. */
  turnAt: Instant;
  /** The end of the turn's lease, or of the pause after it. */
  busyUntil: Instant;
  failedTurns: number;
  failingSince: Instant | undefined;
  /** Its next event is behind this position of the feed. */
  position: bigint;
  /** It gets no event from before. Undefined: it is as old as the feed. */
  followsSince: Instant | undefined;
  /** The end of the pause after its last turn. */
  pausedUntil: Instant;
  /** Milliseconds that its last turn took. Null before the first one. */
  turnTook: number | null;
  /** When a delivery was last attempted. */
  attemptedAt: Instant | undefined;
  /** Since when its owner wants events again, until all of them are queued. */
  recoveringSince: Instant | undefined;
  /** The events behind this position, up to `recoveryEnd`, are still to be recovered. Null until the first is found. */
  recoveryPosition: bigint | null;
  recoveryEnd: bigint | null;
  /** A short hash of the key that has encrypted its secrets. Null: not known yet. */
  secretKey: string | null;
  pastSecrets: readonly unknown[];
};

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
    previousSecret: { name: 'previous_secret', type: 'text', nullable: true },
    previousUntil: { name: 'previous_until', type: 'timestamptz', nullable: true, transformer: instantColumn },
    createdAt: { name: 'created_at', type: 'timestamptz', transformer: instantColumn },
    updatedAt: { name: 'updated_at', type: 'timestamptz', transformer: instantColumn },
    turns: { type: 'integer', default: 0 },
    turnAt: { name: 'turn_at', type: 'timestamptz', default: () => "'infinity'", select: false },
    busyUntil: { name: 'busy_until', type: 'timestamptz', default: () => 'now()', select: false },
    failedTurns: { name: 'failed_turns', type: 'integer', default: 0 },
    failingSince: { name: 'failing_since', type: 'timestamptz', nullable: true, transformer: instantColumn },
    position: { type: 'bigint', default: () => 'event_feed_end()', transformer: int64Column, select: false },
    followsSince: {
      name: 'follows_since',
      type: 'timestamptz',
      nullable: true,
      default: () => 'now()',
      transformer: instantColumn,
      select: false,
    },
    pausedUntil: { name: 'paused_until', type: 'timestamptz', default: () => "'-infinity'", select: false },
    turnTook: { name: 'turn_took', type: 'integer', nullable: true, select: false },
    attemptedAt: { name: 'attempted_at', type: 'timestamptz', nullable: true, transformer: instantColumn },
    recoveringSince: { name: 'recovering_since', type: 'timestamptz', nullable: true, transformer: instantColumn },
    recoveryPosition: { name: 'recovery_position', type: 'bigint', nullable: true, select: false },
    recoveryEnd: { name: 'recovery_end', type: 'bigint', nullable: true, select: false },
    secretKey: { name: 'secret_key', type: 'text', nullable: true },
    pastSecrets: { name: 'past_secrets', type: 'jsonb', default: () => "'[]'" },
  },
});

export function webhookFrom(row: WebhookRow): Webhook {
  const { id, accountId, url, types, description, status, recoveringSince, createdAt, updatedAt } = row;
  const optional = { types: types ?? undefined, description: description ?? undefined };
  return { id, accountId, url, ...optional, status, recoveringSince, createdAt, updatedAt };
}

export type SecretRow = Pick<WebhookRow, 'id' | 'secret' | 'previousSecret' | 'previousUntil'>;

/** @throws Error if the secret was encrypted with a key that this process doesn't have. */
export function secretsFrom({ id, secret, ...row }: SecretRow, cipher: SecretCipher): WebhookSecrets {
  const current = cipher.decrypt(secret, id);
  if (current === undefined) throw new Error('WEBHOOK_SECRET lacks the secret that has encrypted a webhook');
  const previous = row.previousSecret === null ? undefined : cipher.decrypt(row.previousSecret, id);
  if (previous === undefined || row.previousUntil === null) return { current };
  return { current, previous: { secret: previous, until: row.previousUntil } };
}

export function fieldsOf({ types, description, ...webhook }: Webhook) {
  return { ...webhook, types: types ?? null, description: description ?? null };
}

export function encrypted(id: WebhookId, { current, previous }: WebhookSecrets, cipher: SecretCipher) {
  return {
    secret: cipher.encrypt(current, id),
    previousSecret: previous ? cipher.encrypt(previous.secret, id) : null,
    previousUntil: previous?.until ?? null,
  };
}
