import { MOST_SKEW, SECOND } from '@adoption-store/domain';
import pg from 'pg';
import type { DataSource } from 'typeorm';
import type { DependencyMonitor } from '../kernel/dependency-monitor.js';
import { boundedPool, type DatabaseConnection } from './data-source.js';
import { QUERY_TIMEOUT } from './on-database.js';
import { poolOf } from './pipelining-pool.js';
import { READ_ONLY } from './read-only-servers.js';

/**
 * Milliseconds. A lost database is noticed within the sum of the two. The check waits as long as a request does:
 * otherwise a slow database would take out all processes at once, although each can still work.
 */
const POLL = { interval: 500, timeout: QUERY_TIMEOUT };
/** Milliseconds for which an answer counts. Without a newer one, the process itself was frozen. */
const LONGEST_ANSWERED = 2 * (POLL.interval + POLL.timeout);

export interface Readiness {
  /** Whether the database answered the last check, as a primary. It asks nothing, so that a probe is answered at once. */
  readonly isReady: () => boolean;
  /**
   * Milliseconds by which this process's clock was ahead of the database's at the last answer. The error is at most the
   * time that the answer took. Undefined before the first answer.
   */
  readonly clockSkew: () => number | undefined;
  /**
   * Called before work that must not be done too early, such as deleting expired rows.
   *
   * @throws Error if this process's clock is more than two minutes ahead, or if the database has never answered.
   */
  readonly checkClock: () => Promise<void>;
  readonly close: () => Promise<void>;
}

interface Answer {
  /** Whether the server is a standby, or set to read-only. */
  readonly isReadOnly: boolean;
  /** Unix milliseconds. */
  readonly now: number;
}

const ASK = `
  SELECT current_setting('transaction_read_only') = 'on' AS "isReadOnly",
    (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now`;

/**
 * Whether a commit waits for longer than any statement may take: for a standby or, under the names of several versions,
 * for the disk. A role sees its own sessions.
 */
const COMMITS_HANG = `
  SELECT EXISTS (
    SELECT FROM pg_stat_activity
    WHERE state = 'active' AND wait_event ~* '^(SyncRep|WAL_?(Sync|Write))$'
      AND query_start < clock_timestamp() - ${QUERY_TIMEOUT} * interval '1 millisecond'
  ) AS "doHang"`;

/**
 * Reports to the monitor whether the database answers. It has its own connection, so a pool that is used up doesn't
 * make the process unready. If the address leads to a standby, it retires the data source's connections, because a
 * standby may return old data. It closes the connections that were given up, unless a commit hangs: then they still
 * exist on the server, and the data source would open others for them.
 */
export function watchReadiness(
  connection: DatabaseConnection,
  dataSource: DataSource,
  monitor: DependencyMonitor,
): Readiness {
  const pool = new pg.Pool({ ...boundedPool(connection), max: 1 });
  // A lost connection needs no report here: the next query rejects.
  pool.on('error', () => undefined);
  const data = poolOf(dataSource);
  let skew: number | undefined;
  let answeredAt = -Infinity;
  const check = async () => {
    const client = await pool.connect();
    let isReadOnly = true;
    try {
      const { rows } = await client.query<Answer>(ASK);
      skew = Date.now() - (rows[0]?.now ?? NaN);
      isReadOnly = rows[0]?.isReadOnly ?? true;
      if (data.givenUpCount > 0 && !(await commitsHang(client))) data.closeGivenUp();
    } finally {
      client.release(isReadOnly);
    }
    if (!isReadOnly) {
      answeredAt = performance.now();
      return;
    }
    data.retire();
    // With PostgreSQL's code, because its own answer is the reason.
    throw Object.assign(new Error('it only reads'), { code: READ_ONLY });
  };
  let asking: Promise<void> | undefined;
  const ask = () =>
    (asking ??= check().finally(() => {
      asking = undefined;
    }));
  monitor.poll('postgresql', ask, POLL);
  return {
    isReady: () => monitor.isUp('postgresql') && performance.now() - answeredAt < LONGEST_ANSWERED,
    clockSkew: () => skew,
    async checkClock() {
      if (skew === undefined) await ask();
      if (skew === undefined || skew <= MOST_SKEW) return;
      throw new Error(`the clock of this process is ${Math.round(skew / SECOND)} s ahead of PostgreSQL's`);
    },
    close: () => pool.end(),
  };
}

async function commitsHang(client: pg.PoolClient): Promise<boolean> {
  const { rows } = await client.query<{ readonly doHang: boolean }>(COMMITS_HANG);
  return rows[0]?.doHang ?? true;
}
