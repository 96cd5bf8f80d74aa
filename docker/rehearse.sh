#!/usr/bin/env bash
# rehearse.sh [--no-grants] FILE: proves that a backup of backup.sh in FILE can be restored and served. It restores FILE
# into a new database on the server of DATABASE_URL and compares the number of rows of each table with the backup. It
# starts the API on it, which migrates an older schema, and lists animals with a new key. With API_KEY, which must be a key
# of the backup, it reads the limits of that key, too. At the end it deletes the database. The role of DATABASE_URL must be
# allowed to create databases; use another server than the one in use. It needs what restore.sh needs, Node.js, and a built
# checkout around this script.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=database.sh
. "$(dirname "${BASH_SOURCE[0]}")/database.sh"

options=()
if [ "${1:-}" = --no-grants ]; then options+=(--no-grants); shift; fi
[ "$#" = 1 ] || fail 'usage: DATABASE_URL=postgres://… rehearse.sh [--no-grants] FILE' 64
[ -n "${DATABASE_URL:-}" ] || fail 'DATABASE_URL must name a server to restore into' 78
need psql pg_restore node
file=$1
scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
api=$scripts/../apps/api/dist/main.js
keys=$scripts/../apps/cli/dist/keys.js
for program in "$api" "$keys"; do
  [ -r "$program" ] || fail "$program is not there: npm ci && npm run build"
done
[[ $DATABASE_URL =~ ^([a-z]+://[^/?]*)(/[^?]*)?(\?.*)?$ ]] || fail 'DATABASE_URL must be a URL' 78
database=rehearsal_$(date +%s)_$$
copy="${BASH_REMATCH[1]}/$database${BASH_REMATCH[3]:-}"

folder=$(mktemp -d)
server=
finish() {
  [ -z "$server" ] || { kill "$server" && wait "$server"; } || true
  (use_database "$DATABASE_URL"; ask --command="SET client_min_messages = warning" \
    --command="DROP DATABASE IF EXISTS $database WITH (FORCE)") || echo "rehearse.sh: $database is still there" >&2
  rm -rf "$folder"
}
trap finish EXIT
(use_database "$DATABASE_URL"; ask --command="CREATE DATABASE $database") || fail 'no database can be created there'

begun=$SECONDS
DATABASE_URL=$copy "$scripts/restore.sh" ${options[@]+"${options[@]}"} "$file" >/dev/null || fail "$file can't be restored"
restored=$((SECONDS - begun))

# In a backup each row of a table is one line between COPY and \. .
pg_restore --schema=public --data-only --file=- "$file" | awk '
  table != "" && $0 == "\\." { print table, rows; table = ""; next }
  table != "" { rows++; next }
  /^COPY / { table = $2; rows = 0 }' | sort >"$folder/expected"
(use_database "$copy"; ask --field-separator=' ' <<'SQL') | sort >"$folder/found"
SELECT format('SELECT %L, count(*) FROM %s', format('public.%I', relname), oid::regclass)
FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' \gexec
SQL
diff "$folder/expected" "$folder/found" >&2 || fail 'the tables have other numbers of rows (>) than the backup (<)'
[ -s "$folder/found" ] || fail 'the backup has no tables'
cat "$folder/found"

# Runs node with the new database only, whatever the environment names. Call it in a subshell, which node replaces, so that
# a signal reaches node itself.
in_copy() {
  cd "$folder"
  export DATABASE_URL=$copy PORT=0 HOST=127.0.0.1 METRICS_HOST=127.0.0.1 METRICS_PORT=0 LAME_DUCK=0s
  unset REDIS_URL REDIS_SENTINEL_NAME REDIS_SENTINEL_PASSWORD SMTP_URL PUBLIC_URL OTEL_EXPORTER_OTLP_ENDPOINT
  exec node "$@"
}
fail_to_serve() {
  cat "$folder/api.log" >&2
  fail "$1"
}

begun=$SECONDS
# Made here: the background process may open it after the first look.
: >"$folder/api.log"
in_copy "$api" >"$folder/api.log" 2>&1 &
server=$!
until origin=$(sed -n 's#^ *Address  *\(http[^ ]*\)/v1$#\1#p' "$folder/api.log") && [ -n "$origin" ]; do
  kill -0 "$server" 2>/dev/null || { server=; fail_to_serve "the API doesn't start on the restored database"; }
  sleep 0.2
done

# Prints the body of the response to a GET of path $1 with the key $2.
get() {
  ORIGIN=$origin KEY=$2 node --input-type=module - "$1" <<'JS'
const { ORIGIN, KEY } = process.env;
const response = await fetch(ORIGIN + process.argv[2], { headers: { authorization: `Bearer ${KEY}` } });
console.log(await response.text());
process.exitCode = response.ok ? 0 : 1;
JS
}
key=$(in_copy "$keys" create --email "$database@example.com") || fail_to_serve 'no key can be created in the restored database'
animals=$(get '/v1/pets?limit=1' "$key") || fail_to_serve "the API doesn't list the animals: $animals"
[ "$animals" != '[]' ] || grep -q '^public.animals 0$' "$folder/found" || fail_to_serve 'the API lists no animals'
if [ -n "${API_KEY:-}" ]; then
  answer=$(get /v1/rate_limit "$API_KEY") || fail "API_KEY is not accepted: $answer"
fi
echo "$file was restored in $restored s and served after $((SECONDS - begun)) s"
