import type { QueryRunner } from 'typeorm';

export class FollowOperations1700000073100 {
  async up(runner: QueryRunner): Promise<void> {
    // Free space in each page: the rows of keys in use are updated every minute, like the keys themselves.
    await runner.query(`
      CREATE TABLE key_operations (
        key_id bigint NOT NULL REFERENCES api_keys ON DELETE CASCADE,
        operation text NOT NULL,
        last_used_at timestamptz NOT NULL,
        PRIMARY KEY (key_id, operation)
      ) WITH (fillfactor = 80)`);
  }
}
