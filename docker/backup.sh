#!/usr/bin/env bash
# backup.sh FILE: writes the database of DATABASE_URL, as it is at one moment, to FILE, and FILE's SHA-256 to FILE.sha256.
# The service goes on meanwhile. FILE is there only once it is whole. Needs pg_dump, of the server's version or newer.
set -euo pipefail
umask 077

fail() { echo "backup.sh: $1" >&2; exit "${2:-1}"; }

[ "$#" = 1 ] || fail 'usage: DATABASE_URL=postgres://… backup.sh FILE' 64
[ -n "${DATABASE_URL:-}" ] || fail 'DATABASE_URL must name the database to save' 78
for program in pg_dump pg_restore sha256sum; do
  command -v "$program" >/dev/null || fail "$program is not installed (PostgreSQL's client programs have it)"
done
file=$1
for each in "$file" "$file.sha256"; do
  [ ! -e "$each" ] || fail "$each is there already; a backup never replaces another"
done
[ -d "$(dirname "$file")" ] || fail "the folder of $file is not there"

# shellcheck source-path=SCRIPTDIR source=database-url.sh
. "$(dirname "${BASH_SOURCE[0]}")/database-url.sh"

part=$(mktemp "$file.XXXXXX")
trap 'rm -f "$part"' EXIT
# A migration that holds a table is not waited for, as others would then wait behind this.
pg_dump --dbname="$url" --format=custom --no-owner --no-privileges --lock-wait-timeout=10s --file="$part" ||
  fail 'pg_dump failed, and no backup was written'
pg_restore --list "$part" >/dev/null || fail 'what pg_dump has written is not readable, and no backup was written'
sum=$(sha256sum <"$part")
sync "$part"
echo "${sum%% *}  $(basename "$file")" >"$file.sha256"
mv "$part" "$file"
sync "$(dirname "$file")"
echo "$file: $(wc -c <"$file") bytes"
