import type { Instant } from '@adoption-store/domain';
import type { DataSource } from 'typeorm';
import { onDatabase } from './database-errors.js';

/**
 * Runs a statement that deletes one portion of what is older than an instant until nothing is left; how many rows that
 * were. A portion is small, as a statement that takes too long is ended.
 */
export async function deletePortions(dataSource: DataSource, text: string, until: Instant): Promise<number> {
  let deleted = 0;
  for (;;) {
    const [, count] = await onDatabase(() =>
      dataSource.query<[unknown[], number]>(text, [new Date(until).toISOString()]),
    );
    deleted += count;
    if (count === 0) return deleted;
  }
}
