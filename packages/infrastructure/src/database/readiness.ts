import { setTimeout as delay } from 'node:timers/promises';
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
   * Whether the database answers now, within half a second. Concurrent callers share one query, because the API's health
   * check is open to everybody.
   */
  readonly isReady: () => Promise<boolean>;
  readonly close: () => Promise<void>;
}

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
  const isStandby = async () => {
    const client = await pool.connect();
    let isToEnd = true;
    try {
      const { rows } = await client.query<{ standby: boolean }>('SELECT pg_is_in_recovery() AS standby');
      isToEnd = rows[0]?.standby ?? true;
    } finally {
      client.release(isToEnd);
    }
    return isToEnd;
  };
  let asking: Promise<void> | undefined;
  const ask = () =>
    (asking ??= isStandby()
      .then((isOne) => {
        if (isOne) poolOf(dataSource).retire();
      })
      .finally(() => {
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
    close: () => pool.end(),
  };
}
