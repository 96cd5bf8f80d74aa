# shellcheck shell=bash
# Shared by the scripts in this folder: errors, and psql on the database of DATABASE_URL.

fail() { echo "$(basename "$0"): $1" >&2; exit "${2:-1}"; }

need() {
  local program
  for program; do
    command -v "$program" >/dev/null || fail "$program is not installed"
  done
}

# Sets $url to the URL without its password. The password goes into PGPASSWORD, because every user of the machine can read a
# command line. As in libpq, a password in the query replaces the one before the host. As the services do, it refuses a URL in
# which a raw character of the password hides the host, because libpq would take a part of the password for the host.
use_database() {
  local rule='DATABASE_URL must be like postgres://USER:PASSWORD@HOST:5432/DATABASE, with %23 for a # in the password, and so on'
  local raw='[[:space:]#]|%([^0-9A-Fa-f]|.[^0-9A-Fa-f]|.?$)|^[a-z]+://[^/?]*[/?].*@|^[^?]*\?(.*&)?[^=&]+(&|$)'
  [[ ! $1 =~ $raw && $1 =~ ^(postgres(ql)?://)([^/?]*)(.*)$ ]] || fail "$rule" 78
  local start=${BASH_REMATCH[1]} server=${BASH_REMATCH[3]} rest=${BASH_REMATCH[4]} encoded='' in_query=''
  if [[ $server == *@* ]]; then
    local user=${server%@*}
    server=${server##*@}
    [[ $user != *:* ]] || encoded=${user#*:}
    user=${user%%:*}
    start+=${user//@/%40}@
  fi
  [[ $server =~ ^(\[[^]]*\]|[^:]*)(:[0-9]{0,5})?$ ]] || fail "$rule" 78
  url=$start$server$rest
  local query='^([^?]*\?(.*&)?)password=([^&]*)&?(.*)$'
  while [[ $url =~ $query ]]; do
    url="${BASH_REMATCH[1]}${BASH_REMATCH[4]}"
    in_query=${in_query:-${BASH_REMATCH[3]}}
  done
  url=${url%[?&]}
  encoded=${in_query:-$encoded}
  if [ -n "$encoded" ]; then
    encoded=${encoded//\\/\\\\}
    PGPASSWORD=$(printf '%b' "${encoded//%/\\x}")
    export PGPASSWORD
  fi
}

ask() { psql --dbname="$url" --no-psqlrc --quiet --tuples-only --no-align --set=ON_ERROR_STOP=1 "$@"; }

# A role without special rights sees the connections of other roles, but not their backend_type. PostgreSQL's own workers
# have no usesysid.
refuse_in_use() {
  local users
  users=$(ask --command="SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND usesysid IS NOT NULL
    AND COALESCE(backend_type, 'client backend') = 'client backend'") || fail "the database can't be used"
  [ "$users" = 0 ] || fail "$users connections use the database: stop the service first"
}
