import { ask } from '@adoption-store/test-support';
import { FORMER } from '../src/database/take-over.js';

/** What the last commit before 1.0.0 had and 1.0.0 hasn't. */
const FORMER_SCHEMA = `
  SET ROLE store_owner;
  ALTER TABLE animals ALTER name_key DROP NOT NULL;

  CREATE FUNCTION forget_canonical_email() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$;
  CREATE TRIGGER accounts_forget_canonical_email BEFORE UPDATE OF email ON accounts
    FOR EACH ROW EXECUTE FUNCTION forget_canonical_email();
  CREATE INDEX accounts_without_canonical_email ON accounts (id) WHERE canonical_email IS NULL;

  ALTER TABLE password_resets ALTER mail_id DROP NOT NULL;
  ALTER TABLE sessions ADD sess jsonb NOT NULL DEFAULT '{}', ALTER token_hash DROP NOT NULL,
    ALTER account_id DROP NOT NULL, ALTER credential_version DROP NOT NULL, ALTER begun_at DROP NOT NULL,
    ALTER used_at DROP NOT NULL;

  CREATE FUNCTION is_ordered(bigint) RETURNS boolean LANGUAGE sql RETURN true;
  CREATE FUNCTION known_category(bigint) RETURNS boolean LANGUAGE sql RETURN true;
  CREATE FUNCTION may_place_order(bigint, integer) RETURNS boolean LANGUAGE sql RETURN true;

  ALTER TABLE webhooks ALTER follows_since DROP NOT NULL, ALTER secret_key DROP NOT NULL`;

/** Turns a new database into one of the last commit before 1.0.0. */
export async function makeFormer(url: string): Promise<void> {
  await ask(url, FORMER_SCHEMA);
  await ask(url, 'DELETE FROM migrations');
  await ask(
    url,
    'INSERT INTO migrations (timestamp, name) SELECT right(name, 13)::bigint, name FROM unnest($1::text[]) AS name',
    [FORMER],
  );
}
