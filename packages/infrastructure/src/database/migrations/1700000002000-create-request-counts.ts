import type { QueryRunner } from 'typeorm';

export class CreateRequestCounts1700000002000 {
  async up(runner: QueryRunner): Promise<void> {
    // The rows are updated constantly. Free space in each page lets PostgreSQL update them without touching the index.
    await runner.query(`
      CREATE TABLE request_counts (
        account_id bigint PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
        day_start timestamptz NOT NULL,
        day_used integer NOT NULL CHECK (day_used >= 0)
      ) WITH (fillfactor = 50)`);
    await runner.query(`
      CREATE TABLE key_bans (
        key_id bigint PRIMARY KEY REFERENCES api_keys (id) ON DELETE CASCADE,
        banned_at timestamptz NOT NULL,
        banned_until timestamptz NOT NULL CHECK (banned_until > banned_at)
      )`);
  }
}
