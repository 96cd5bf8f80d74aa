import type { QueryRunner } from 'typeorm';

/** `migrate` fills the column after the migrations, because SQL can't compute the canonical form. */
export class FindAddressesInOneForm1700000081400 {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE accounts ADD COLUMN IF NOT EXISTS canonical_email text');
    // The previous version changes an address, or closes an account, without changing this column. The next release can
    // drop the trigger.
    await runner.query(`
      CREATE OR REPLACE FUNCTION forget_canonical_email() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        UPDATE accounts SET canonical_email = NULL WHERE id = NEW.id;
        RETURN NULL;
      END
      $$`);
    // AFTER, because a BEFORE trigger makes each UPDATE that names the address lock the row against foreign keys.
    await runner.query(`
      CREATE OR REPLACE TRIGGER accounts_forget_canonical_email AFTER UPDATE OF email ON accounts FOR EACH ROW
      WHEN (NEW.email <> OLD.email AND NEW.canonical_email = OLD.canonical_email)
      EXECUTE FUNCTION forget_canonical_email()`);
    // The builds wait for older transactions, but block nobody meanwhile.
    await runner.query('SET lock_timeout = 0');
    await runner.query('DROP INDEX CONCURRENTLY IF EXISTS accounts_by_canonical_email');
    // Partial, so that filling the column locks no row against the foreign keys that refer to it.
    await runner.query(`
      CREATE UNIQUE INDEX CONCURRENTLY accounts_by_canonical_email ON accounts (canonical_email)
      WHERE canonical_email IS NOT NULL`);
    await runner.query('DROP INDEX CONCURRENTLY IF EXISTS accounts_without_canonical_email');
    await runner.query(`
      CREATE INDEX CONCURRENTLY accounts_without_canonical_email ON accounts (id) WHERE canonical_email IS NULL`);
    await runner.query('RESET lock_timeout');
  }
}
