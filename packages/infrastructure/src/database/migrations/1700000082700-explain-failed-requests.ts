import type { QueryRunner } from 'typeorm';

export class ExplainFailedRequests1700000082700 {
  async up(runner: QueryRunner): Promise<void> {
    // An empty reason stands for none, so that equal failed requests are found. No key is needed to others: closing an
    // account deletes them, and the rest is deleted after a week.
    await runner.query(`
      CREATE TABLE failed_requests (
        account_id bigint NOT NULL,
        key_id bigint NOT NULL,
        operation text NOT NULL,
        code text NOT NULL,
        reason text NOT NULL,
        status smallint NOT NULL,
        at timestamptz NOT NULL,
        count bigint NOT NULL CHECK (count > 0),
        request_ids text[] NOT NULL,
        PRIMARY KEY (account_id, key_id, operation, code, reason)
      ) WITH (fillfactor = 70)`);
    await runner.query('CREATE INDEX failed_requests_by_time ON failed_requests (at)');
    await runner.query('DROP TABLE refusals');
  }
}
