import type { MigrationInterface, QueryRunner } from 'typeorm';

export class AddMessageTraceparent1700000007000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE messages ADD COLUMN traceparent text');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE messages DROP COLUMN traceparent');
  }
}
