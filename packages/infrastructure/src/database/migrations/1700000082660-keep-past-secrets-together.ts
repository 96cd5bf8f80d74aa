import type { QueryRunner } from 'typeorm';

/** All replaced secrets of a webhook are in `past_secrets`. */
export class KeepPastSecretsTogether1700000082660 {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE webhooks DROP COLUMN previous_secret, DROP COLUMN previous_until');
  }
}
