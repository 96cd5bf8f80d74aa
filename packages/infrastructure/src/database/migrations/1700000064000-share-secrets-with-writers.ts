import type { MigrationInterface, QueryRunner } from 'typeorm';

export class ShareSecretsWithWriters1700000064000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    // Roles that may insert secrets see the rows, such as the role of the services, which owns no table. A role that may
    // only read still sees none.
    await runner.query(`
      CREATE POLICY secrets_of_writers ON secrets USING (has_table_privilege('secrets'::regclass, 'INSERT'))`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP POLICY secrets_of_writers ON secrets');
  }
}
