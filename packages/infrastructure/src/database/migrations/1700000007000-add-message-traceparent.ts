import type { QueryRunner } from 'typeorm';

export class AddMessageTraceparent1700000007000 {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE messages ADD COLUMN traceparent text');
  }
}
