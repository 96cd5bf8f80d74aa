import {
  decidePortion,
  type EventPosition,
  MOST_RECOVERED,
  RECOVERY_PORTION,
  type Transaction,
  WAITING_PAUSE,
  type WebhookId,
} from '@adoption-store/domain';
import type { DataSource } from 'typeorm';
import { queryPreparedObjects, type Statement } from '../database/prepared.js';
import { inTransaction } from '../database/transactions.js';
import { EVERYBODY } from '../events/outbox.js';
import { type DueRow, dueOf, type FilledRound } from './due-deliveries.js';
import { dateOf, RECOVERY, recoveryFrom, type RecoveryRow } from './stored-follower.js';

/** Portions that a round searches until one has events for the webhook. */
const MOST_PORTIONS = 3;

/** Milliseconds from a round with a search until the next round. */
const SEARCH_PAUSE = 250;

const DUE = { name: 'webhooks due', text: dueOf('$1', '$2') };

/**
 * Finds the position at which a recovery begins, by a binary search down to one portion of the feed. Events are
 * published at most a day after they happened (an import stores its events at its end). So if an event happened more
 * than a day before `recovering_since`, no event up to its position is wanted.
 */
const BEGIN_RECOVERY = {
  name: 'webhooks begin recovery',
  text: `
  WITH RECURSIVE halves (low, high, since) AS (
    SELECT purged_position, recovery_end, recovering_since - interval '1 day' FROM webhooks, event_feed WHERE id = $1
    UNION ALL
    SELECT CASE WHEN created_at < since THEN middle ELSE low END, CASE WHEN created_at < since THEN high ELSE middle END, since
    FROM halves, LATERAL (SELECT (low + high) / 2 AS middle) AS half, LATERAL (
      SELECT created_at FROM events WHERE position > middle ORDER BY position LIMIT 1
    ) AS found
    WHERE high - low > ${RECOVERY_PORTION}
  )
  UPDATE webhooks SET recovery_position = (SELECT low FROM halves ORDER BY high - low LIMIT 1)
  WHERE id = $1 AND turns = $2 AND recovery_position IS NULL`,
};

/** Locks the webhook. No row if it was deleted, or has a later round. */
const LOCK = {
  name: 'webhooks lock recovery',
  text: `SELECT ${RECOVERY}, event_feed.purged_position AS purged FROM webhooks, event_feed WHERE id = $1 AND turns = $2
    FOR NO KEY UPDATE OF webhooks`,
};

/** Queues the events of one portion of the feed whose delivery has failed, and those that were never taken. */
const RECOVER = {
  name: 'webhooks recover',
  text: `
  WITH receiver AS (
    UPDATE webhooks SET recovering_since = $5, recovery_position = $6, recovery_end = $7 WHERE id = $1 RETURNING account_id, types
  ), wanted AS (
    SELECT events.position FROM receiver, events
    WHERE events.position > $2 AND events.position <= $3
      AND events.account_id IN (${EVERYBODY}, receiver.account_id) AND (types IS NULL OR type = ANY(types))
      AND ($4::timestamptz IS NULL OR events.created_at >= $4)
  ), again AS (
    UPDATE webhook_deliveries SET status = 'queued', failures = 0, requeued = requeued + 1, due_at = now() FROM wanted
    WHERE webhook_deliveries.position = wanted.position AND webhook_id = $1 AND status = 'failed'
  )
  INSERT INTO webhook_deliveries (webhook_id, position) SELECT $1, position FROM wanted ORDER BY position
  ON CONFLICT DO NOTHING`,
};

/** The number of the webhook's queued deliveries, at most `MOST_RECOVERED`. */
const QUEUED = {
  name: 'webhooks queued',
  text: `
  SELECT count(*)::integer AS count FROM (
    SELECT FROM webhook_deliveries WHERE webhook_id = $1 AND status = 'queued' LIMIT ${MOST_RECOVERED}
  ) AS queued`,
};

interface RecoveringRound {
  readonly id: WebhookId;
  readonly round: number;
}

/** Queues old events again, portion by portion. */
export class WebhookRecovery {
  /** One search at a time in this process: it costs a query for each thousand events, and may begin long ago. */
  private isSearching = false;

  constructor(private readonly dataSource: DataSource) {}

  /**
   * Recovers portions of the feed until one has events for the webhook, at most as many as a round may search. `pause`
   * follows if there are none.
   */
  async fill(round: RecoveringRound, limit: number): Promise<FilledRound> {
    const [{ count } = { count: 0 }] = await this.run<{ count: number }>(QUEUED, [round.id]);
    if (count >= MOST_RECOVERED || this.isSearching) return { rows: [], pause: WAITING_PAUSE };
    this.isSearching = true;
    try {
      return { rows: await this.search(round, limit), pause: SEARCH_PAUSE };
    } finally {
      this.isSearching = false;
    }
  }

  private async search({ id, round }: RecoveringRound, limit: number): Promise<readonly DueRow[]> {
    await this.run(BEGIN_RECOVERY, [id, round]);
    for (let portions = 0; portions < MOST_PORTIONS; portions += 1) {
      const isRecovering = await this.recoverPortion({ id, round });
      const rows = await this.run<DueRow>(DUE, [id, limit]);
      if (rows.length > 0 || !isRecovering) return rows;
    }
    return [];
  }

  /** Returns whether more portions are left. */
  private async recoverPortion({ id, round }: RecoveringRound): Promise<boolean> {
    return inTransaction(this.dataSource, async (_, transaction) => {
      const [row] = await this.run<RecoveryRow & { readonly purged: EventPosition }>(LOCK, [id, round], transaction);
      const recovery = row && recoveryFrom(row);
      if (row === undefined || recovery === undefined) return false;
      const { after, until, rest } = decidePortion(recovery, row.purged);
      const since = dateOf(recovery.since);
      await this.run(RECOVER, [id, after, until, since, dateOf(rest?.since), rest?.after, rest?.end], transaction);
      return rest !== undefined;
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
