import type { QueryRunner } from 'typeorm';

export class IndexWhatRunsOut1700000062000 {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`CREATE INDEX messages_settled ON messages (created_at) WHERE status <> 'queued'`);
    await runner.query(`
      CREATE INDEX api_keys_by_end ON api_keys ((COALESCE(LEAST(revoked_at, expires_at), 'infinity'::timestamptz)))`);
    // A key may be deleted while the key that it replaced still exists.
    await runner.query('CREATE INDEX api_keys_by_replacement ON api_keys (replaced_by) WHERE replaced_by IS NOT NULL');
    await runner.query(`
      ALTER TABLE api_keys DROP CONSTRAINT api_keys_replaced_by_fkey, ADD CONSTRAINT api_keys_replaced_by_fkey
      FOREIGN KEY (replaced_by) REFERENCES api_keys (id) ON DELETE SET NULL`);
  }
}
