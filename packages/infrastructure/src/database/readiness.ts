import { setTimeout as delay } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import type { DependencyMonitor } from '../kernel/dependency-monitor.js';

const TIMEOUT_MS = 500;
/** A loss is noticed within the sum of both. */
const POLL = { interval: 250, timeout: 700 };

/**
 * Reports to the monitor whether the database answers.
 *
 * @returns whether it answers now, within half a second. Concurrent callers share one query, because the API's health
 * check is open to everybody.
 */
export function readinessOf(dataSource: DataSource, monitor: DependencyMonitor): () => Promise<boolean> {
  let asking: Promise<unknown> | undefined;
  const ask = () =>
    (asking ??= dataSource.query('SELECT 1').finally(() => {
      asking = undefined;
    }));
  monitor.poll('postgresql', ask, POLL);
  return () =>
    Promise.race([
      ask().then(
        () => true,
        () => false,
      ),
      delay(TIMEOUT_MS, false, { ref: false }),
    ]);
}
