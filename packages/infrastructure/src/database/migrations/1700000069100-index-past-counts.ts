import type { QueryRunner } from 'typeorm';

export class IndexPastCounts1700000069100 {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    // The build waits for older transactions, but blocks nobody meanwhile.
    await runner.query('SET lock_timeout = 0');
    await runner.query('DROP INDEX CONCURRENTLY IF EXISTS request_counts_by_day');
    // Updates of a day's counts don't change this index, because the day stays the same.
    await runner.query('CREATE INDEX CONCURRENTLY request_counts_by_day ON request_counts (day_start)');
    await runner.query('DROP INDEX CONCURRENTLY IF EXISTS key_bans_by_time');
    await runner.query('CREATE INDEX CONCURRENTLY key_bans_by_time ON key_bans (banned_at)');
    await runner.query('RESET lock_timeout');
  }
}
