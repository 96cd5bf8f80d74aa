#!/usr/bin/env bash
# backup.sh FILE: writes a snapshot of the store's database (DATABASE_URL) to FILE, and its SHA-256 to FILE.sha256. The
# service can run meanwhile. Both files appear only after the backup is complete and was read back. A failed backup leaves
# no file. Run it as the role that owns the tables. It needs PostgreSQL's client programs in the server's version.
set -euo pipefail
umask 077
# shellcheck source-path=SCRIPTDIR source=database.sh
. "$(dirname "${BASH_SOURCE[0]}")/database.sh"

[ "$#" = 1 ] || fail 'usage: DATABASE_URL=postgres://… backup.sh FILE' 64
[ -n "${DATABASE_URL:-}" ] || fail 'DATABASE_URL must name the database to save' 78
need psql pg_dump pg_restore sha256sum
file=$1
refuse_existing() {
  local each
  for each in "$file" "$file.sha256"; do
    [ ! -e "$each" ] || fail "$each is there already; a backup never replaces another"
  done
}
refuse_existing
[ -d "$(dirname "$file")" ] || fail "the folder of $file is not there"

use_database "$DATABASE_URL"
missing=$(ask --command="SELECT string_agg(name, ', ')
  FROM unnest('{migrations, animals, accounts, api_keys, orders, messages}'::text[]) AS name
  WHERE to_regclass('public.' || name) IS NULL") || fail "the database can't be used, and no backup was written"
[ -z "$missing" ] || fail "this is not the store's database, which has the tables $missing; no backup was written"

part=$(mktemp "$file.XXXXXX") || fail "$file can't be written"
unfinished=("$part" "$part.sha256")
trap 'rm -f "${unfinished[@]}"' EXIT
# Fails instead of waiting for a migration that locks a table: other queries would wait behind pg_dump.
pg_dump --dbname="$url" --format=custom --schema=public --lock-wait-timeout=10s --file="$part" ||
  fail 'pg_dump failed, and no backup was written'
pg_restore --file=/dev/null "$part" || fail "the output of pg_dump can't be read, and no backup was written"

# FILE is created last, so if it exists, both files are complete. ln replaces no file: of two backups at once, one fails.
keep() {
  local sum
  sum=$(sha256sum <"$part") &&
    echo "${sum%% *}  $(basename "$file")" >"$part.sha256" &&
    sync "$part" "$part.sha256" &&
    ln -T "$part.sha256" "$file.sha256" &&
    unfinished+=("$file.sha256") &&
    ln -T "$part" "$file" &&
    unfinished+=("$file") &&
    sync "$(dirname "$file")" &&
    unfinished=("$part" "$part.sha256")
}
if ! keep; then
  [ "${#unfinished[@]}" = 4 ] || refuse_existing
  fail "$file can't be written, and no backup is left"
fi
echo "$file: $(wc -c <"$file") bytes"
