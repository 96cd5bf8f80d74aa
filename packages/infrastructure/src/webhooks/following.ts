// SQL for where a webhook is in the feed of events. $1 is its id, and its row is locked.

/** What happened while it was disabled isn't sent, unless it is recovered. */
export const FOLLOW_FROM_NOW = `
  UPDATE webhooks SET position = event_feed_end(), follows_since = now() WHERE id = $1`;

/**
 * A webhook that is enabled again follows the feed from its end. Events from before it was disabled that no turn has taken
 * yet would be lost, so they stay wanted, as a recovery. One that its owner has asked for begins where it must, and only ends
 * later.
 */
export const KEEP_UNTAKEN = `
  UPDATE webhooks SET
    recovery_position = CASE WHEN recovering_since IS NULL THEN least(recovery_position, position) ELSE recovery_position END,
    recovery_end = event_feed_end()
  WHERE id = $1 AND position < event_feed_end()`;

/** Leaves a note of its id, by which the worker deletes its deliveries, a portion at a time. */
export const DELETE_WEBHOOK = `
  WITH gone AS (DELETE FROM webhooks WHERE id = $1 RETURNING id)
  INSERT INTO deleted_webhooks (id) SELECT id FROM gone`;
