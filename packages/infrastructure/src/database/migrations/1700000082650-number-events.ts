import type { QueryRunner } from 'typeorm';

/** Events get a sequence. A cursor tells by the event at its place whether the database was restored, without an epoch. */
export class NumberEvents1700000082650 {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    // A change stores its events while it has the row of what it changes. Its transaction may have begun before another
    // one that had the row first.
    await runner.query('ALTER TABLE event_outbox ALTER COLUMN created_at SET DEFAULT clock_timestamp()');
    await runner.query(`
      ALTER TABLE event_feed DROP COLUMN IF EXISTS epoch,
        ADD COLUMN IF NOT EXISTS last_sequence bigint NOT NULL DEFAULT 0, ADD COLUMN IF NOT EXISTS purged_id uuid`);
    await runner.query('ALTER TABLE events ADD COLUMN IF NOT EXISTS sequence bigint NOT NULL DEFAULT 0');
    await runner.query('UPDATE events SET sequence = position WHERE sequence = 0');
    await runner.query('ALTER TABLE events ALTER COLUMN sequence DROP DEFAULT');
  }
}
