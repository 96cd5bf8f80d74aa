#!/usr/bin/env bash
# settle.sh [--revoke FILE | --revoke-all-but FILE]: ends what a restore has brought back into the database of
# DATABASE_URL, whether restore.sh or a provider restored it. Run it before the service starts, as the role that owns the
# tables. Everything happens in one transaction.
#
# It deletes every session, every mailed link, every mail to an account that still waits, and the secret that the portals
# share. It holds the queued messages: most
# were sent after the backup, so they become `failed`, and it prints their ids. It moves the ids of new rows ahead, so that
# no id that a client has seen is used again. FILE has the id of a key on each line: --revoke revokes these keys,
# --revoke-all-but revokes all others.
#
# FORMER_DATABASE_URL may name the damaged database, if it can still be read. settle.sh copies from it the ends of keys,
# closed accounts, changed passwords, and the status of each queued message.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=database.sh
. "$(dirname "${BASH_SOURCE[0]}")/database.sh"

usage='usage: DATABASE_URL=postgres://… settle.sh [--revoke FILE | --revoke-all-but FILE]'
revoked=false
listed=/dev/null
case ${1:-} in
  '') ;;
  --revoke) revoked='id IN (SELECT id FROM listed)' ;;
  --revoke-all-but) revoked='id NOT IN (SELECT id FROM listed)' ;;
  *) fail "$usage" 64 ;;
esac
if [ "$#" != 0 ]; then
  [ "$#" = 2 ] || fail "$usage" 64
  listed=$2
  [ -r "$listed" ] || fail "$listed can't be read"
  ! grep -qvE '^[0-9]+$' "$listed" || fail "$listed has a line that is not the id of a key"
fi
[ -n "${DATABASE_URL:-}" ] || fail 'DATABASE_URL must name the database that was restored' 78
need psql
use_database "$DATABASE_URL"
refuse_in_use

# The rows of the query in the former database, and the end of a COPY.
former() {
  if [ -n "${FORMER_DATABASE_URL:-}" ]; then
    (use_database "$FORMER_DATABASE_URL"; ask --command="COPY ($1) TO STDOUT") || return
  fi
  echo '\.'
}

script() {
  cat <<'SQL'
BEGIN;
CREATE TEMPORARY TABLE listed (id bigint) ON COMMIT DROP;
CREATE TEMPORARY TABLE former_keys (
  id bigint, hash text, revoked_at timestamptz, expires_at timestamptz, disabled_at timestamptz) ON COMMIT DROP;
CREATE TEMPORARY TABLE former_accounts (
  id bigint, email text, password_hash text, credential_version integer, closed_at timestamptz) ON COMMIT DROP;
CREATE TEMPORARY TABLE former_messages (id text, status text) ON COMMIT DROP;
SQL
  echo 'COPY listed FROM stdin;'
  awk 1 "$listed"
  echo '\.'
  echo 'COPY former_keys FROM stdin;'
  # The former database may be of the version before, which has no disabled keys.
  former "SELECT id, hash, revoked_at, expires_at, to_jsonb(api_keys) ->> 'disabled_at' FROM api_keys" || return
  echo 'COPY former_accounts FROM stdin;'
  former 'SELECT id, email, password_hash, credential_version, closed_at FROM accounts' || return
  echo 'COPY former_messages FROM stdin;'
  former 'SELECT id, status FROM messages' || return
  cat <<'SQL'
WITH ended AS (DELETE FROM sessions RETURNING 1) SELECT count(*) || ' sessions were ended' FROM ended;
WITH resets AS (DELETE FROM password_resets RETURNING 1), proofs AS (DELETE FROM address_proofs RETURNING 1)
SELECT (SELECT count(*) FROM resets) + (SELECT count(*) FROM proofs) || ' mailed links were ended';
-- A backup of the release before has no such table.
SELECT to_regclass('address_changes') IS NOT NULL AS has_changes \gset
\if :has_changes
WITH ended AS (DELETE FROM address_changes RETURNING 1) SELECT count(*) || ' changes of addresses were ended' FROM ended;
\endif
WITH ended AS (DELETE FROM account_mails WHERE status = 'queued' RETURNING 1)
SELECT count(*) || ' waiting mails to accounts were dropped' FROM ended;
WITH ended AS (DELETE FROM secrets RETURNING 1) SELECT count(*) || ' secrets will be made anew' FROM ended;

-- A changed password and a closed account increase the version.
WITH changed AS (
  UPDATE accounts SET email = former.email, password_hash = former.password_hash, closed_at = former.closed_at,
    credential_version = former.credential_version
  FROM former_accounts AS former
  WHERE former.id = accounts.id AND former.credential_version > accounts.credential_version
    AND (former.email = accounts.email OR former.closed_at IS NOT NULL)
  RETURNING accounts.id, accounts.closed_at)
SELECT 'account ' || id || CASE WHEN closed_at IS NULL THEN ' has its later password' ELSE ' was closed' END
FROM changed ORDER BY id;

-- Each key gets the earlier of the two ends. A replaced key ends with its overlap.
WITH ended AS (
  UPDATE api_keys SET revoked_at = LEAST(api_keys.revoked_at, former.revoked_at),
    expires_at = LEAST(api_keys.expires_at, former.expires_at)
  FROM former_keys AS former
  WHERE former.id = api_keys.id AND former.hash = api_keys.hash
    AND LEAST(former.revoked_at, former.expires_at) IS DISTINCT FROM LEAST(api_keys.revoked_at, api_keys.expires_at)
  RETURNING api_keys.id)
SELECT 'key ' || id || ' ends as it did' FROM ended ORDER BY id;
WITH disabled AS (
  UPDATE api_keys SET disabled_at = former.disabled_at
  FROM former_keys AS former
  WHERE former.id = api_keys.id AND former.hash = api_keys.hash
    AND api_keys.disabled_at IS NULL AND former.disabled_at IS NOT NULL
  RETURNING api_keys.id)
SELECT 'key ' || id || ' is disabled' FROM disabled ORDER BY id;
WITH revoked AS (UPDATE api_keys SET revoked_at = now() WHERE revoked_at IS NULL AND :revoked RETURNING id)
SELECT 'key ' || id || ' was revoked' FROM revoked ORDER BY id;

WITH settled AS (
  UPDATE messages SET status = COALESCE(
    (SELECT former.status FROM former_messages AS former WHERE former.id = messages.id), 'failed')
  WHERE status = 'queued' RETURNING id, account_id, created_at, status)
SELECT 'message ' || id || ' of account ' || account_id || ' from ' || created_at ||
  CASE status WHEN 'queued' THEN ' goes out' WHEN 'sent' THEN ' was sent' ELSE ' is held' END
FROM settled ORDER BY created_at;

DO $$
DECLARE
  sequence regclass;
  latest bigint;
BEGIN
  FOR sequence IN SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'S' LOOP
    EXECUTE format('SELECT last_value FROM %s', sequence) INTO latest;
    EXECUTE format('ALTER SEQUENCE %s RESTART WITH %s', sequence, latest + 1000000);
  END LOOP;
END
$$;
COMMIT;
SQL
}
script | ask --set=revoked="$revoked" || fail 'nothing was settled: the database is as it was'
