import type { QueryRunner } from 'typeorm';

/** Owners are told of changes. An account's recent mails are counted, also those that were sent. */
export class TellOwners1700000082610 {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('SET lock_timeout = 0');
    await runner.query('DROP INDEX CONCURRENTLY IF EXISTS account_mails_recent');
    await runner.query('CREATE INDEX CONCURRENTLY account_mails_recent ON account_mails (account_id, created_at)');
    await runner.query('RESET lock_timeout');
  }
}
