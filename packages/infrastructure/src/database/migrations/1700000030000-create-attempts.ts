import type { QueryRunner } from 'typeorm';

export class CreateAttempts1700000030000 {
  async up(runner: QueryRunner): Promise<void> {
    // The rows are updated constantly. Free space in each page lets PostgreSQL update them in place.
    await runner.query(`
      CREATE TABLE attempts (
        subject_hash text PRIMARY KEY CHECK (subject_hash ~ '^[0-9a-f]{64}$'),
        times timestamptz[] NOT NULL,
        expires_at timestamptz NOT NULL
      ) WITH (fillfactor = 50)`);
    await runner.query('CREATE INDEX attempts_by_expiry ON attempts (expires_at)');
  }
}
