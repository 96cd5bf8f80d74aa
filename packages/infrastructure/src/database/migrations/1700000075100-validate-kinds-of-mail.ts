import type { MigrationInterface, QueryRunner } from 'typeorm';

export class ValidateKindsOfMail1700000075100 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE account_mails VALIDATE CONSTRAINT account_mails_kind_check');
  }

  async down(): Promise<void> {
    // The previous migration drops the constraint.
  }
}
