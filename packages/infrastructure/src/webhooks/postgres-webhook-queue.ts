import {
  type DeliveryAttempt,
  type DeliveryId,
  type DeliveryOutcome,
  type DeliveryQuery,
  type DeliveryStatus,
  type DeliveryWithBody,
  deliveryBody,
  DELIVERY_SCOPES,
  type DueDelivery,
  type EndedTurn,
  EVENT_TYPES,
  type EventId,
  type EventSequence,
  type EventType,
  type Instant,
  instant,
  INT64_MAX,
  isForAll,
  KEPT_ATTEMPTS,
  MINUTE,
  MOST_COUNTED,
  MOST_PINGS,
  PING,
  pingData,
  type Receiver,
  type Transaction,
  type Turn,
  type TurnRequest,
  type WebhookBacklog,
  type WebhookDelivery,
  type WebhookId,
  type WebhookQueue,
} from '@adoption-store/domain';
import type { DataSource, EntityManager } from 'typeorm';
import { Batch } from '../database/batch.js';
import { interval, milliseconds } from '../database/columns.js';
import { deletePortions } from '../database/delete-portions.js';
import { readFromDatabase } from '../database/on-database.js';
import { inPortions } from '../database/portions.js';
import { inTransaction, writeToDatabase } from '../database/transactions.js';
import { EVERYBODY } from '../events/outbox.js';
import type { DeliveryIds } from './delivery-ids.js';
import type { DueRow } from './due-deliveries.js';
import type { Lazy } from '../kernel/lazy.js';
import type { SecretCipher } from './secret-cipher.js';
import { secretsFrom } from './stored-secrets.js';
import { receiverFrom, type TurnRow, WebhookTurns } from './webhook-turns.js';

/** The most turns without a delivery that one call takes and ends. Then the webhook waits, so they are rarely many. */
const MOST_EMPTY_TURNS = 1_000;
/** Milliseconds until the next turn of a webhook whose secret can't be decrypted. */
const UNREADABLE_PAUSE = MINUTE;

/**
 * For each webhook whose next turn isn't due, but for which the feed has an event after its position: makes the turn
 * due as soon as the pause after the last one is over. The feed is searched by one index, for one event of each type.
 * Locked rows are skipped until the next time.
 */
const WAKE = `
  WITH resting AS (
    SELECT id FROM webhooks, event_feed
    WHERE status = 'enabled' AND turn_at > greatest(busy_until, paused_until, now()) AND feed_position < last_position
      AND EXISTS (
        SELECT FROM unnest($1::text[], $2::boolean[]) AS known (kind, is_for_all),
          LATERAL (SELECT CASE WHEN is_for_all THEN ${EVERYBODY} ELSE webhooks.account_id END AS account) AS wanted,
          LATERAL (
            SELECT account_id, type FROM events
            WHERE (account_id, type, position) > (account, kind, webhooks.feed_position)
            ORDER BY account_id, type, position LIMIT 1
          ) AS next
        WHERE (types IS NULL OR kind = ANY(types)) AND (next.account_id, next.type) = (account, kind)
      )
    FOR NO KEY UPDATE OF webhooks SKIP LOCKED
  )
  UPDATE webhooks SET turn_at = greatest(busy_until, paused_until, now()) FROM resting WHERE webhooks.id = resting.id`;

/** The types of events, and for each whether all accounts receive it. */
const KNOWN = [EVENT_TYPES, EVENT_TYPES.map(isForAll)];

/**
 * Stores the outcomes of attempts. Locks the deliveries in the order of their ids, so that two batches can't deadlock.
 */
const SETTLE = `
  WITH settled AS (
    SELECT * FROM unnest(
      $1::bigint[], $2::integer[], $3::text[], $4::double precision[], $5::bigint[], $6::smallint[], $7::integer[]
    ) AS settled (number, requeued, status, pause, attempted_at, response_status, duration)
  ), locked AS (
    SELECT id FROM webhook_deliveries WHERE id = ANY($1) ORDER BY id FOR NO KEY UPDATE
  )
  UPDATE webhook_deliveries AS delivery SET
    status = settled.status, response_status = settled.response_status,
    history = CASE WHEN jsonb_array_length(history) < ${KEPT_ATTEMPTS} THEN history ELSE history - 0 END
      || jsonb_build_array(jsonb_build_array(attempted_at, settled.response_status, duration)),
    failures = failures + CASE WHEN settled.status = 'sent' THEN 0 ELSE 1 END,
    due_at = coalesce(now() + ${interval('settled.pause')}, due_at)
  FROM settled JOIN locked ON locked.id = number
  WHERE delivery.id = number AND delivery.requeued = settled.requeued
    AND (delivery.status = 'queued' OR settled.status = 'sent')`;

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
const list = (direction: 'ASC' | 'DESC') => {
  const [beyond, end] = direction === 'ASC' ? ['>', '<='] : ['<', '>='];
  return `
  WITH shown AS (
    SELECT * FROM webhook_deliveries
    WHERE (webhook_id, id) ${beyond} ($1, $2) AND webhook_id ${end} $1
      AND (position IS NULL OR position > (SELECT purged_position FROM event_feed))
    ORDER BY webhook_id ${direction}, id ${direction} LIMIT $3
  )
  SELECT ${SHOWN} FROM shown LEFT JOIN events
    ON events.position = shown.position AND events.position = ANY(ARRAY(SELECT position FROM shown))
  ORDER BY shown.id ${direction}`;
};
const LIST_NEWEST = list('DESC');
const LIST_OLDEST = list('ASC');

const FIND = `
  WITH shown AS (
    SELECT * FROM webhook_deliveries
    WHERE webhook_id = $1 AND id = $2 AND (position IS NULL OR position > (SELECT purged_position FROM event_feed))
  )
  SELECT ${SHOWN}, ${milliseconds('coalesce(events.created_at, shown.created_at)')} AS "happenedAt", sequence, data::text
  FROM shown LEFT JOIN events ON events.position = shown.position`;

/** Makes the next turn due at the owner's request: now, without a pause, or as soon as the current turn has ended. */
const WAKE_ONE = `
  UPDATE webhooks SET paused_until = '-infinity', turn_at = greatest(busy_until, now()) WHERE id = $1`;

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
  UPDATE webhooks SET
    recovering_since = $2, recovery_position = NULL, recovery_end = event_feed_end(),
    paused_until = '-infinity', turn_at = greatest(busy_until, now())
  WHERE id = $1`;

const BACKLOG = `
  WITH served AS (
    SELECT webhooks.* FROM webhooks JOIN accounts ON accounts.id = account_id
    WHERE status = 'enabled' AND (scopes IS NULL OR scopes @> $3::text[])
  ), queued AS (
    SELECT FROM served, LATERAL (
      SELECT FROM webhook_deliveries WHERE webhook_id = served.id AND status = 'queued' LIMIT ${MOST_COUNTED}
    ) AS delivery LIMIT ${MOST_COUNTED}
  ), untaken AS (
    SELECT FROM served, unnest($1::text[], $2::boolean[]) AS known (kind, is_for_all),
      LATERAL (SELECT CASE WHEN is_for_all THEN ${EVERYBODY} ELSE served.account_id END AS account) AS wanted,
      LATERAL (
        SELECT FROM events
        WHERE (account_id, type, position) > (account, kind, served.feed_position) AND (account_id, type) <= (account, kind)
        ORDER BY account_id, type, position LIMIT ${MOST_COUNTED}
      ) AS next
    WHERE types IS NULL OR kind = ANY(types) LIMIT ${MOST_COUNTED}
  )
  SELECT
    least(${MOST_COUNTED}, (SELECT count(*) FROM queued) + (SELECT count(*) FROM untaken))::integer AS waiting,
    (SELECT count(*)::integer FROM (
      SELECT FROM webhooks WHERE status = 'enabled' AND failed_turns > 0 LIMIT ${MOST_COUNTED}
    ) AS counted) AS failing,
    (SELECT min(turn_at) FROM served WHERE failed_turns = 0 AND turn_at <= now() AND busy_until <= now()) AS "dueSince"`;

const PURGE_FORGOTTEN = `
  DELETE FROM webhook_deliveries WHERE ctid = ANY(ARRAY(
    SELECT ctid FROM webhook_deliveries
    WHERE position >= $1 AND position <= (SELECT purged_position FROM event_feed) ORDER BY position LIMIT $2
  )) RETURNING position`;

/** Deletes deliveries of deleted webhooks, and the row in `deleted_webhooks` once none of its deliveries is left. */
const PURGE_DELETED = `
  WITH gone AS MATERIALIZED (
    SELECT id FROM deleted_webhooks ORDER BY id LIMIT 100
  ), portion AS MATERIALIZED (
    SELECT delivery.ctid FROM gone, LATERAL (
      SELECT webhook_deliveries.ctid FROM webhook_deliveries
      WHERE (webhook_id, webhook_deliveries.id) > (gone.id, 0) AND webhook_id <= gone.id
      ORDER BY webhook_id, webhook_deliveries.id LIMIT $1
    ) AS delivery LIMIT $1
  ), deleted AS (
    DELETE FROM webhook_deliveries WHERE ctid = ANY(ARRAY(SELECT ctid FROM portion))
  ), noted AS (
    DELETE FROM deleted_webhooks WHERE id = ANY(ARRAY(SELECT id FROM gone WHERE (SELECT count(*) FROM portion) < $1))
    RETURNING id
  )
  SELECT (SELECT count(*) FROM portion)::integer AS deleted, (SELECT count(*) FROM noted)::integer AS notes`;

interface Settled {
  readonly delivery: DueDelivery;
  readonly outcome: DeliveryOutcome;
  readonly attempt: DeliveryAttempt;
}

export class PostgresWebhookQueue implements WebhookQueue {
  private readonly turns: WebhookTurns;
  /** The outcomes of attempts, from all turns of this process. */
  private readonly settled = new Batch<Settled, void>(
    async (one) => this.storeSettled([one]),
    async (all) => {
      await this.storeSettled(all);
      return [];
    },
  );

  constructor(
    private readonly dataSource: DataSource,
    private readonly cipher: Lazy<SecretCipher>,
    private readonly ids: Lazy<DeliveryIds>,
  ) {
    this.turns = new WebhookTurns(dataSource);
  }

  async wake(): Promise<number> {
    const [, woken] = await this.write<[unknown, number]>(WAKE, [...KNOWN]);
    return woken;
  }

  async takeTurn(request: TurnRequest): Promise<Turn | undefined> {
    for (let empty = 0; empty < MOST_EMPTY_TURNS; empty += 1) {
      const claimed = await this.turns.claim(request);
      if (claimed === undefined) return undefined;
      const { turn: row } = claimed;
      const previousUntil = row.previousUntil === null ? undefined : instant(row.previousUntil.getTime());
      const secrets = secretsFrom({ ...row, previousUntil }, await this.cipher.get());
      if (secrets === undefined) {
        await this.pass(row, UNREADABLE_PAUSE);
        continue;
      }
      const { rows, pause } = await this.turns.fill(row, claimed.rows, request.limit);
      if (rows.length > 0) {
        const ids = await this.ids.get();
        const deliveries = rows.map((due) => deliveryFrom(due, row.id, ids));
        const takenAt = instant(Number(row.takenAt));
        return { number: row.turn, takenAt, receiver: receiverFrom(row), secrets, deliveries };
      }
      await this.pass(row, pause);
    }
    return undefined;
  }

  async settle(delivery: DueDelivery, outcome: DeliveryOutcome, attempt: DeliveryAttempt): Promise<void> {
    await this.settled.add({ delivery, outcome, attempt });
  }

  async endTurn(
    { receiver: { id }, number }: Turn,
    took: number,
    decide: (receiver: Receiver) => EndedTurn,
  ): Promise<void> {
    await this.turns.end({ id, turn: number }, (receiver) => {
      const { end, notice } = decide(receiver);
      return { end: { ...end, took }, notice };
    });
  }

  async ping(
    webhookId: WebhookId,
    createdAt: Instant,
    transaction?: Transaction,
  ): Promise<WebhookDelivery | undefined> {
    return this.showWoken(PING_NOW, webhookId, new Date(createdAt), transaction);
  }

  async list({ webhookId, after, before, limit }: DeliveryQuery): Promise<readonly WebhookDelivery[]> {
    const place = before ?? after;
    const number = place === undefined ? INT64_MAX : ((await this.ids.get()).numberOf(place) ?? 0n);
    const rows = await readFromDatabase(this.dataSource, () =>
      this.dataSource.query<ShownRow[]>(before === undefined ? LIST_NEWEST : LIST_OLDEST, [webhookId, number, limit]),
    );
    const shown = await this.shown(rows);
    return before === undefined ? shown : shown.toReversed();
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
    return number === undefined ? undefined : this.showWoken(RETRY, webhookId, number, transaction);
  }

  async recover(webhookId: WebhookId, since: Instant, transaction?: Transaction): Promise<void> {
    await this.write(RECOVER, [webhookId, new Date(since)], transaction);
  }

  async backlog(): Promise<WebhookBacklog> {
    const [{ dueSince, ...counts }] = await readFromDatabase(this.dataSource, () =>
      this.dataSource.query<[{ waiting: number; failing: number; dueSince: Date | null }]>(BACKLOG, [
        ...KNOWN,
        DELIVERY_SCOPES,
      ]),
    );
    return { ...counts, dueSince: dueSince === null ? undefined : instant(dueSince.getTime()) };
  }

  async purgePings(createdUntil: Instant): Promise<number> {
    const pings = { table: 'webhook_deliveries', time: 'created_at', where: 'position IS NULL' };
    return deletePortions(this.dataSource, pings, createdUntil);
  }

  async purgeForgotten(): Promise<number> {
    // Each portion begins at the position where the previous one ended, because that position may have more rows.
    let start = '0';
    const ofEvents = await inPortions(async (most) => {
      const [rows] = await this.write<[{ position: string }[]]>(PURGE_FORGOTTEN, [start, most]);
      start = rows.reduce((latest, { position }) => (BigInt(position) > BigInt(latest) ? position : latest), start);
      return rows.length;
    });
    return ofEvents + (await this.purgeDeleted());
  }

  private async purgeDeleted(): Promise<number> {
    let sum = 0;
    await inPortions(async (most) => {
      const [{ deleted, notes }] = await this.write<[{ deleted: number; notes: number }]>(PURGE_DELETED, [most]);
      sum += deleted;
      return deleted + notes;
    });
    return sum;
  }

  /** Ends a turn without an attempt. The next one is due after `pause` milliseconds at the earliest. */
  private async pass(row: TurnRow, pause: number): Promise<void> {
    await this.turns.end(row, (receiver) => ({ end: { ...receiver, pause } }));
  }

  /**
   * Makes the webhook's next turn due, and queues a delivery with the statement `text`. The webhook is locked first, in
   * the same order as at the end of a turn, against deadlocks.
   */
  private async showWoken(
    text: string,
    webhookId: WebhookId,
    value: unknown,
    transaction?: Transaction,
  ): Promise<WebhookDelivery | undefined> {
    const rows = await inTransaction(
      this.dataSource,
      async (manager) => {
        await manager.query(WAKE_ONE, [webhookId]);
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

  private async storeSettled(all: readonly Settled[]): Promise<void> {
    const ids = await this.ids.get();
    await this.write(SETTLE, [
      all.map(({ delivery }) => ids.numberOf(delivery.id)),
      all.map(({ delivery }) => delivery.requeued),
      all.map(({ outcome }) => outcome.status),
      all.map(({ outcome }) => (outcome.status === 'queued' ? outcome.pause : undefined)),
      all.map(({ attempt }) => attempt.attemptedAt),
      all.map(({ attempt }) => attempt.responseStatus),
      all.map(({ attempt }) => attempt.duration),
    ]);
  }

  private async write<Rows>(text: string, values: unknown[] = [], transaction?: Transaction): Promise<Rows> {
    const query = (manager: EntityManager) => manager.query<Rows>(text, values);
    return writeToDatabase(this.dataSource, query, transaction);
  }
}

function deliveryFrom(row: DueRow, webhookId: WebhookId, ids: DeliveryIds): DueDelivery {
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

function sequenceFrom(stored: bigint | string | null): EventSequence | undefined {
  return stored === null ? undefined : (Number(stored) as EventSequence);
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
