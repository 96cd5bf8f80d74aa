import type { MigrationInterface, QueryRunner } from 'typeorm';

export class IndexPastCounts1700000069100 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    // Updates of a day's counts don't touch it, because they leave the day as it is.
    await runner.query('CREATE INDEX request_counts_by_day ON request_counts (day_start)');
    await runner.query('CREATE INDEX key_bans_by_time ON key_bans (banned_at)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX key_bans_by_time');
    await runner.query('DROP INDEX request_counts_by_day');
  }
}
