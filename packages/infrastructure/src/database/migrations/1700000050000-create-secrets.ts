import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateSecrets1700000050000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    // The database makes the value, 244 random bits, so that no statement holds it that a log could repeat.
    await runner.query(`
      CREATE TABLE secrets (
        name text PRIMARY KEY,
        value text NOT NULL DEFAULT gen_random_uuid()::text || gen_random_uuid()::text CHECK (length(value) >= 32)
      )`);
    // Without a policy the table's owner alone sees its rows: no role that may read every table does.
    await runner.query('ALTER TABLE secrets ENABLE ROW LEVEL SECURITY');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE secrets');
  }
}
