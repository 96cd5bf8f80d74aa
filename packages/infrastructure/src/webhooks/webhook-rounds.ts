import {
  decideNextRound,
  decideSwitch,
  DELIVERY_SCOPES,
  EVENT_TYPES,
  type AccountId,
  type EventType,
  instant,
  isForAll,
  MOST_BYTES,
  MOST_QUEUED,
  MOST_TAKEN,
  type NewAccountMail,
  type Receiver,
  SLOW_WAIT,
  type Transaction,
  type RoundEnd,
  type RoundRequest,
  WAITING_PAUSE,
  type WebhookId,
} from '@adoption-store/domain';
import type { DataSource } from 'typeorm';
import { insertMail } from '../accounts/postgres-account-mail-queue.js';
import { interval, milliseconds } from '../database/columns.js';
import { queryPreparedObjects, type Statement } from '../database/prepared.js';
import { inTransaction } from '../database/transactions.js';
import { EVERYBODY } from '../events/outbox.js';
import { DELIVERY, type DueRow, dueOf, type FilledRound } from './due-deliveries.js';
import { dateOf, readFollower, type StoredFollower } from './stored-follower.js';
import type { SecretRow } from './stored-secrets.js';
import { WebhookRecovery } from './webhook-recovery.js';

const RECEIVER = `
  account_id AS "accountId", url, description, status, ${milliseconds('updated_at')} AS "updatedAt",
  failed_turns AS "failedRounds", ${milliseconds('failing_since')} AS "failingSince",
  ${milliseconds('attempted_at')} AS "attemptedAt"`;

/** The columns of a receiver. Times are Unix milliseconds. */
export interface ReceiverRow extends Pick<Receiver, 'url' | 'status' | 'failedRounds'> {
  readonly id: WebhookId;
  readonly accountId: AccountId;
  readonly description: string | null;
  readonly updatedAt: bigint;
  readonly failingSince: bigint | null;
  readonly attemptedAt: bigint | null;
}

export interface RoundRow extends ReceiverRow, Omit<SecretRow, 'id'> {
  readonly round: number;
  /** Unix milliseconds. */
  readonly takenAt: bigint;
  readonly types: readonly EventType[] | null;
  readonly isRecovering: boolean;
  /** Whether the feed has events after its position, even if they are for others. */
  readonly isBehind: boolean;
}

/** SQL for the webhooks that may have a round now. */
const MAY_HAVE_A_ROUND = `
  webhooks JOIN accounts ON accounts.id = account_id
  WHERE status = 'enabled' AND turn_at <= now() AND ($2::integer IS NULL OR turn_took <= $2)
    AND (scopes IS NULL OR scopes @> $3::text[])`;

/** SQL for a webhook's place in the line. */
const PLACE = `turn_at + ${interval(`coalesce(turn_took, 0) * ${SLOW_WAIT}`)}`;

/**
 * Takes a round. Webhooks that recover old events come last. Of an account with an open round only one webhook is looked
 * at, so that whatever it has due hides nobody else's. The lease is stored in the webhook's row. Concurrent claims skip
 * each other's rows, so each takes the first free one. Returns a row for each due delivery, or if there is none, one row
 * without a delivery.
 */
const CLAIM = {
  name: 'webhooks claim',
  text: `
  WITH open AS MATERIALIZED (
    SELECT account_id, count(*) AS open_rounds FROM webhooks WHERE busy_until > now() GROUP BY account_id
  ), due AS (
    (
      SELECT webhooks.id FROM ${MAY_HAVE_A_ROUND} AND account_id <> ALL(ARRAY(SELECT account_id FROM open))
      ORDER BY turn_at LIMIT 200
    )
    UNION ALL
    SELECT own.id FROM open, LATERAL (
      SELECT webhooks.id FROM ${MAY_HAVE_A_ROUND} AND account_id = open.account_id
      ORDER BY recovery_end IS NOT NULL, ${PLACE} LIMIT 1
    ) AS own
  ), round AS (
    SELECT id FROM webhooks LEFT JOIN open USING (account_id)
    WHERE id = ANY(ARRAY(SELECT id FROM due)) AND status = 'enabled' AND turn_at <= now()
    ORDER BY recovery_end IS NOT NULL, coalesce(open_rounds, 0), ${PLACE}
    LIMIT 1 FOR NO KEY UPDATE OF webhooks SKIP LOCKED
  ), receiver AS (
    UPDATE webhooks SET turns = turns + 1, busy_until = now() + ${interval('$1')}, turn_at = now() + ${interval('$1')}
    FROM round WHERE webhooks.id = round.id
    RETURNING webhooks.id, turns AS round, ${milliseconds('now()')} AS "takenAt", types, recovery_end IS NOT NULL AS "isRecovering",
      feed_position < event_feed_end() AS "isBehind", ${RECEIVER}, secret, past_secrets AS "pastSecrets"
  )
  SELECT receiver.*, waiting.number, failures, requeued, "eventId", type, sequence, "createdAt", data, found
  FROM receiver LEFT JOIN LATERAL (${dueOf('receiver.id', '$4')}) AS waiting ON true`,
};

/**
 * Queues deliveries of the next events after the webhook's position. As in the list of events, the first events of each
 * type are read from one index. If there are fewer than `MOST_TAKEN`, the position moves to the end of the feed. A
 * delivery may exist already, because a recovery has queued it. Returns a row for each new delivery for which the round
 * has room, or if there is none, one row without a delivery.
 */
const FOLLOW = {
  name: 'webhooks follow',
  text: `
  WITH receiver AS (
    SELECT * FROM webhooks WHERE id = $1 AND turns = $2 AND (
      SELECT count(*) FROM (
        SELECT FROM webhook_deliveries WHERE webhook_id = $1 AND status = 'queued' LIMIT ${MOST_QUEUED}
      ) AS queued
    ) < ${MOST_QUEUED}
    FOR NO KEY UPDATE
  ), next AS MATERIALIZED (
    SELECT next.position, next.created_at
    FROM receiver, unnest($3::bigint[], $4::text[]) AS wanted (account, kind), LATERAL (
      SELECT account_id, type, position, created_at FROM events
      WHERE (account_id, type, position) > (account, kind, receiver.feed_position)
      ORDER BY account_id, type, position LIMIT ${MOST_TAKEN}
    ) AS next
    WHERE (next.account_id, next.type) = (account, kind) ORDER BY next.position LIMIT ${MOST_TAKEN}
  ), added AS (
    INSERT INTO webhook_deliveries (webhook_id, position)
    SELECT $1, next.position FROM next, receiver
    WHERE next.created_at >= follows_since ORDER BY next.position
    ON CONFLICT DO NOTHING RETURNING id, position, failures, requeued, created_at
  ), moved AS (
    UPDATE webhooks SET feed_position = coalesce(
      (SELECT position FROM next ORDER BY position OFFSET ${MOST_TAKEN - 1}), (SELECT last_position FROM event_feed)
    )
    FROM receiver WHERE webhooks.id = receiver.id
  ), measured AS (
    SELECT *, sum(octet_length(data)) OVER (ORDER BY number) AS bytes, row_number() OVER (ORDER BY number) AS place
    FROM (SELECT ${DELIVERY} FROM added AS delivery JOIN events ON events.position = delivery.position) AS new
  )
  SELECT EXISTS (SELECT FROM receiver) AS "hasRoom", measured.*
  FROM (VALUES (1)) AS one LEFT JOIN measured ON place <= $5 AND (place = 1 OR bytes <= ${MOST_BYTES})
  ORDER BY place`,
};

/** Locks the webhook. No row if it was deleted, or has a later round. */
const LOCK_ROUND = {
  name: 'webhooks lock round',
  text: `SELECT id, ${RECEIVER} FROM webhooks WHERE id = $1 AND turns = $2 FOR NO KEY UPDATE`,
};

const END_ROUND = {
  name: 'webhooks end round',
  text: `
  UPDATE webhooks SET
    busy_until = now(), paused_until = $3, turn_at = $4, turn_took = coalesce($5, turn_took), attempted_at = $6,
    status = $7, updated_at = $8, failed_turns = $9, failing_since = $10, recovery_position = $11, recovery_end = $12
  WHERE id = $1 AND turns = $2`,
};

/** What the end of a round stores in the webhook's row. */
export interface StoredEnd extends Pick<RoundEnd, 'pause' | 'status' | 'updatedAt' | 'failedRounds' | 'failingSince'> {
  /** Milliseconds that the round took. Undefined if nothing was attempted. */
  readonly took?: number;
}

/**
 * The rounds of webhooks. A round is identified by its number, and is valid until its lease ends or a later one exists.
 */
export class WebhookRounds {
  private readonly recovery: WebhookRecovery;

  constructor(private readonly dataSource: DataSource) {
    this.recovery = new WebhookRecovery(dataSource);
  }

  /** Takes a round, with at most `limit` of the deliveries that are due. Undefined if no round is due. */
  async claim({
    lease,
    longestRound,
    limit,
  }: RoundRequest): Promise<{ readonly round: RoundRow; readonly rows: readonly DueRow[] } | undefined> {
    const rows = await this.run<RoundRow & DueRow>(CLAIM, [lease, longestRound, DELIVERY_SCOPES, limit]);
    const [round] = rows;
    return round && { round, rows: rows.filter(isDelivery) };
  }

  /** If the round has room for more deliveries, takes events from the feed. `pause` follows if there are still none. */
  async fill(round: RoundRow, due: readonly DueRow[], limit: number): Promise<FilledRound> {
    const room = limit - (due[0]?.found ?? 0);
    if (room > 0 && round.isBehind) {
      const followed = await this.follow(round, room);
      const rows = [...due, ...followed.filter(isDelivery)];
      if (rows.length > 0 || !round.isRecovering) {
        return { rows, pause: followed[0]?.hasRoom === true ? 0 : WAITING_PAUSE };
      }
    }
    if (due.length > 0 || !round.isRecovering) return { rows: due, pause: 0 };
    return this.recovery.fill(round, limit);
  }

  private async follow({ id, round, accountId, types }: RoundRow, room: number) {
    const kinds = types ?? EVENT_TYPES;
    const receivers = kinds.map((type) => (isForAll(type) ? EVERYBODY : accountId));
    return this.run<DueRow & { readonly hasRoom: boolean }>(FOLLOW, [id, round, receivers, kinds, room]);
  }

  /** @param decide gets the locked webhook. Not called if it was deleted, or a later round exists. */
  async end(
    { id, round }: Pick<RoundRow, 'id' | 'round'>,
    decide: (receiver: Receiver) => { readonly end: StoredEnd; readonly notice?: NewAccountMail | undefined },
  ): Promise<void> {
    await inTransaction(this.dataSource, async (manager, transaction) => {
      const [row] = await this.run<ReceiverRow>(LOCK_ROUND, [id, round], transaction);
      if (row === undefined) return;
      const receiver = receiverFrom(row);
      const { end, notice } = decide(receiver);
      const follower = await readFollower(this.dataSource, id, transaction);
      await this.run(END_ROUND, [id, round, ...valuesOf(receiver, end, follower)], transaction);
      if (notice !== undefined) await insertMail(manager, notice);
    });
  }

  private async run<Row extends object>(
    statement: Statement,
    values: unknown[],
    transaction?: Transaction,
  ): Promise<readonly Row[]> {
    return queryPreparedObjects<Row>(this.dataSource, statement, values, transaction);
  }
}

/** The values of `END_ROUND`. */
function valuesOf({ status, attemptedAt }: Receiver, end: StoredEnd, follower: StoredFollower): unknown[] {
  const { pausedUntil, roundAt } = decideNextRound(follower, end.pause, follower);
  const switched = end.status === status ? follower : decideSwitch(follower, end.status, follower);
  const { recovery } = 'recovery' in switched ? switched : follower;
  return [
    dateOf(pausedUntil),
    dateOf(roundAt),
    end.took,
    dateOf(end.took === undefined ? attemptedAt : follower.now),
    end.status,
    dateOf(end.updatedAt),
    end.failedRounds,
    dateOf(end.failingSince),
    recovery?.after,
    recovery?.end,
  ];
}

export function receiverFrom(row: ReceiverRow): Receiver {
  return {
    id: row.id,
    accountId: row.accountId,
    url: row.url,
    description: row.description ?? undefined,
    status: row.status,
    updatedAt: instant(Number(row.updatedAt)),
    failedRounds: row.failedRounds,
    failingSince: row.failingSince === null ? undefined : instant(Number(row.failingSince)),
    attemptedAt: row.attemptedAt === null ? undefined : instant(Number(row.attemptedAt)),
  };
}

/** Whether the row has a delivery. A statement without any delivery returns one row with nulls. */
function isDelivery({ number }: { readonly number: bigint | null }): boolean {
  return number !== null;
}
