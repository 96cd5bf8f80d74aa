import type { QueryRunner } from 'typeorm';

export class LogHoursAndRefusals1700000074000 {
  async up(runner: QueryRunner): Promise<void> {
    // Updated constantly, like usage_by_day. No foreign key is needed: the hours are deleted long before their key.
    await runner.query(`
      CREATE TABLE usage_by_hour (
        account_id bigint NOT NULL,
        hour timestamptz NOT NULL,
        key_id bigint NOT NULL,
        admitted bigint NOT NULL CHECK (admitted >= 0),
        refused bigint NOT NULL CHECK (refused >= 0),
        last_at timestamptz NOT NULL,
        PRIMARY KEY (account_id, hour, key_id)
      ) WITH (fillfactor = 50)`);
    await runner.query('CREATE INDEX usage_by_hour_by_hour ON usage_by_hour (hour)');
    // Each process numbers its refusals, so that a repeated write adds none of them twice.
    await runner.query(`
      CREATE TABLE refusals (
        account_id bigint NOT NULL,
        at timestamptz NOT NULL,
        id bigint NOT NULL,
        key_id bigint NOT NULL,
        operation text NOT NULL,
        code text NOT NULL,
        request_id text NOT NULL,
        PRIMARY KEY (account_id, at, id)
      )`);
    await runner.query('CREATE INDEX refusals_by_time ON refusals (at)');
  }
}
