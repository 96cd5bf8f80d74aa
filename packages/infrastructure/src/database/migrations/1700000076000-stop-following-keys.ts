import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Every process, also of the previous version, reads a key again after a second. So the notifications are no longer
 * needed.
 */
export class StopFollowingKeys1700000076000 implements MigrationInterface {
  /** A transaction would keep the first table locked while it waits for the second. */
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TRIGGER IF EXISTS accounts_changed ON accounts');
    await runner.query('DROP TRIGGER IF EXISTS api_keys_changed ON api_keys');
    await runner.query('DROP TRIGGER IF EXISTS api_keys_disabled ON api_keys');
    await runner.query('DROP FUNCTION IF EXISTS notify_key_change');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE FUNCTION notify_key_change() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        PERFORM pg_notify('key_changes', TG_ARGV[0] || ' ' || COALESCE(NEW.id, OLD.id));
        RETURN NULL;
      END
      $$`);
    await runner.query(`
      CREATE TRIGGER api_keys_changed
      AFTER INSERT OR DELETE OR UPDATE OF account_id, hash, name, expires_at, revoked_at, replaced_by ON api_keys
      FOR EACH ROW EXECUTE FUNCTION notify_key_change('key')`);
    await runner.query(`
      CREATE TRIGGER api_keys_disabled AFTER UPDATE OF disabled_at ON api_keys
      FOR EACH ROW EXECUTE FUNCTION notify_key_change('key')`);
    await runner.query(`
      CREATE TRIGGER accounts_changed AFTER DELETE OR UPDATE ON accounts
      FOR EACH ROW EXECUTE FUNCTION notify_key_change('account')`);
  }
}
