import { expect } from '@jest/globals';
import { ask } from '@adoption-store/test-support';

/**
 * The newest migration that this version needs for what the previous version served. So the same process can stand for
 * both versions, before the later migrations and after them.
 */
const VERSION_BEFORE = 1_700_000_073_000;
/** A later one that it needs, too: each change stores its events. It creates tables and locks none. */
const EVENTS = 'CreateEvents1700000079000';

/** Takes the later migrations back, which the product never does. */
const REVERT = `
  SET ROLE store_owner;
  CREATE FUNCTION notify_key_change() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM pg_notify('key_changes', TG_ARGV[0] || ' ' || COALESCE(NEW.id, OLD.id));
    RETURN NULL;
  END
  $$;
  CREATE TRIGGER api_keys_changed
  AFTER INSERT OR DELETE OR UPDATE OF account_id, hash, name, expires_at, revoked_at, replaced_by ON api_keys
  FOR EACH ROW EXECUTE FUNCTION notify_key_change('key');
  CREATE TRIGGER api_keys_disabled AFTER UPDATE OF disabled_at ON api_keys
  FOR EACH ROW EXECUTE FUNCTION notify_key_change('key');
  CREATE TRIGGER accounts_changed AFTER DELETE OR UPDATE ON accounts
  FOR EACH ROW EXECUTE FUNCTION notify_key_change('account');
  -- The table stays, because this version's look-ups of keys read it.
  DROP FUNCTION note_access_change CASCADE;
  DROP TABLE delivery_lines;
  DROP FUNCTION join_delivery_line CASCADE;
  DROP TABLE webhooks, webhook_deliveries, deleted_webhooks;
  DROP FUNCTION event_feed_end();
  ALTER TABLE event_feed DROP COLUMN last_sequence, DROP COLUMN purged_id;
  ALTER TABLE events DROP COLUMN sequence;
  ALTER TABLE event_outbox ALTER COLUMN created_at SET DEFAULT now();
  DELETE FROM account_mails WHERE kind <> 'reset';
  DROP TABLE sign_ups;
  CREATE TABLE address_proofs (token_hash text PRIMARY KEY, account_id bigint, expires_at timestamptz, mail_id text);
  DROP INDEX account_mails_recent;
  ALTER TABLE account_mails DROP CONSTRAINT account_mails_account_check, ALTER COLUMN account_id SET NOT NULL,
    ADD COLUMN page text NOT NULL DEFAULT '', DROP COLUMN about, DROP COLUMN address, DROP CONSTRAINT account_mails_kind_check,
    ADD CONSTRAINT account_mails_kind_check CHECK (kind IN ('reset', 'proof'));
  DROP TABLE address_changes, failed_requests, usage_by_hour, key_operations, deployment;
  ALTER TABLE categories ADD CONSTRAINT categories_name_key_key UNIQUE (name_key);
  DROP INDEX accounts_by_nfc, categories_by_nfc;
  DROP FUNCTION forget_canonical_email CASCADE;
  ALTER TABLE accounts DROP COLUMN canonical_email;
  DELETE FROM migrations WHERE timestamp > ${VERSION_BEFORE} AND name <> '${EVENTS}'`;

/** Reverts the migrations after the previous version's, and returns their names, the oldest first. */
export async function revertToVersionBefore(url: string): Promise<readonly string[]> {
  const later = (await migrationsOf(url)).filter((name) => Number(name.slice(-13)) > VERSION_BEFORE);
  const pending = later.filter((name) => name !== EVENTS);
  // A new migration has to be reverted above.
  expect(pending).toHaveLength(30);
  await ask(url, REVERT);
  return pending;
}

/** The names of the migrations that have run. */
export async function migrationsOf(url: string): Promise<readonly string[]> {
  const rows = await ask<{ name: string }>(url, 'SELECT name FROM migrations ORDER BY timestamp');
  return rows.map(({ name }) => name);
}
