import { setTimeout as delay } from 'node:timers/promises';
import type { DataSource } from 'typeorm';

const TIMEOUT_MS = 500;

/**
 * Asks whether the database answers, and soon. Anyone may ask through the API's health, so that all who ask at the same
 * time cost it one query.
 */
export function readinessOf(dataSource: DataSource): () => Promise<boolean> {
  let asking: Promise<boolean> | undefined;
  const ask = async () => {
    try {
      await dataSource.query('SELECT 1');
      return true;
    } catch {
      return false;
    } finally {
      asking = undefined;
    }
  };
  return () => Promise.race([(asking ??= ask()), delay(TIMEOUT_MS, false, { ref: false })]);
}
