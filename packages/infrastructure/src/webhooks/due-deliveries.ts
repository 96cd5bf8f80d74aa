import {
  type DueDelivery,
  type EventId,
  type EventSequence,
  type EventType,
  instant,
  MOST_BYTES,
  PING,
  pingData,
  type WebhookId,
} from '@adoption-store/domain';
import { milliseconds } from '../database/columns.js';
import type { DeliveryIds } from './delivery-ids.js';

export interface DueRow {
  readonly number: bigint;
  readonly failures: number;
  readonly requeued: number;
  /** Null for a ping. */
  readonly eventId: EventId | null;
  readonly type: EventType | null;
  readonly sequence: bigint | null;
  readonly createdAt: bigint;
  readonly data: string | null;
  /** How many deliveries are due, at most the limit. The round may have fewer rows, because its bytes are limited. */
  readonly found: number;
}

/** What a round sends, or the milliseconds that follow if that is nothing. */
export interface FilledRound {
  readonly rows: readonly DueRow[];
  readonly pause: number;
}

/** The columns of a `DueRow`. */
export const DELIVERY = `
  delivery.id AS number, failures, requeued, 'evt_' || replace(events.id::text, '-', '') AS "eventId", type, sequence, data::text,
  ${milliseconds('coalesce(events.created_at, delivery.created_at)')} AS "createdAt"`;

/**
 * SQL for a webhook's due deliveries, the longest due first, of at most `MOST_BYTES` together. The first one is always
 * included, however large its event is. Deliveries of purged events are left out.
 */
export const dueOf = (webhook: string, limit: string) => `
  SELECT * FROM (
    SELECT *, count(*) OVER ()::integer AS found, sum(octet_length(data)) OVER (ORDER BY place) AS bytes FROM (
      SELECT ${DELIVERY}, row_number() OVER (ORDER BY due_at, delivery.id) AS place
      FROM webhook_deliveries AS delivery LEFT JOIN events ON events.position = delivery.position
      WHERE webhook_id = ${webhook} AND delivery.status = 'queued' AND due_at <= now()
        AND (delivery.position IS NULL OR events.position IS NOT NULL)
      ORDER BY due_at, delivery.id LIMIT ${limit}
    ) AS due
  ) AS measured WHERE place = 1 OR bytes IS NULL OR bytes <= ${MOST_BYTES} ORDER BY place`;

export function deliveryFrom(row: DueRow, webhookId: WebhookId, ids: DeliveryIds): DueDelivery {
  return {
    id: ids.idOf(row.number),
    failures: row.failures,
    requeued: row.requeued,
    eventId: row.eventId ?? undefined,
    type: row.type ?? PING,
    sequence: sequenceFrom(row.sequence),
    createdAt: instant(Number(row.createdAt)),
    data: row.data ?? pingData(webhookId),
  };
}

export function sequenceFrom(stored: bigint | string | null): EventSequence | undefined {
  return stored === null ? undefined : (Number(stored) as EventSequence);
}
