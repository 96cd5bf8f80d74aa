import type { QueryRunner } from 'typeorm';

export class CreateSecrets1700000050000 {
  async up(runner: QueryRunner): Promise<void> {
    // The database generates the value (244 random bits), so no statement in a log can contain it.
    await runner.query(`
      CREATE TABLE secrets (
        name text PRIMARY KEY,
        value text NOT NULL DEFAULT gen_random_uuid()::text || gen_random_uuid()::text CHECK (length(value) >= 32)
      )`);
    // Without a policy only the table's owner sees the rows; even a role that may read every table sees none.
    await runner.query('ALTER TABLE secrets ENABLE ROW LEVEL SECURITY');
  }
}
