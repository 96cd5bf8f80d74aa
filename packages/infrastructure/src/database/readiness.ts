import { setTimeout as delay } from 'node:timers/promises';
import { MOST_SKEW, SECOND } from '@adoption-store/domain';
import pg from 'pg';
import type { DataSource } from 'typeorm';
import type { DependencyMonitor } from '../kernel/dependency-monitor.js';
import { boundedPool, type DatabaseConnection } from './data-source.js';
import { poolOf } from './pipelining-pool.js';

const TIMEOUT_MS = 500;
/** A loss is noticed within the sum of both. */
const POLL = { interval: 250, timeout: 700 };

export interface Readiness {
  /**
   * Whether the database answers now, as a primary, within half a second. Concurrent callers share one query, because the API's health
   * check is open to everybody.
   */
  readonly isReady: () => Promise<boolean>;
  /**
   * Milliseconds by which this process's clock is ahead of the database's, when it last answered. Its error is at most the
   * time that the answer took.
   */
  readonly clockSkew: () => number | undefined;
  /**
   * For work that must not be done too early.
   *
   * @throws Error if this process's clock is more than two minutes ahead, or if the database has never answered.
   */
  readonly checkClock: () => Promise<void>;
  readonly close: () => Promise<void>;
}

interface Answer {
  /** Whether it is a standby, or set to read-only. */
  readonly isReadOnly: boolean;
  /** Unix milliseconds. */
  readonly now: number;
}

const ASK = `
  SELECT current_setting('transaction_read_only') = 'on' AS "isReadOnly",
    (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now`;

/**
 * Reports to the monitor whether the database answers. It has its own connection, so requests that use up the pool don't
 * make the process unready. If the address leads to a standby, it retires the data source's connections: reads there may
 * be old.
 */
export function watchReadiness(
  connection: DatabaseConnection,
  dataSource: DataSource,
  monitor: DependencyMonitor,
): Readiness {
  const pool = new pg.Pool({ ...boundedPool(connection), max: 1 });
  // The next query rejects.
  pool.on('error', () => undefined);
  let skew: number | undefined;
  const isReadOnly = async () => {
    const client = await pool.connect();
    let isToEnd = true;
    try {
      const { rows } = await client.query<Answer>(ASK);
      skew = Date.now() - (rows[0]?.now ?? NaN);
      isToEnd = rows[0]?.isReadOnly ?? true;
    } finally {
      client.release(isToEnd);
    }
    return isToEnd;
  };
  const check = async () => {
    if (!(await isReadOnly())) return;
    poolOf(dataSource).retire();
    throw new Error('it only reads');
  };
  let asking: Promise<void> | undefined;
  const ask = () =>
    (asking ??= check().finally(() => {
      asking = undefined;
    }));
  monitor.poll('postgresql', ask, POLL);
  return {
    isReady: () =>
      Promise.race([
        ask().then(
          () => true,
          () => false,
        ),
        delay(TIMEOUT_MS, false, { ref: false }),
      ]),
    clockSkew: () => skew,
    async checkClock() {
      if (skew === undefined) await ask();
      if (skew === undefined || skew <= MOST_SKEW) return;
      throw new Error(`the clock of this process is ${Math.round(skew / SECOND)} s ahead of PostgreSQL's`);
    },
    close: () => pool.end(),
  };
}
