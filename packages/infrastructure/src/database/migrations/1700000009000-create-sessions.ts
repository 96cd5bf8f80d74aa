import type { QueryRunner } from 'typeorm';

export class CreateSessions1700000009000 {
  async up(runner: QueryRunner): Promise<void> {
    // The columns that connect-pg-simple needs. Nothing else uses the table.
    await runner.query(`
      CREATE TABLE sessions (
        sid text PRIMARY KEY,
        sess jsonb NOT NULL,
        expire timestamptz NOT NULL
      )`);
    await runner.query('CREATE INDEX sessions_by_expiry ON sessions (expire)');
  }
}
