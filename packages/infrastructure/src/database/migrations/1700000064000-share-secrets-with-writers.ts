import type { QueryRunner } from 'typeorm';

export class ShareSecretsWithWriters1700000064000 {
  async up(runner: QueryRunner): Promise<void> {
    // Roles that may insert secrets see the rows, such as the role of the services, which owns no table. A role that may
    // only read still sees none.
    await runner.query(`
      CREATE POLICY secrets_of_writers ON secrets USING (has_table_privilege('secrets'::regclass, 'INSERT'))`);
  }
}
