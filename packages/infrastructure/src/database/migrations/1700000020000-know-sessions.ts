import type { QueryRunner } from 'typeorm';

export class KnowSessions1700000020000 {
  async up(runner: QueryRunner): Promise<void> {
    // The previous version may still insert its own sessions, with sid, sess and expire only. They sign nobody in here,
    // and are deleted when they expire.
    await runner.query(`
      ALTER TABLE sessions
        ADD COLUMN token_hash text UNIQUE CHECK (token_hash ~ '^[0-9a-f]{64}$'),
        ADD COLUMN account_id bigint REFERENCES accounts (id) ON DELETE CASCADE,
        ADD COLUMN credential_version integer,
        ADD COLUMN begun_at timestamptz,
        ADD COLUMN used_at timestamptz,
        ALTER COLUMN sess SET DEFAULT '{}'`);
    await runner.query('CREATE INDEX sessions_by_account ON sessions (account_id)');
  }
}
