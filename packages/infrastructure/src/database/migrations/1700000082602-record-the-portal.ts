import type { QueryRunner } from 'typeorm';

/** A worker that can send mail records the portal's address. */
export class RecordThePortal1700000082602 {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE deployment DROP COLUMN proves_addresses, ADD COLUMN portal_url text');
  }
}
