import type { MigrationInterface, QueryRunner } from 'typeorm';

export class ShareSecretsWithWriters1700000064000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    // The services' role, which owns no table, may insert secrets and may therefore read them. A role that may only
    // read every table still sees none.
    await runner.query(`
      CREATE POLICY secrets_of_writers ON secrets USING (has_table_privilege('secrets'::regclass, 'INSERT'))`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP POLICY secrets_of_writers ON secrets');
  }
}
