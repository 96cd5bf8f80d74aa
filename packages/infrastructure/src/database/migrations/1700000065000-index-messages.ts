import type { QueryRunner } from 'typeorm';

export class IndexMessages1700000065000 {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE INDEX messages_by_account ON messages (account_id, created_at, id)');
    await runner.query(`CREATE INDEX messages_failed ON messages (created_at, id) WHERE status = 'failed'`);
  }
}
