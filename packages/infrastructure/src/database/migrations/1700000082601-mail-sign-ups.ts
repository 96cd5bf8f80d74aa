import type { QueryRunner } from 'typeorm';

/** A mail may go to somebody who has no account. The worker, which sends it, knows the pages of its links. */
export class MailSignUps1700000082601 {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query("DELETE FROM account_mails WHERE kind = 'proof'");
    await runner.query('ALTER TABLE account_mails ALTER COLUMN account_id DROP NOT NULL, DROP COLUMN IF EXISTS page');
    await runner.query('ALTER TABLE account_mails DROP CONSTRAINT IF EXISTS account_mails_kind_check');
    await runner.query(`
      ALTER TABLE account_mails ADD CONSTRAINT account_mails_kind_check
      CHECK (kind IN (
        'reset', 'change', 'sign-up', 'password', 'recovered', 'key', 'rotated', 'changed', 'closed', 'more', 'webhook'
      )) NOT VALID`);
    await runner.query('ALTER TABLE account_mails VALIDATE CONSTRAINT account_mails_kind_check');
    await runner.query('ALTER TABLE account_mails DROP CONSTRAINT IF EXISTS account_mails_account_check');
    await runner.query(`
      ALTER TABLE account_mails ADD CONSTRAINT account_mails_account_check
      CHECK ((account_id IS NULL) = (kind = 'sign-up')) NOT VALID`);
    await runner.query('ALTER TABLE account_mails VALIDATE CONSTRAINT account_mails_account_check');
    await runner.query(`
      CREATE OR REPLACE TRIGGER account_mails_in_turn AFTER INSERT OR UPDATE OF due_at, status ON account_mails
      FOR EACH ROW WHEN (NEW.status = 'queued' AND NEW.account_id IS NOT NULL) EXECUTE FUNCTION join_delivery_line()`);
  }
}
