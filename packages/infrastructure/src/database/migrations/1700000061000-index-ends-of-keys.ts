import type { QueryRunner } from 'typeorm';

export class IndexEndsOfKeys1700000061000 {
  async up(runner: QueryRunner): Promise<void> {
    // An account's active keys are a range of this index, and so is each page of the keys that have ended.
    await runner.query(`
      CREATE INDEX api_keys_by_account_and_end
      ON api_keys (account_id, COALESCE(LEAST(revoked_at, expires_at), 'infinity'::timestamptz), id)`);
    // For queries of the usage of a few keys, and for deleting a key's rows together with the key.
    await runner.query('CREATE INDEX usage_by_day_by_key ON usage_by_day (key_id, day)');
    await runner.query('ANALYZE api_keys');
  }
}
