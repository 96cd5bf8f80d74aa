import type { QueryRunner } from 'typeorm';

export class NameWhatMailsAreAbout1700000081300 {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE account_mails ADD COLUMN about text');
  }
}
