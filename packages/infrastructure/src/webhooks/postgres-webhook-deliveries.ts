import {
  deliveryBody,
  type DeliveryId,
  type DeliveryQuery,
  type DeliveryStatus,
  type DeliveryWithBody,
  type EventId,
  type EventType,
  type Instant,
  instant,
  INT64_MAX,
  MOST_PINGS,
  PING,
  pingData,
  type Transaction,
  type WebhookDeliveries,
  type WebhookDelivery,
  type WebhookId,
} from '@adoption-store/domain';
import type { DataSource, EntityManager } from 'typeorm';
import { milliseconds } from '../database/columns.js';
import { readFromDatabase } from '../database/on-database.js';
import { scanOf } from '../database/prepared.js';
import { inTransaction } from '../database/transactions.js';
import type { Lazy } from '../kernel/lazy.js';
import type { DeliveryIds } from './delivery-ids.js';
import { sequenceFrom } from './due-deliveries.js';
import { wakeReceiver } from './untaken-events.js';

/** The columns of a delivery that its owner can read. */
const SHOWN = `
  shown.id AS number, 'evt_' || replace(events.id::text, '-', '') AS "eventId", type, shown.status, failures,
  response_status AS "responseStatus", history, shown.created_at AS "createdAt", due_at AS "dueAt",
  (SELECT status = 'enabled' FROM webhooks WHERE id = webhook_id) AS "isEnabled"`;

interface ShownRow {
  readonly number: string;
  readonly eventId: EventId | null;
  readonly type: EventType | null;
  readonly status: DeliveryStatus;
  readonly failures: number;
  readonly responseStatus: number | null;
  /** The attempts. Times are Unix milliseconds, durations are milliseconds. */
  readonly history: readonly (readonly [attemptedAt: number, responseStatus: number | null, duration: number])[];
  readonly createdAt: Date;
  readonly dueAt: Date;
  readonly isEnabled: boolean | null;
}

/** A page is a range of the index by webhook. The second condition keeps PostgreSQL from reading all events for it. */
const list = ({ beyond, end, direction }: ReturnType<typeof scanOf>) => `
  WITH shown AS (
    SELECT * FROM webhook_deliveries
    WHERE (webhook_id, id) ${beyond} ($1, $2) AND webhook_id ${end} $1
      AND (position IS NULL OR position > (SELECT purged_position FROM event_feed))
    ORDER BY webhook_id ${direction}, id ${direction} LIMIT $3
  )
  SELECT ${SHOWN} FROM shown LEFT JOIN events
    ON events.position = shown.position AND events.position = ANY(ARRAY(SELECT position FROM shown))
  ORDER BY shown.id ${direction}`;

const FIND = `
  WITH shown AS (
    SELECT * FROM webhook_deliveries
    WHERE webhook_id = $1 AND id = $2 AND (position IS NULL OR position > (SELECT purged_position FROM event_feed))
  )
  SELECT ${SHOWN}, ${milliseconds('coalesce(events.created_at, shown.created_at)')} AS "happenedAt", sequence, data::text
  FROM shown LEFT JOIN events ON events.position = shown.position`;

const PING_NOW = `
  WITH shown AS (
    INSERT INTO webhook_deliveries (webhook_id, created_at)
    SELECT $1, $2 WHERE (
      SELECT count(*) FROM webhook_deliveries WHERE webhook_id = $1 AND position IS NULL AND status = 'queued'
    ) < ${MOST_PINGS}
    RETURNING *
  )
  SELECT ${SHOWN} FROM shown LEFT JOIN events ON false`;

const RETRY = `
  WITH shown AS (
    UPDATE webhook_deliveries SET status = 'queued', failures = 0, requeued = requeued + 1, due_at = now()
    WHERE webhook_id = $1 AND id = $2 AND (position IS NULL OR position > (SELECT purged_position FROM event_feed))
    RETURNING *
  )
  SELECT ${SHOWN} FROM shown LEFT JOIN events ON events.position = shown.position`;

const RECOVER = `
  UPDATE webhooks SET recovering_since = $2, recovery_position = NULL, recovery_end = event_feed_end() WHERE id = $1`;

export class PostgresWebhookDeliveries implements WebhookDeliveries {
  constructor(
    private readonly dataSource: DataSource,
    private readonly ids: Lazy<DeliveryIds>,
  ) {}

  async list({ webhookId, limit, ...place }: DeliveryQuery): Promise<readonly WebhookDelivery[]> {
    const scan = scanOf('DESC', place);
    const { position } = scan;
    const number = position === undefined ? INT64_MAX : ((await this.ids.get()).numberOf(position) ?? 0n);
    const rows = await readFromDatabase(this.dataSource, () =>
      this.dataSource.query<ShownRow[]>(list(scan), [webhookId, number, limit]),
    );
    return this.shown(scan.inOrder(rows));
  }

  async find(webhookId: WebhookId, id: DeliveryId): Promise<DeliveryWithBody | undefined> {
    const ids = await this.ids.get();
    const number = ids.numberOf(id);
    if (number === undefined) return undefined;
    const [row] = await readFromDatabase(this.dataSource, () =>
      this.dataSource.query<(ShownRow & { happenedAt: string; sequence: string | null; data: string | null })[]>(FIND, [
        webhookId,
        number,
      ]),
    );
    if (row === undefined) return undefined;
    const delivery = shownFrom(row, ids);
    const sent = {
      type: delivery.type,
      sequence: sequenceFrom(row.sequence),
      createdAt: instant(Number(row.happenedAt)),
      data: row.data ?? pingData(webhookId),
    };
    return { delivery, body: deliveryBody(sent) };
  }

  async retry(webhookId: WebhookId, id: DeliveryId, transaction?: Transaction): Promise<WebhookDelivery | undefined> {
    const number = (await this.ids.get()).numberOf(id);
    return number === undefined ? undefined : this.queueWith(RETRY, webhookId, number, transaction);
  }

  async ping(
    webhookId: WebhookId,
    createdAt: Instant,
    transaction?: Transaction,
  ): Promise<WebhookDelivery | undefined> {
    return this.queueWith(PING_NOW, webhookId, new Date(createdAt), transaction);
  }

  async recover(webhookId: WebhookId, since: Instant, transaction?: Transaction): Promise<void> {
    const work = async (manager: EntityManager) => {
      await wakeReceiver(manager, webhookId);
      await manager.query(RECOVER, [webhookId, new Date(since)]);
    };
    await inTransaction(this.dataSource, work, { within: transaction });
  }

  /**
   * Makes the webhook's next round due, and queues a delivery with the statement `text`. The webhook is locked first, in
   * the same order as at the end of a round, against deadlocks.
   */
  private async queueWith(
    text: string,
    webhookId: WebhookId,
    value: unknown,
    transaction?: Transaction,
  ): Promise<WebhookDelivery | undefined> {
    const rows = await inTransaction(
      this.dataSource,
      async (manager) => {
        await wakeReceiver(manager, webhookId);
        return manager.query<ShownRow[]>(text, [webhookId, value]);
      },
      { within: transaction },
    );
    return (await this.shown(rows))[0];
  }

  private async shown(rows: readonly ShownRow[]): Promise<readonly WebhookDelivery[]> {
    const ids = await this.ids.get();
    return rows.map((row) => shownFrom(row, ids));
  }
}

function shownFrom(row: ShownRow, ids: DeliveryIds): WebhookDelivery {
  const isNext = row.status === 'queued' && row.isEnabled === true;
  return {
    id: ids.idOf(BigInt(row.number)),
    eventId: row.eventId ?? undefined,
    type: row.type ?? PING,
    status: row.status,
    attempts: row.failures + (row.status === 'sent' ? 1 : 0),
    responseStatus: row.responseStatus ?? undefined,
    history: row.history.map(([attemptedAt, responseStatus, duration]) => ({
      attemptedAt: instant(attemptedAt),
      responseStatus: responseStatus ?? undefined,
      duration,
    })),
    createdAt: instant(row.createdAt.getTime()),
    nextAttemptAt: isNext ? instant(row.dueAt.getTime()) : undefined,
  };
}
