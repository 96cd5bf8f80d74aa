import {
  type DeliveryStatus,
  type EventId,
  type EventType,
  MOST_COUNTED,
  type WebhookId,
} from '@adoption-store/domain';
import { milliseconds as unixMilliseconds } from '../database/columns.js';
import { milliseconds } from '../deliveries/postgres-delivery-queue.js';
import { wake } from './fan-out.js';
import type { SecretRow } from './webhook.schema.js';

const EVENT = `'evt_' || replace(events.id::text, '-', '')`;

/** As for every queue, but of the one webhook whose turn is due longest. Its row holds the claim. */
export const CLAIM = `
  WITH turn AS (
    SELECT id FROM webhooks WHERE status = 'enabled' AND turn_at <= now()
    ORDER BY turn_at LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED
  ), receiver AS (
    UPDATE webhooks SET turns = turns + 1, busy_until = now() + ${milliseconds('$1')}, turn_at = now() + ${milliseconds('$1')}
    FROM turn WHERE webhooks.id = turn.id RETURNING webhooks.*
  )
  SELECT
    receiver.id AS "webhookId", receiver.account_id AS "accountId", url, secret, previous_secret AS "previousSecret",
    previous_until AS "previousUntil", turns, failed_turns AS "failedTurns", failing_since AS "failingSince",
    due.id, failures, ${EVENT} AS "eventId", type, data::text,
    ${unixMilliseconds('coalesce(events.created_at, due.created_at)')} AS "createdAt"
  FROM receiver LEFT JOIN LATERAL (
    SELECT * FROM webhook_deliveries WHERE webhook_id = receiver.id AND status = 'queued' AND due_at <= now()
    ORDER BY due_at LIMIT $2
  ) AS due ON true LEFT JOIN events ON events.position = due.position
  ORDER BY due_at`;

export interface ClaimedRow extends Omit<SecretRow, 'id' | 'previousUntil'> {
  readonly webhookId: WebhookId;
  readonly accountId: string;
  readonly url: string;
  readonly previousUntil: Date | null;
  readonly turns: number;
  readonly failedTurns: number;
  readonly failingSince: Date | null;
  /** Null if no delivery is due any more. */
  readonly id: string | null;
  readonly failures: number;
  readonly eventId: EventId | null;
  readonly type: EventType | null;
  readonly createdAt: string;
  readonly data: string | null;
}

/** The columns of a delivery as it is shown. */
const SHOWN = `
  shown.id, ${EVENT} AS "eventId", type, status, failures, response_status AS "responseStatus",
  shown.created_at AS "createdAt", due_at AS "dueAt"`;

export interface ShownRow {
  readonly id: string;
  readonly eventId: EventId | null;
  readonly type: EventType | null;
  readonly status: DeliveryStatus;
  readonly failures: number;
  readonly responseStatus: number | null;
  readonly createdAt: Date;
  readonly dueAt: Date;
}

const queuedBy = (statement: string) => `
  WITH shown AS (${statement} RETURNING *), woken AS (${wake('SELECT webhook_id FROM shown')})
  SELECT ${SHOWN} FROM shown LEFT JOIN events ON events.position = shown.position`;

export const PING_NOW = queuedBy('INSERT INTO webhook_deliveries (webhook_id, created_at) VALUES ($1, $2)');

export const RETRY = queuedBy(`
  UPDATE webhook_deliveries SET status = 'queued', failures = 0, due_at = now() WHERE webhook_id = $1 AND id = $2`);

// Nobody else changes the webhook meanwhile, and nobody publishes for it unseen.
export const LOCK_TURN = 'SELECT FROM webhooks WHERE id = $1 AND turns = $2 FOR NO KEY UPDATE';

export const END_TURN = `
  UPDATE webhooks SET
    busy_until = now() + ${milliseconds('$2')},
    turn_at = greatest(now() + ${milliseconds('$2')}, coalesce(
      (SELECT due_at FROM webhook_deliveries WHERE webhook_id = $1 AND status = 'queued' ORDER BY due_at LIMIT 1),
      'infinity'
    )),
    failed_turns = $3, failing_since = $4,
    status = CASE WHEN $5 THEN 'disabled' ELSE status END,
    updated_at = CASE WHEN $5 THEN now() ELSE updated_at END
  WHERE id = $1`;

/**
 * Begins anew: the turns look for the first event since then. Nothing that happens from now on belongs to it, as the webhook
 * gets that anyway. The owner's wish ends a pause, but not the turn under way.
 */
export const RECOVER = `
  UPDATE webhooks SET
    recovering_since = $2, recovery_position = NULL, recovery_end = event_feed_end(),
    paused_until = '-infinity', turn_at = greatest(busy_until, now())
  WHERE id = $1`;

export const MARK_SENT = `
  UPDATE webhook_deliveries SET status = 'sent', response_status = sent.status
  FROM unnest($1::bigint[], $2::smallint[]) AS sent (delivery, status) WHERE id = delivery`;

/** A page is a range of the index by webhook. The second condition keeps PostgreSQL from reading all events for it. */
export const LIST = (direction: 'ASC' | 'DESC') => {
  const [beyond, end] = direction === 'ASC' ? ['>', '<='] : ['<', '>='];
  return `
  WITH shown AS (
    SELECT * FROM webhook_deliveries WHERE (webhook_id, id) ${beyond} ($1, $2) AND webhook_id ${end} $1
    ORDER BY webhook_id ${direction}, id ${direction} LIMIT $3
  )
  SELECT ${SHOWN} FROM shown LEFT JOIN events
    ON events.position = shown.position AND events.position = ANY(ARRAY(SELECT position FROM shown))
  ORDER BY shown.id ${direction}`;
};

// A disabled webhook has no turns, and one without queued deliveries has none for now.
export const WAITING = `
  SELECT queued.created_at FROM webhooks, LATERAL (
    SELECT created_at, due_at FROM webhook_deliveries WHERE webhook_id = webhooks.id AND status = 'queued'
    ORDER BY due_at LIMIT ${MOST_COUNTED}
  ) AS queued
  WHERE webhooks.status = 'enabled' AND turn_at < 'infinity'`;
