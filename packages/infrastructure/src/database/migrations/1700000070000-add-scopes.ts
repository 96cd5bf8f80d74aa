import type { QueryRunner } from 'typeorm';

export class AddScopes1700000070000 {
  /** Without a transaction each table is locked alone, and only for a moment. */
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    // Null means all scopes, which every account and key had before. The keys' trigger needn't name the new column, because
    // the scopes of a key never change. The accounts' trigger reports every change.
    await runner.query('ALTER TABLE accounts ADD COLUMN IF NOT EXISTS scopes text[]');
    await runner.query('ALTER TABLE api_keys ADD COLUMN IF NOT EXISTS scopes text[]');
  }
}
