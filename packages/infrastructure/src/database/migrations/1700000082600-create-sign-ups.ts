import type { QueryRunner } from 'typeorm';

/** Links with which an account begins: the address has no account before. They replace those that proved an address. */
export class CreateSignUps1700000082600 {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE address_proofs');
    await runner.query(`
      CREATE TABLE sign_ups (
        token_hash text PRIMARY KEY CHECK (token_hash ~ '^[0-9a-f]{64}$'),
        email text NOT NULL,
        expires_at timestamptz NOT NULL
      )`);
    await runner.query('CREATE INDEX sign_ups_by_email ON sign_ups (email)');
    await runner.query('CREATE INDEX sign_ups_by_time ON sign_ups (expires_at)');
  }
}
