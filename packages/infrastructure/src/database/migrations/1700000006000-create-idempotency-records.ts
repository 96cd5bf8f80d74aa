import type { QueryRunner } from 'typeorm';

export class CreateIdempotencyRecords1700000006000 {
  async up(runner: QueryRunner): Promise<void> {
    // Only the transaction that creates a record sees it without an answer.
    await runner.query(`
      CREATE TABLE idempotency_records (
        account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
        key text NOT NULL CHECK (char_length(key) BETWEEN 1 AND 255),
        fingerprint text NOT NULL,
        answer text,
        answered_at timestamptz NOT NULL,
        PRIMARY KEY (account_id, key)
      )`);
    await runner.query('CREATE INDEX idempotency_records_by_time ON idempotency_records (answered_at)');
  }
}
