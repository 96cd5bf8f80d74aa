import type { MigrationInterface, QueryRunner } from 'typeorm';

export class AddScopes1700000070000 implements MigrationInterface {
  /** Each table is locked alone, for no longer than its new column takes. */
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    // Empty: all scopes, as every account and key had before. No trigger names the column of the keys, whose scopes
    // never change; any change of an account is told.
    await runner.query('ALTER TABLE accounts ADD COLUMN IF NOT EXISTS scopes text[]');
    await runner.query('ALTER TABLE api_keys ADD COLUMN IF NOT EXISTS scopes text[]');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE api_keys DROP COLUMN IF EXISTS scopes');
    await runner.query('ALTER TABLE accounts DROP COLUMN IF EXISTS scopes');
  }
}
