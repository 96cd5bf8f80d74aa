import type { QueryRunner } from 'typeorm';

/** An operator who restores the database begins a new epoch. Cursors from before this column are of the first epoch. */
export class AddFeedEpoch1700000081500 {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE event_feed ADD COLUMN epoch bigint NOT NULL DEFAULT 0');
  }
}
