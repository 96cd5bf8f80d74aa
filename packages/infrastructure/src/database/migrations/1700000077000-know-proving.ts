import type { QueryRunner } from 'typeorm';

export class KnowProving1700000077000 {
  async up(runner: QueryRunner): Promise<void> {
    // One row. The portal knows whether it mails proofs, and stores it at each start.
    await runner.query(`
      CREATE TABLE deployment (
        is_only_row boolean PRIMARY KEY DEFAULT true CHECK (is_only_row),
        proves_addresses boolean NOT NULL
      )`);
    // A first value, until the new portal starts: if an address was proven, the portal mails proofs.
    await runner.query(`
      INSERT INTO deployment (proves_addresses) SELECT EXISTS (SELECT FROM accounts WHERE proven_at IS NOT NULL)`);
  }
}
