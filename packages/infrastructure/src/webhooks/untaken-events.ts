import {
  DELIVERY_SCOPES,
  EVENT_TYPES,
  instant,
  isForAll,
  MOST_COUNTED,
  type WebhookBacklog,
  type WebhookId,
} from '@adoption-store/domain';
import type { DataSource, EntityManager } from 'typeorm';
import { readFromDatabase } from '../database/on-database.js';
import { writeToDatabase } from '../database/transactions.js';
import { EVERYBODY } from '../events/outbox.js';

/** The types of events, and for each whether all accounts receive it. */
const KNOWN = [EVENT_TYPES, EVENT_TYPES.map(isForAll)];

/**
 * For each webhook whose next round isn't due, but for which the feed has an event after its position: makes the round
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

/** Makes the webhook's next round due at the owner's request: now, without a pause, or once the current one has ended. */
export async function wakeReceiver(manager: EntityManager, id: WebhookId): Promise<void> {
  const text = `UPDATE webhooks SET paused_until = '-infinity', turn_at = greatest(busy_until, now()) WHERE id = $1`;
  await manager.query(text, [id]);
}

/** Returns the number of webhooks. */
export async function wakeReceivers(dataSource: DataSource): Promise<number> {
  const [, woken] = await writeToDatabase(dataSource, (manager) => manager.query<[unknown, number]>(WAKE, [...KNOWN]));
  return woken;
}

export async function readBacklog(dataSource: DataSource): Promise<WebhookBacklog> {
  const [{ dueSince, ...counts }] = await readFromDatabase(dataSource, () =>
    dataSource.query<[{ waiting: number; failing: number; dueSince: Date | null }]>(BACKLOG, [
      ...KNOWN,
      DELIVERY_SCOPES,
    ]),
  );
  return { ...counts, dueSince: dueSince === null ? undefined : instant(dueSince.getTime()) };
}
