import type { QueryRunner } from 'typeorm';

/** Whoever restores the database begins a new epoch. Cursors without one, which the version before gives, are of the first. */
export class AddFeedEpoch1700000081500 {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE event_feed ADD COLUMN epoch bigint NOT NULL DEFAULT 0');
  }
}
