#!/usr/bin/env bash
# restore.sh [--force] FILE: puts what backup.sh has written to FILE into the database of DATABASE_URL, as a whole or not
# at all. The database must be empty; with --force everything in its schema `public` is deleted first. Needs psql and
# pg_restore, of the version that wrote FILE or newer.
set -euo pipefail

fail() { echo "restore.sh: $1" >&2; exit "${2:-1}"; }

force=
if [ "${1:-}" = --force ]; then force=1; shift; fi
[ "$#" = 1 ] || fail 'usage: DATABASE_URL=postgres://… restore.sh [--force] FILE' 64
[ -n "${DATABASE_URL:-}" ] || fail 'DATABASE_URL must name the database to restore into' 78
for program in psql pg_restore sha256sum; do
  command -v "$program" >/dev/null || fail "$program is not installed (PostgreSQL's client programs have it)"
done
file=$1
[ -r "$file" ] || fail "$file can't be read"
[ -r "$file.sha256" ] || fail "$file.sha256, which backup.sh writes beside it, can't be read"
[ "$(sha256sum <"$file" | cut -d ' ' -f 1)" = "$(cut -d ' ' -f 1 "$file.sha256")" ] ||
  fail "$file is not what backup.sh has written: its SHA-256 differs"

# shellcheck source-path=SCRIPTDIR source=database-url.sh
. "$(dirname "${BASH_SOURCE[0]}")/database-url.sh"

ask() { psql --dbname="$url" --no-psqlrc --quiet --tuples-only --no-align --set=ON_ERROR_STOP=1 "$@"; }

tables=$(ask --command="SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace") ||
  fail "the database can't be used"
if [ "$tables" != 0 ]; then
  [ -n "$force" ] || fail 'the database is not empty; --force deletes what is in it'
  users=$(ask --command="SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'")
  [ "$users" = 0 ] || fail "$users connections use the database: stop the service first"
fi

script() {
  echo 'BEGIN;'
  if [ "$tables" != 0 ]; then echo 'SET LOCAL client_min_messages = warning; DROP SCHEMA public CASCADE; CREATE SCHEMA public;'; fi
  # Without the COMMIT, which only a whole script has, nothing has happened.
  pg_restore --no-owner --no-privileges --file=- "$file" && echo 'COMMIT;'
}
script | ask --output=/dev/null || fail 'nothing was restored: the database is as it was'
# A backup holds no statistics, without which queries are planned blindly.
ask --command=ANALYZE
echo "$file is restored"
