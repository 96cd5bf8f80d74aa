import type { MigrationInterface, QueryRunner } from 'typeorm';

export class AddMessageRequestId1700000067000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE messages ADD COLUMN request_id text');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE messages DROP COLUMN request_id');
  }
}
