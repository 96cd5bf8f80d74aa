import {
  type EventFeed,
  type EventId,
  type EventPage,
  type EventPosition,
  type EventQuery,
  type EventType,
  type Instant,
  instant,
  isForAll,
} from '@adoption-store/domain';
import type { DataSource, EntityManager } from 'typeorm';
import { milliseconds } from '../database/columns.js';
import { readFromDatabase } from '../database/on-database.js';
import { readPrepared } from '../database/prepared.js';
import { inTransaction } from '../database/transactions.js';
import { boundedByWebhooks, QUEUE_DELIVERIES, UNTRIED } from '../webhooks/fan-out.js';
import { EVERYBODY } from './outbox.js';

interface FeedRow {
  readonly last: string;
  readonly purged: string;
}

/**
 * Positions are given one transaction after another, because the row is locked, so they become visible in ascending order.
 * They are numbers of this table alone: transaction ids begin again after a restore into a new cluster, and a reader that
 * waited for the oldest running transaction would wait for any transaction of the whole cluster.
 */
const LOCK_FEED = 'SELECT last_position AS last, purged_position AS purged FROM event_feed FOR UPDATE';

// This statement begins with the row locked, so nobody else takes the same events. They are taken by ctid, because
// PostgreSQL might otherwise scan the whole table.
const PUBLISH = `
  WITH taken AS (
    DELETE FROM event_outbox WHERE ctid = ANY(ARRAY(
      SELECT ctid FROM event_outbox ORDER BY place LIMIT ${boundedByWebhooks('$2::bigint')}
    ))
    RETURNING *
  ), published AS (
    INSERT INTO events (position, id, account_id, type, created_at, data)
    SELECT $1 + row_number() OVER (ORDER BY place), id, account_id, type, created_at, data FROM taken
    RETURNING position, account_id, type
  ), ${QUEUE_DELIVERIES}, counted AS (
    SELECT count(*) AS count FROM published
  )
  UPDATE event_feed SET last_position = last_position + count FROM counted
  RETURNING count::integer`;

/**
 * Takes the first positions of each type from one index, then reads only the events of the page. As in the lists of animals,
 * each range has a limit instead of an upper bound. What was purged isn't read: its index entries stay for a while.
 */
const LIST = {
  name: 'events list',
  text: `
  SELECT last_position, purged_position, (SELECT place FROM event_outbox ORDER BY place LIMIT 1) IS NOT NULL,
    position, replace(id::text, '-', ''), type, ${milliseconds('created_at')}, data::text
  FROM event_feed LEFT JOIN events ON position = ANY(ARRAY(
    SELECT next.position FROM unnest($2::bigint[], $3::text[]) AS wanted (receiver, kind), LATERAL (
      SELECT account_id, type, position FROM events
      WHERE (account_id, type, position) >
        (receiver, kind, greatest($4::bigint, (SELECT purged_position FROM event_feed)))
      ORDER BY account_id, type, position LIMIT $1
    ) AS next
    WHERE (account_id, type) = (receiver, kind) ORDER BY next.position LIMIT $1
  ))
  ORDER BY position`,
};

type ListRow = readonly [
  ...feed: readonly [end: EventPosition, purged: EventPosition, hasUnpublished: boolean],
  ...event: readonly [EventPosition | null, id: string, EventType, createdAt: bigint, data: string],
];

const OLDEST = `
  SELECT ${milliseconds('min(created_at)')} AS oldest
  FROM ((SELECT created_at FROM event_outbox ORDER BY place LIMIT 1) UNION ALL ${UNTRIED}) AS waiting`;

/** Events that are deleted in one transaction at most, each with its deliveries. */
const PORTION = 1_000;

// As in the list, what was purged isn't read again.
const PURGE = `
  WITH oldest AS MATERIALIZED (
    SELECT position, bool_and(created_at <= $2) OVER (ORDER BY position) AS is_over
    FROM (SELECT position, created_at FROM events WHERE position > $1 ORDER BY position
      LIMIT ${boundedByWebhooks('$3::bigint')}) AS portion
  ), deleted AS (
    DELETE FROM events WHERE position = ANY(ARRAY(SELECT position FROM oldest WHERE is_over))
    RETURNING position
  ), forgotten AS (
    DELETE FROM webhook_deliveries WHERE position = ANY(ARRAY(SELECT position FROM oldest WHERE is_over))
  ), counted AS (
    SELECT count(*) AS count, max(position) AS last FROM deleted
  )
  UPDATE event_feed SET purged_position = coalesce(last, purged_position) FROM counted
  RETURNING count::integer`;

export class PostgresEventFeed implements EventFeed {
  constructor(private readonly dataSource: DataSource) {}

  async publish(limit: number): Promise<number> {
    return this.change(`${LOCK_FEED} SKIP LOCKED`, PUBLISH, ({ last }) => [last, limit]);
  }

  async list({ accountId, types, after, limit }: EventQuery): Promise<EventPage> {
    const wanted = [...new Set(types)];
    const receivers = wanted.map((type) => (isForAll(type) ? EVERYBODY : accountId));
    const rows = await readPrepared<ListRow>(this.dataSource, LIST, [limit, receivers, wanted, after ?? 0n]);
    const [first] = rows;
    if (first === undefined) throw new Error('the table event_feed has no row');
    const [end, purged, hasUnpublished] = first;
    const events = rows.flatMap(([, , , position, id, type, createdAt, data]) =>
      position === null
        ? []
        : { position, id: `evt_${id}` as EventId, type, createdAt: instant(Number(createdAt)), data },
    );
    return { events, end, purged, hasUnpublished };
  }

  async oldestUndelivered(): Promise<Instant | undefined> {
    const [{ oldest }] = await readFromDatabase(this.dataSource, () =>
      this.dataSource.query<[{ readonly oldest: string | null }]>(OLDEST),
    );
    return oldest === null ? undefined : instant(Number(oldest));
  }

  async purge(until: Instant): Promise<number> {
    let deleted = 0;
    for (;;) {
      const portion = await this.change(LOCK_FEED, PURGE, ({ purged }) => [purged, new Date(until), PORTION]);
      deleted += portion;
      if (portion === 0) return deleted;
    }
  }

  /** Runs a statement that returns a count, with the row of the feed locked. Returns 0 if it isn't locked. */
  private async change(lock: string, text: string, valuesOf: (feed: FeedRow) => unknown[]): Promise<number> {
    return inTransaction(this.dataSource, async (manager: EntityManager) => {
      const [feed] = await manager.query<FeedRow[]>(lock);
      if (feed === undefined) return 0;
      // TypeORM returns the rows of an UPDATE with their number.
      const [[changed]] = await manager.query<[[{ readonly count: number }]]>(text, valuesOf(feed));
      return changed.count;
    });
  }
}
