import {
  decideSequence,
  DomainError,
  type EventFeed,
  type EventId,
  type EventPage,
  type EventPlace,
  type EventPosition,
  type EventQuery,
  type EventSequence,
  type EventType,
  type Instant,
  instant,
  isForAll,
} from '@adoption-store/domain';
import { setTimeout as delay } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { Batch } from '../database/batch.js';
import { milliseconds } from '../database/columns.js';
import { readFromDatabase } from '../database/on-database.js';
import { inPortions } from '../database/delete-portions.js';
import { readPrepared } from '../database/prepared.js';
import { inTransaction, writeToDatabase } from '../database/transactions.js';
import { EVERYBODY } from './outbox.js';

/**
 * Positions are given one transaction after another, because the row is locked, so they become visible in ascending order.
 * They are numbers of this table alone: transaction ids begin again after a restore into a new cluster, and a reader that
 * waited for the oldest running transaction would wait for any transaction of the whole cluster.
 */
const LOCK_FEED = `
  SELECT last_position AS position, last_sequence AS sequence, ${milliseconds('clock_timestamp()')} AS now
  FROM event_feed FOR UPDATE`;

// This statement begins with the row locked, so nobody else takes the same events. They are taken by ctid, because
// PostgreSQL might otherwise scan the whole table.
const PUBLISH = `
  WITH taken AS (
    DELETE FROM event_outbox WHERE ctid = ANY(ARRAY(SELECT ctid FROM event_outbox ORDER BY place LIMIT $3))
    RETURNING *
  ), published AS (
    INSERT INTO events (position, sequence, id, account_id, type, created_at, data)
    SELECT $1 + number, $2 + number - 1, id, account_id, type, created_at, data
    FROM (SELECT *, row_number() OVER (ORDER BY place) AS number FROM taken) AS numbered
    RETURNING position
  ), counted AS (
    SELECT count(*) AS count FROM published
  )
  UPDATE event_feed SET last_position = last_position + count, last_sequence = $2 + count - 1 FROM counted
  RETURNING count::integer`;

/** Milliseconds after which a caller looks again whether the feed's row is free. */
const LOOK_AGAIN = 10;

/** SQL for the id of the event at a position. Null if the feed doesn't know it, or at 0. */
const idAt = (position: string) => `
    CASE WHEN ${position} > purged_position THEN (SELECT at.id FROM events AS at WHERE at.position = ${position})
      WHEN ${position} = purged_position THEN purged_id END`;

/**
 * Takes the first positions of each type from one index, then reads only the events of the page. As in the lists of animals,
 * each range has a limit instead of an upper bound. What was purged isn't read: its index entries stay for a while.
 */
const LIST = {
  name: 'events list',
  text: `
  SELECT ${idAt('$4::bigint')}, last_position, ${idAt('last_position')}, purged_position,
    (SELECT place FROM event_outbox ORDER BY place LIMIT 1) IS NOT NULL,
    position, id, type, sequence, ${milliseconds('created_at')}, data::text
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

const END = { name: 'events end', text: `SELECT last_position, ${idAt('last_position')} FROM event_feed` };

type EndRow = readonly [EventPosition, id: string | null];
type ListRow = readonly [
  ...feed: readonly [start: string | null, ...EndRow, purged: EventPosition, hasUnpublished: boolean],
  ...event: readonly [EventPosition | null, id: string, EventType, sequence: bigint, createdAt: bigint, data: string],
];

const OLDEST = `
  SELECT ${milliseconds('min(created_at)')} AS oldest FROM (SELECT created_at FROM event_outbox ORDER BY place LIMIT 1) AS first`;

/** The last event of the portion behind a position whose time, as readers see it, is by then, as of all before it in the portion. */
const OVER = `
  SELECT max(position) AS last FROM (
    SELECT position, bool_and(date_trunc('milliseconds', created_at) <= $2) OVER (ORDER BY position) AS is_over
    FROM (SELECT position, created_at FROM events WHERE position > $1 ORDER BY position LIMIT $3) AS portion
  ) AS oldest
  WHERE is_over`;

// Readers learn first that the events are gone. What a killed process has left is deleted by the next one.
const MOVE_START = `
  UPDATE event_feed SET purged_position = $1, purged_id = (SELECT id FROM events WHERE position = $1)
  WHERE purged_position < $1`;
const DELETE_EVENTS = 'DELETE FROM events WHERE position > $1 AND position <= $2';

/** The last event's position and sequence, and Unix milliseconds. */
interface FeedRow {
  readonly position: string;
  readonly sequence: string;
  readonly now: string;
}

interface Publication {
  readonly limit: number;
  /** Milliseconds. */
  readonly longestWait: number;
}

const NO_FEED = 'the table event_feed has no row';

export class PostgresEventFeed implements EventFeed {
  /** Callers that arrive while one of this process publishes share the next publication, which begins later. */
  private readonly publications = new Batch(
    (wanted: Publication) => this.publishInTime(wanted),
    async (all) => {
      const limit = Math.max(...all.map((wanted) => wanted.limit));
      const longestWait = Math.max(...all.map((wanted) => wanted.longestWait));
      const published = await this.publishInTime({ limit, longestWait });
      return all.map(() => published);
    },
  );

  constructor(private readonly dataSource: DataSource) {}

  async publish(limit: number, longestWait?: number): Promise<number> {
    if (longestWait === undefined) return (await this.publishOnce(LOCK_FEED, limit)) ?? 0;
    return this.publications.add({ limit, longestWait }).catch((error: unknown) => {
      // While commits hang, a reader still reads what is published.
      if (error instanceof DomainError && error.kind === 'unavailable') return 0;
      throw error;
    });
  }

  async list({ accountId, types, after, limit }: EventQuery): Promise<EventPage> {
    const wanted = [...new Set(types)];
    const receivers = wanted.map((type) => (isForAll(type) ? EVERYBODY : accountId));
    const rows = await readPrepared<ListRow>(this.dataSource, LIST, [limit, receivers, wanted, after ?? 0n]);
    const [first] = rows;
    if (first === undefined) throw new Error(NO_FEED);
    const [start, end, endId, purged, hasUnpublished] = first;
    const events = rows.flatMap(([, , , , , position, id, type, sequence, createdAt, data]) =>
      position === null
        ? []
        : {
            position,
            id: eventId(id),
            type,
            sequence: Number(sequence) as EventSequence,
            createdAt: instant(Number(createdAt)),
            data,
          },
    );
    return { events, start: knownId(start), end: { position: end, id: knownId(endId) }, purged, hasUnpublished };
  }

  async end(): Promise<EventPlace> {
    const [row] = await readPrepared<EndRow>(this.dataSource, END, []);
    if (row === undefined) throw new Error(NO_FEED);
    const [position, id] = row;
    return { position, id: knownId(id) };
  }

  async oldestUnpublished(): Promise<Instant | undefined> {
    const [{ oldest }] = await readFromDatabase(this.dataSource, () =>
      this.dataSource.query<[{ readonly oldest: string | null }]>(OLDEST),
    );
    return oldest === null ? undefined : instant(Number(oldest));
  }

  async purge(until: Instant): Promise<number> {
    let start = '0';
    return inPortions(async (most) => {
      const [{ last }] = await this.write<[{ last: string | null }]>(OVER, [start, new Date(until), most]);
      if (last === null) return 0;
      await this.write(MOVE_START, [last]);
      const [, deleted] = await this.write<[unknown, number]>(DELETE_EVENTS, [start, last]);
      start = last;
      return deleted;
    });
  }

  private async publishInTime({ limit, longestWait }: Publication): Promise<number> {
    const until = performance.now() + longestWait;
    for (;;) {
      const published = await this.publishOnce(`${LOCK_FEED} SKIP LOCKED`, limit);
      if (published !== undefined) return published;
      if (performance.now() >= until) return 0;
      await delay(LOOK_AGAIN);
    }
  }

  /** Undefined if the feed isn't locked, because others publish. */
  private async publishOnce(lock: string, limit: number): Promise<number | undefined> {
    return inTransaction(this.dataSource, async (manager) => {
      const [feed] = await manager.query<FeedRow[]>(lock);
      if (feed === undefined) return undefined;
      const first = decideSequence(Number(feed.sequence) as EventSequence, instant(Number(feed.now)));
      // TypeORM returns the rows of an UPDATE with their number.
      const [[published]] = await manager.query<[[{ readonly count: number }]]>(PUBLISH, [feed.position, first, limit]);
      return published.count;
    });
  }

  private async write<Rows>(text: string, values: unknown[]): Promise<Rows> {
    return writeToDatabase(this.dataSource, (manager) => manager.query<Rows>(text, values));
  }
}

/** Of a uuid. */
function eventId(stored: string): EventId {
  return `evt_${stored.replaceAll('-', '')}` as EventId;
}

function knownId(stored: string | null): EventId | undefined {
  return stored === null ? undefined : eventId(stored);
}
