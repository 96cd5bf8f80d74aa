import type { QueryRunner } from 'typeorm';

export class ProveAddresses1700000040000 {
  async up(runner: QueryRunner): Promise<void> {
    // Existing accounts that signed up themselves have not proven their address. An account without a password, which
    // the operator opened, needs no mark: its credential version shows it.
    await runner.query('ALTER TABLE accounts ADD COLUMN proven_at timestamptz');
    await runner.query(`
      CREATE TABLE address_proofs (
        token_hash text PRIMARY KEY CHECK (token_hash ~ '^[0-9a-f]{64}$'),
        account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
        expires_at timestamptz NOT NULL
      )`);
    await runner.query('CREATE INDEX address_proofs_by_account ON address_proofs (account_id)');
    await runner.query('CREATE INDEX address_proofs_by_time ON address_proofs (expires_at)');
  }
}
