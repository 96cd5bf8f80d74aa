import type { QueryRunner } from 'typeorm';

export class NoteAccessChanges1700000083000 {
  /** A transaction would keep the first table locked while it waits for the second. */
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE IF NOT EXISTS access_changes (
        transaction xid8 NOT NULL DEFAULT pg_current_xact_id(),
        account_id bigint NOT NULL
      )`);
    await runner.query(
      'CREATE INDEX IF NOT EXISTS access_changes_by_transaction ON access_changes USING btree (transaction)',
    );
    await runner.query(`
      CREATE OR REPLACE FUNCTION note_access_change() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        INSERT INTO access_changes (account_id) VALUES ((to_jsonb(OLD) ->> TG_ARGV[0])::bigint);
        RETURN NULL;
      END
      $$`);
    // All columns but last_used_at, which changes every minute. A key that was just added is in no cache.
    await runner.query(`
      CREATE OR REPLACE TRIGGER api_keys_access AFTER DELETE OR UPDATE OF id, account_id, hash, ending, name, scopes,
        created_at, expires_at, revoked_at, disabled_at, replaced_by ON api_keys
      FOR EACH ROW EXECUTE FUNCTION note_access_change('account_id')`);
    await runner.query(`
      CREATE OR REPLACE TRIGGER accounts_access AFTER DELETE OR UPDATE ON accounts
      FOR EACH ROW EXECUTE FUNCTION note_access_change('id')`);
    // Also for whoever turns the other triggers off with session_replication_role.
    await runner.query('ALTER TABLE api_keys ENABLE ALWAYS TRIGGER api_keys_access');
    await runner.query('ALTER TABLE accounts ENABLE ALWAYS TRIGGER accounts_access');
  }
}
