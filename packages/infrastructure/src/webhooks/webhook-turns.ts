import {
  DELIVERY_SCOPES,
  EVENT_TYPES,
  type AccountId,
  type EventId,
  type EventType,
  instant,
  isForAll,
  type NewAccountMail,
  type Receiver,
  type TurnEnd,
  type TurnRequest,
  type WebhookId,
} from '@adoption-store/domain';
import type { DataSource } from 'typeorm';
import { insertMail } from '../accounts/postgres-account-mail-queue.js';
import { milliseconds } from '../database/columns.js';
import { inTransaction, writeToDatabase } from '../database/transactions.js';
import { EVERYBODY } from '../events/outbox.js';
import type { SecretRow } from './stored-secrets.js';

/** Bytes of the events that a turn sends: a worker has many turns, and little memory. */
const MOST_BYTES = 65_536;
/** Events that a turn takes from the feed at once. */
const MOST_TAKEN = 100;
/** A webhook that has so many deliveries queued takes no more events. */
const MOST_QUEUED = 10_000;
/** A webhook that has so many deliveries queued recovers no more events. */
const MOST_RECOVERED = 1_000;
/** Positions of the feed that are searched at once for events to recover. */
const PORTION = 1_000;
/** Portions that a turn searches, if they have nothing for the webhook. */
const MOST_PORTIONS = 10;

/** SQL for a parameter in milliseconds as an interval. */
const interval = (parameter: string) => `${parameter}::double precision * interval '1 millisecond'`;

const RECEIVER = `
  account_id AS "accountId", url, description, status, ${milliseconds('updated_at')} AS "updatedAt",
  failed_turns AS "failedTurns", ${milliseconds('failing_since')} AS "failingSince",
  ${milliseconds('attempted_at')} AS "attemptedAt"`;

/** The columns of a receiver. A time is in Unix milliseconds. */
export interface ReceiverRow extends Pick<Receiver, 'url' | 'status' | 'failedTurns'> {
  readonly id: WebhookId;
  readonly accountId: string;
  readonly description: string | null;
  readonly updatedAt: string;
  readonly failingSince: string | null;
  readonly attemptedAt: string | null;
}

export interface TurnRow extends ReceiverRow, Omit<SecretRow, 'id' | 'previousUntil'> {
  readonly previousUntil: Date | null;
  readonly number: number;
  readonly types: readonly EventType[] | null;
  readonly isRecovering: boolean;
  /** Whether the feed has events behind its position, for whomever they are. */
  readonly isBehind: boolean;
}

/**
 * The lease is in the webhook's row. Others that choose the same row meanwhile skip it, so a claimer takes the first row
 * that is free.
 */
const CLAIM = `
  WITH open AS (
    SELECT account_id, count(*) AS turns FROM webhooks WHERE busy_until > now() GROUP BY account_id
  ), due AS (
    SELECT webhooks.id, account_id, turn_at, turn_took FROM webhooks JOIN accounts ON accounts.id = account_id
    WHERE status = 'enabled' AND turn_at <= now() AND ($2::integer IS NULL OR turn_took <= $2)
      AND (scopes IS NULL OR scopes @> $3::text[])
    ORDER BY turn_at LIMIT 200
  ), turn AS (
    SELECT webhooks.id FROM due JOIN webhooks USING (id) LEFT JOIN open ON open.account_id = due.account_id
    WHERE webhooks.status = 'enabled' AND webhooks.turn_at <= now()
    ORDER BY coalesce(open.turns, 0), due.turn_took NULLS LAST, due.turn_at
    LIMIT 1 FOR NO KEY UPDATE OF webhooks SKIP LOCKED
  )
  UPDATE webhooks SET turns = turns + 1, busy_until = now() + ${interval('$1')}, turn_at = now() + ${interval('$1')}
  FROM turn WHERE webhooks.id = turn.id
  RETURNING webhooks.id, turns AS number, types, recovery_end IS NOT NULL AS "isRecovering",
    feed_position < event_feed_end() AS "isBehind", ${RECEIVER},
    secret, past_secrets AS "pastSecrets", previous_secret AS "previousSecret", previous_until AS "previousUntil"`;

export interface DueRow {
  readonly number: string;
  readonly failures: number;
  readonly requeued: number;
  /** Null for a ping. */
  readonly eventId: EventId | null;
  readonly type: EventType | null;
  readonly createdAt: string;
  readonly data: string | null;
  /** How many are due, of which the limit are counted. The size of a turn leaves some out. */
  readonly found: number;
}

/** What was purged from the feed isn't sent any more. There is always one row, however large its event is. */
const DUE = `
  WITH due AS (
    SELECT due.id AS number, failures, requeued, 'evt_' || replace(events.id::text, '-', '') AS "eventId", type, data::text,
      ${milliseconds('coalesce(events.created_at, due.created_at)')} AS "createdAt",
      row_number() OVER (ORDER BY due_at, due.id) AS place
    FROM webhook_deliveries AS due LEFT JOIN events ON events.position = due.position
    WHERE webhook_id = $1 AND status = 'queued' AND due_at <= now()
      AND (due.position IS NULL OR events.position IS NOT NULL)
    ORDER BY due_at, due.id LIMIT $2
  ), measured AS (
    SELECT *, count(*) OVER ()::integer AS found, sum(octet_length(data)) OVER (ORDER BY place) AS bytes FROM due
  )
  SELECT number, failures, requeued, "eventId", type, data, "createdAt", found FROM measured
  WHERE place = 1 OR bytes IS NULL OR bytes <= ${MOST_BYTES} ORDER BY place`;

/**
 * Takes the next events behind the webhook's position, the first of each type from one index, as the list of events does.
 * If there are fewer than asked for, it has all until the feed's end. A row that exists was made by the version before.
 */
const FOLLOW = `
  WITH receiver AS (
    SELECT * FROM webhooks WHERE id = $1 AND turns = $2 FOR NO KEY UPDATE
  ), next AS MATERIALIZED (
    SELECT next.position, next.created_at
    FROM receiver, unnest($3::bigint[], $4::text[]) AS wanted (account, kind), LATERAL (
      SELECT account_id, type, position, created_at FROM events
      WHERE (account_id, type, position) > (account, kind, receiver.feed_position)
      ORDER BY account_id, type, position LIMIT $5
    ) AS next
    WHERE (next.account_id, next.type) = (account, kind) ORDER BY next.position LIMIT $5
  ), added AS (
    INSERT INTO webhook_deliveries (webhook_id, position)
    SELECT $1, next.position FROM next, receiver
    WHERE follows_since IS NULL OR next.created_at >= follows_since ORDER BY next.position
    ON CONFLICT DO NOTHING
  )
  UPDATE webhooks SET feed_position = CASE
    WHEN (SELECT count(*) FROM next) = $5 THEN (SELECT max(position) FROM next)
    ELSE (SELECT last_position FROM event_feed)
  END
  FROM receiver WHERE webhooks.id = receiver.id`;

/**
 * Where a recovery begins: halves the feed until a portion is left. An event was published a day at most after it happened,
 * as an import stores its events when it ends. So if an event happened more than a day before the wish, none up to it is
 * wanted.
 */
const BEGIN_RECOVERY = `
  WITH RECURSIVE halves (low, high, since) AS (
    SELECT purged_position, recovery_end, recovering_since - interval '1 day' FROM webhooks, event_feed WHERE id = $1
    UNION ALL
    SELECT CASE WHEN created_at < since THEN middle ELSE low END, CASE WHEN created_at < since THEN high ELSE middle END, since
    FROM halves, LATERAL (SELECT (low + high) / 2 AS middle) AS half, LATERAL (
      SELECT created_at FROM events WHERE position > middle ORDER BY position LIMIT 1
    ) AS found
    WHERE high - low > ${PORTION}
  )
  UPDATE webhooks SET recovery_position = (SELECT low FROM halves ORDER BY high - low LIMIT 1)
  WHERE id = $1 AND turns = $2 AND recovery_position IS NULL`;

/** Recovers a portion: what has failed, or was never taken. What waits because the webhook was disabled has no `since`. */
const RECOVER = `
  WITH receiver AS (
    SELECT * FROM webhooks WHERE id = $1 AND turns = $2 AND recovery_end IS NOT NULL FOR NO KEY UPDATE
  ), portion AS (
    SELECT receiver.*, portion_start, least(portion_start + ${PORTION}, recovery_end) AS portion_end
    FROM receiver, event_feed, LATERAL (SELECT greatest(recovery_position, purged_position) AS portion_start) AS start
  ), wanted AS (
    SELECT events.position FROM portion, events
    WHERE events.position > portion_start AND events.position <= portion_end
      AND events.account_id IN (${EVERYBODY}, portion.account_id) AND (types IS NULL OR type = ANY(types))
      AND (recovering_since IS NULL OR events.created_at >= recovering_since)
  ), again AS (
    UPDATE webhook_deliveries SET status = 'queued', failures = 0, requeued = requeued + 1, due_at = now() FROM wanted
    WHERE webhook_deliveries.position = wanted.position AND webhook_id = $1 AND status = 'failed'
  ), added AS (
    INSERT INTO webhook_deliveries (webhook_id, position) SELECT $1, position FROM wanted ORDER BY position
    ON CONFLICT DO NOTHING
  )
  UPDATE webhooks SET
    recovery_position = CASE WHEN portion_end < webhooks.recovery_end THEN portion_end END,
    recovery_end = CASE WHEN portion_end < webhooks.recovery_end THEN webhooks.recovery_end END,
    recovering_since = CASE WHEN portion_end < webhooks.recovery_end THEN webhooks.recovering_since END
  FROM portion WHERE webhooks.id = portion.id
  RETURNING webhooks.recovery_end IS NOT NULL AS "isRecovering"`;

/** How many deliveries of the webhook are queued, of which some are counted. */
const QUEUED = `
  SELECT count(*)::integer AS count FROM (
    SELECT FROM webhook_deliveries WHERE webhook_id = $1 AND status = 'queued' LIMIT ${MOST_QUEUED}
  ) AS queued`;

/** Locks the webhook, unless it is gone or has a later turn. */
const LOCK_TURN = `SELECT id, ${RECEIVER} FROM webhooks WHERE id = $1 AND turns = $2 FOR NO KEY UPDATE`;

/**
 * The next turn is due at once if the feed may have more for the webhook, otherwise when a delivery is. What a webhook hasn't
 * taken that gets disabled stays wanted.
 */
const END_TURN = `
  WITH next AS (
    SELECT due_at FROM webhook_deliveries, event_feed
    WHERE webhook_id = $1 AND status = 'queued' AND (position IS NULL OR position > purged_position)
    ORDER BY due_at LIMIT 1
  )
  UPDATE webhooks SET
    busy_until = now(),
    paused_until = now() + ${interval('$3')},
    turn_at = greatest(now() + ${interval('$3')}, CASE
      WHEN feed_position < last_position OR recovery_end IS NOT NULL THEN now()
      ELSE coalesce((SELECT due_at FROM next), 'infinity')
    END),
    turn_took = coalesce($4, turn_took), attempted_at = CASE WHEN $4 IS NULL THEN attempted_at ELSE now() END,
    status = $5, updated_at = $6, failed_turns = $7, failing_since = $8,
    recovery_position = CASE WHEN status = 'enabled' AND $5 = 'disabled' AND recovering_since IS NULL
      THEN least(recovery_position, feed_position) ELSE recovery_position END,
    recovery_end = CASE WHEN status = 'enabled' AND $5 = 'disabled' THEN last_position ELSE recovery_end END
  FROM event_feed WHERE id = $1 AND turns = $2`;

/** What a turn's end stores of the webhook. */
export interface StoredEnd extends Pick<TurnEnd, 'pause' | 'status' | 'updatedAt' | 'failedTurns' | 'failingSince'> {
  /** Milliseconds that it took. Undefined if nothing was attempted. */
  readonly took?: number;
}

/** The turns of webhooks. A turn belongs to whoever knows its number, until its lease or a later turn. */
export class WebhookTurns {
  constructor(private readonly dataSource: DataSource) {}

  /** Undefined if none is due. */
  async claim({ lease, longestTurn }: TurnRequest): Promise<TurnRow | undefined> {
    const [[turn]] = await this.run<[TurnRow[]]>(CLAIM, [lease, longestTurn, DELIVERY_SCOPES]);
    return turn;
  }

  /** The deliveries that are due. If there is room for more, the turn takes events from the feed first. */
  async take(turn: TurnRow, limit: number): Promise<{ readonly rows: readonly DueRow[]; readonly isFull: boolean }> {
    const due = async () => this.run<readonly DueRow[]>(DUE, [turn.id, limit]);
    let rows = await due();
    const { found = 0 } = rows[0] ?? {};
    if (found === limit || !(turn.isBehind || turn.isRecovering)) return { rows, isFull: false };
    const [{ count }] = await this.run<[{ count: number }]>(QUEUED, [turn.id]);
    if (turn.isBehind && count < MOST_QUEUED) {
      await this.follow(turn);
      rows = await due();
    }
    if (rows.length === 0 && turn.isRecovering && count < MOST_RECOVERED) {
      await this.recover(turn, async () => {
        rows = await due();
        return rows.length > 0;
      });
    }
    return { rows, isFull: count >= (turn.isRecovering ? MOST_RECOVERED : MOST_QUEUED) };
  }

  private async follow({ id, number, accountId, types }: TurnRow): Promise<void> {
    const kinds = types ?? EVENT_TYPES;
    const receivers = kinds.map((type) => (isForAll(type) ? EVERYBODY : accountId));
    await this.run(FOLLOW, [id, number, receivers, kinds, MOST_TAKEN]);
  }

  /** Recovers portions until something is found, or as many as a turn may search. */
  private async recover({ id, number }: TurnRow, isFound: () => Promise<boolean>): Promise<void> {
    await this.run(BEGIN_RECOVERY, [id, number]);
    for (let portions = 0; portions < MOST_PORTIONS; portions += 1) {
      const [[portion]] = await this.run<[{ isRecovering: boolean }[]]>(RECOVER, [id, number]);
      if ((await isFound()) || portion?.isRecovering !== true) return;
    }
  }

  /** @param decide gets the webhook, locked. Not called if it is gone, or a later turn exists. */
  async end(
    { id, number }: Pick<TurnRow, 'id' | 'number'>,
    decide: (receiver: Receiver) => { readonly end: StoredEnd; readonly notice?: NewAccountMail | undefined },
  ): Promise<void> {
    await inTransaction(this.dataSource, async (manager) => {
      const [row] = await manager.query<ReceiverRow[]>(LOCK_TURN, [id, number]);
      if (row === undefined) return;
      const { end, notice } = decide(receiverFrom(row));
      await manager.query(END_TURN, [
        id,
        number,
        end.pause,
        end.took,
        end.status,
        new Date(end.updatedAt),
        end.failedTurns,
        end.failingSince === undefined ? null : new Date(end.failingSince),
      ]);
      if (notice !== undefined) await insertMail(manager, notice);
    });
  }

  private async run<Rows>(text: string, values: unknown[]): Promise<Rows> {
    return writeToDatabase(this.dataSource, (manager) => manager.query<Rows>(text, values));
  }
}

export function receiverFrom(row: ReceiverRow): Receiver {
  return {
    id: row.id,
    accountId: BigInt(row.accountId) as AccountId,
    url: row.url,
    description: row.description ?? undefined,
    status: row.status,
    updatedAt: instant(Number(row.updatedAt)),
    failedTurns: row.failedTurns,
    failingSince: row.failingSince === null ? undefined : instant(Number(row.failingSince)),
    attemptedAt: row.attemptedAt === null ? undefined : instant(Number(row.attemptedAt)),
  };
}
