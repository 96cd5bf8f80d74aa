import type { QueryRunner } from 'typeorm';

/** A claim counts the open turns of each account. */
export class IndexOpenTurns1700000081200 {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('SET lock_timeout = 0');
    await runner.query('DROP INDEX CONCURRENTLY IF EXISTS webhooks_by_lease');
    await runner.query('CREATE INDEX CONCURRENTLY webhooks_by_lease ON webhooks (busy_until)');
    await runner.query('RESET lock_timeout');
  }
}
