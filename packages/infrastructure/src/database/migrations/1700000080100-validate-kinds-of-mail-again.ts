import type { QueryRunner } from 'typeorm';

export class ValidateKindsOfMailAgain1700000080100 {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE account_mails VALIDATE CONSTRAINT account_mails_kind_check');
  }
}
