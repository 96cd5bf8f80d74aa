// SQL of the deliveries for the statements of the event feed, and of the queue.

/** Deliveries that one statement queues or deletes, roughly. A statement has a time limit. */
const MOST_AT_ONCE = 20_000;

/** How many events one statement may handle: `limit`, or fewer if there are many webhooks. */
export function boundedByWebhooks(limit: string): string {
  const webhooks = `(SELECT count(*) FROM webhooks WHERE status = 'enabled')`;
  return `least(${limit}, greatest(1, ${MOST_AT_ONCE} / greatest(1, ${webhooks})))`;
}

/** Tells whether a row of webhooks is sent a row of events. */
export function isFor(webhook: string, event: string): string {
  return `(${event}.account_id = 0 OR ${event}.account_id = ${webhook}.account_id)
    AND (${webhook}.types IS NULL OR ${event}.type = ANY(${webhook}.types))`;
}

/**
 * Makes the next turn of these webhooks due, if it isn't. Rows are locked in the order of their ids. The end of a turn locks
 * the row before it looks for deliveries, so either it sees them, or this waits for it.
 *
 * @param ids a query.
 */
export function wake(ids: string): string {
  return `
    UPDATE webhooks SET turn_at = greatest(busy_until, now()) FROM (
      SELECT id FROM webhooks WHERE id = ANY(ARRAY(${ids})) AND turn_at > greatest(busy_until, now())
      ORDER BY id FOR NO KEY UPDATE
    ) AS idle
    WHERE webhooks.id = idle.id`;
}

/** When the oldest delivery was queued that nobody has tried, of each webhook that doesn't fail. */
export const UNTRIED = `
  SELECT untried.created_at FROM webhooks, LATERAL (
    SELECT created_at FROM webhook_deliveries WHERE webhook_id = webhooks.id AND status = 'queued' AND failures = 0
    ORDER BY due_at LIMIT 1
  ) AS untried
  WHERE webhooks.status = 'enabled' AND turn_at < 'infinity' AND failed_turns = 0`;

/** CTEs that queue the rows of the CTE `published` for each webhook. */
export const QUEUE_DELIVERIES = `
  deliveries AS (
    INSERT INTO webhook_deliveries (webhook_id, position)
    SELECT webhooks.id, published.position FROM published
    JOIN webhooks ON status = 'enabled' AND ${isFor('webhooks', 'published')}
    RETURNING webhook_id
  ), woken AS (${wake('SELECT DISTINCT webhook_id FROM deliveries')})`;
