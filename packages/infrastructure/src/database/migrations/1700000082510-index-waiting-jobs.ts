import type { QueryRunner } from 'typeorm';

/** A claim takes the longest due job of an account, and a new message is counted among its account's queued ones. */
export class IndexWaitingJobs1700000082510 {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('SET lock_timeout = 0');
    for (const table of ['messages', 'account_mails']) {
      await runner.query(`DROP INDEX CONCURRENTLY IF EXISTS ${table}_waiting`);
      await runner.query(
        `CREATE INDEX CONCURRENTLY ${table}_waiting ON ${table} (account_id, due_at) WHERE status = 'queued'`,
      );
    }
    await runner.query('DROP INDEX CONCURRENTLY IF EXISTS account_mails_by_account');
    await runner.query('RESET lock_timeout');
  }
}
