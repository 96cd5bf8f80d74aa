import type { WebhookId } from '@adoption-store/domain';
import type { DataSource } from 'typeorm';
import { queryPreparedObjects, type Statement } from '../database/prepared.js';
import { EVERYBODY } from '../events/outbox.js';
import { type DueRow, dueOf, type FilledTurn } from './due-deliveries.js';

/** With so many queued deliveries, a webhook recovers no more events. */
const MOST_RECOVERED = 1_000;
/** Positions of the feed that one statement searches for events to recover. */
const PORTION = 1_000;
/** Portions that a turn searches until one has events for the webhook. */
const MOST_PORTIONS = 3;

/** Milliseconds from a turn with a search until the next turn. */
const SEARCH_PAUSE = 250;
/** Milliseconds until the next turn of a webhook with too many queued deliveries, or that waits for another's search. */
const WAITING_PAUSE = 4_000;

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
    WHERE high - low > ${PORTION}
  )
  UPDATE webhooks SET recovery_position = (SELECT low FROM halves ORDER BY high - low LIMIT 1)
  WHERE id = $1 AND turns = $2 AND recovery_position IS NULL`,
};

/**
 * Recovers one portion of the feed: queues the events whose delivery has failed, and those that were never taken.
 * Without a `recovering_since`, only the events are left that the webhook hadn't taken when it was disabled.
 */
const RECOVER = {
  name: 'webhooks recover',
  text: `
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
  RETURNING webhooks.recovery_end IS NOT NULL AS "isRecovering"`,
};

/** The number of the webhook's queued deliveries, at most `MOST_RECOVERED`. */
const QUEUED = {
  name: 'webhooks queued',
  text: `
  SELECT count(*)::integer AS count FROM (
    SELECT FROM webhook_deliveries WHERE webhook_id = $1 AND status = 'queued' LIMIT ${MOST_RECOVERED}
  ) AS queued`,
};

interface RecoveringTurn {
  readonly id: WebhookId;
  readonly turn: number;
}

/** Queues old events again, portion by portion. */
export class WebhookRecovery {
  /** One search at a time in this process: it costs a query for each thousand events, and may begin long ago. */
  private isSearching = false;

  constructor(private readonly dataSource: DataSource) {}

  /**
   * Recovers portions of the feed until one has events for the webhook, at most as many as a turn may search. `pause`
   * follows if there are none.
   */
  async fill(turn: RecoveringTurn, limit: number): Promise<FilledTurn> {
    const [{ count } = { count: 0 }] = await this.run<{ count: number }>(QUEUED, [turn.id]);
    if (count >= MOST_RECOVERED || this.isSearching) return { rows: [], pause: WAITING_PAUSE };
    this.isSearching = true;
    try {
      return { rows: await this.search(turn, limit), pause: SEARCH_PAUSE };
    } finally {
      this.isSearching = false;
    }
  }

  private async search({ id, turn }: RecoveringTurn, limit: number): Promise<readonly DueRow[]> {
    await this.run(BEGIN_RECOVERY, [id, turn]);
    for (let portions = 0; portions < MOST_PORTIONS; portions += 1) {
      const [portion] = await this.run<{ isRecovering: boolean }>(RECOVER, [id, turn]);
      const rows = await this.run<DueRow>(DUE, [id, limit]);
      if (rows.length > 0 || portion?.isRecovering !== true) return rows;
    }
    return [];
  }

  private async run<Row extends object>(statement: Statement, values: unknown[]): Promise<readonly Row[]> {
    return queryPreparedObjects<Row>(this.dataSource, statement, values);
  }
}
