import type { QueryRunner } from 'typeorm';

export class FollowApiKeys1700000003000 {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE api_keys ADD COLUMN last_used_at timestamptz');
    // The notification has only the id of the changed row, because every role that can connect can listen.
    await runner.query(`
      CREATE FUNCTION notify_key_change() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        PERFORM pg_notify('key_changes', TG_ARGV[0] || ' ' || COALESCE(NEW.id, OLD.id));
        RETURN NULL;
      END
      $$`);
    // Without last_used_at, which changes constantly and doesn't affect authentication.
    await runner.query(`
      CREATE TRIGGER api_keys_changed
      AFTER INSERT OR DELETE OR UPDATE OF account_id, hash, name, expires_at, revoked_at, replaced_by ON api_keys
      FOR EACH ROW EXECUTE FUNCTION notify_key_change('key')`);
    // A new account has no keys yet.
    await runner.query(`
      CREATE TRIGGER accounts_changed AFTER DELETE OR UPDATE ON accounts
      FOR EACH ROW EXECUTE FUNCTION notify_key_change('account')`);
  }
}
