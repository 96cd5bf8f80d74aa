import type { QueryRunner } from 'typeorm';

/** Owners are told of changes. An account's recent mails are counted, also those that were sent. */
export class TellOwners1700000082610 {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE account_mails DROP CONSTRAINT IF EXISTS account_mails_kind_check,
        ADD CONSTRAINT account_mails_kind_check CHECK (kind IN (
          'reset', 'change', 'sign-up', 'password', 'recovered', 'key', 'rotated', 'changed', 'closed', 'more', 'webhook'
        )) NOT VALID`);
    await runner.query('ALTER TABLE account_mails VALIDATE CONSTRAINT account_mails_kind_check');
    await runner.query('SET lock_timeout = 0');
    await runner.query('DROP INDEX CONCURRENTLY IF EXISTS account_mails_recent');
    await runner.query('CREATE INDEX CONCURRENTLY account_mails_recent ON account_mails (account_id, created_at)');
    await runner.query('RESET lock_timeout');
  }
}
