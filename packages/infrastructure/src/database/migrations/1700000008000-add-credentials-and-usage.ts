import type { QueryRunner } from 'typeorm';

export class AddCredentialsAndUsage1700000008000 {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE accounts
        ADD COLUMN password_hash text,
        ADD COLUMN credential_version integer NOT NULL DEFAULT 0,
        ADD COLUMN closed_at timestamptz`);
    await runner.query(`
      CREATE TABLE password_resets (
        token_hash text PRIMARY KEY CHECK (token_hash ~ '^[0-9a-f]{64}$'),
        account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
        expires_at timestamptz NOT NULL
      )`);
    await runner.query('CREATE INDEX password_resets_by_account ON password_resets (account_id)');
    await runner.query('CREATE INDEX password_resets_by_time ON password_resets (expires_at)');
    // For processes that only show counts. An instance that counts requests has the counts in memory.
    await runner.query(
      'ALTER TABLE request_counts ADD COLUMN minute_start timestamptz, ADD COLUMN minute_used integer',
    );
    // Updated constantly, like request_counts.
    await runner.query(`
      CREATE TABLE usage_by_day (
        account_id bigint NOT NULL,
        day date NOT NULL,
        key_id bigint NOT NULL REFERENCES api_keys (id) ON DELETE CASCADE,
        admitted bigint NOT NULL CHECK (admitted >= 0),
        refused bigint NOT NULL CHECK (refused >= 0),
        PRIMARY KEY (account_id, day, key_id)
      ) WITH (fillfactor = 50)`);
    await runner.query('CREATE INDEX usage_by_day_by_day ON usage_by_day (day)');
  }
}
