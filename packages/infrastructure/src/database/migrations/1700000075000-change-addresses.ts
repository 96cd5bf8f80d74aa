import type { QueryRunner } from 'typeorm';

export class ChangeAddresses1700000075000 {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE address_changes (
        token_hash text PRIMARY KEY CHECK (token_hash ~ '^[0-9a-f]{64}$'),
        account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
        expires_at timestamptz NOT NULL,
        mail_id text NOT NULL
      )`);
    await runner.query('CREATE INDEX address_changes_by_account ON address_changes (account_id)');
    await runner.query('CREATE INDEX address_changes_by_time ON address_changes (expires_at)');
    // The recipient, if it isn't the account's address.
    await runner.query('ALTER TABLE account_mails ADD COLUMN address text');
    await runner.query('ALTER TABLE account_mails DROP CONSTRAINT account_mails_kind_check');
    await runner.query(`
      ALTER TABLE account_mails ADD CONSTRAINT account_mails_kind_check
      CHECK (kind IN ('reset', 'proof', 'change', 'changed')) NOT VALID`);
  }
}
