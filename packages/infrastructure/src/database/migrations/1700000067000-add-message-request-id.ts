import type { QueryRunner } from 'typeorm';

export class AddMessageRequestId1700000067000 {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE messages ADD COLUMN request_id text');
  }
}
