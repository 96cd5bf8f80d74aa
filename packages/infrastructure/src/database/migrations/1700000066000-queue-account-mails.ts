import type { QueryRunner } from 'typeorm';

export class QueueAccountMails1700000066000 {
  async up(runner: QueryRunner): Promise<void> {
    // The table has no tokens: a token is created when its mail is sent.
    await runner.query(`
      CREATE TABLE account_mails (
        id text PRIMARY KEY,
        account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
        kind text NOT NULL CHECK (kind IN ('reset', 'proof')),
        page text NOT NULL,
        status text NOT NULL CHECK (status IN ('queued', 'sent', 'failed', 'dropped')),
        claims integer NOT NULL DEFAULT 0 CHECK (claims >= 0),
        failures integer NOT NULL DEFAULT 0 CHECK (failures >= 0),
        due_at timestamptz NOT NULL,
        created_at timestamptz NOT NULL,
        expires_at timestamptz NOT NULL
      )`);
    await runner.query(`CREATE INDEX account_mails_due ON account_mails (due_at) WHERE status = 'queued'`);
    await runner.query(`CREATE INDEX account_mails_settled ON account_mails (expires_at) WHERE status <> 'queued'`);
    await runner.query(`CREATE INDEX account_mails_by_account ON account_mails (account_id) WHERE status = 'queued'`);
    await runner.query(`
      CREATE FUNCTION notify_account_mail_queued() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        NOTIFY account_mail_queued;
        RETURN NULL;
      END
      $$`);
    await runner.query(`
      CREATE TRIGGER account_mails_queued AFTER INSERT ON account_mails
      FOR EACH STATEMENT EXECUTE FUNCTION notify_account_mail_queued()`);
    // Null in links of the previous version, which mails them itself.
    await runner.query('ALTER TABLE password_resets ADD COLUMN mail_id text');
    await runner.query('ALTER TABLE address_proofs ADD COLUMN mail_id text');
  }
}
