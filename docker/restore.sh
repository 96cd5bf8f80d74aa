#!/usr/bin/env bash
# restore.sh [--force] [--no-grants] FILE: restores a backup of backup.sh from FILE into the database of DATABASE_URL,
# completely or not at all. Schema `public` of the database must be empty; --force deletes its content first. The role
# of DATABASE_URL will own the tables, so use the role that migrates. Roles with grants in the backup must exist;
# --no-grants leaves grants out. It needs PostgreSQL's client programs in the server's version.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=database.sh
. "$(dirname "${BASH_SOURCE[0]}")/database.sh"

force=
options=(--no-owner --schema=public)
while [[ ${1:-} == --* ]]; do
  case $1 in
    --force) force=1 ;;
    --no-grants) options+=(--no-privileges) ;;
    *) fail "there is no option $1" 64 ;;
  esac
  shift
done
[ "$#" = 1 ] || fail 'usage: DATABASE_URL=postgres://… restore.sh [--force] [--no-grants] FILE' 64
[ -n "${DATABASE_URL:-}" ] || fail 'DATABASE_URL must name the database to restore into' 78
need psql pg_restore sha256sum
file=$1
[ -r "$file" ] || fail "$file can't be read"
[ -r "$file.sha256" ] || fail "$file.sha256, which backup.sh writes beside it, can't be read"
[ "$(sha256sum <"$file" | cut -d ' ' -f 1)" = "$(cut -d ' ' -f 1 "$file.sha256")" ] ||
  fail "$file is not what backup.sh has written: its SHA-256 differs"

# The objects that would be in the way: without parts of extensions, and without objects that are dropped with their
# table. Schema `public` itself may belong to another role, and stays with its privileges.
objects="
  SELECT CASE relkind WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW' WHEN 'f' THEN 'FOREIGN TABLE'
    WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END AS kind, oid::regclass::text AS name
  FROM pg_class
  WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
    AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = pg_class.oid
      AND (deptype IN ('e', 'i') OR relkind = 'S' AND deptype = 'a'))
  UNION ALL
  SELECT 'ROUTINE', oid::regprocedure::text
  FROM pg_proc
  WHERE pronamespace = 'public'::regnamespace
    AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_proc'::regclass AND objid = pg_proc.oid
      AND deptype IN ('e', 'i'))"

use_database "$DATABASE_URL"
user=$(ask --command='SELECT current_user') || fail "the database can't be used"
count=$(ask --command="SELECT count(*) FROM ($objects) AS objects")
if [ "$count" != 0 ]; then
  [ -n "$force" ] || fail 'the database is not empty; --force deletes what is in it'
  refuse_in_use
fi

# Default privileges belong to a role, so those of other roles are left out.
contents=$(pg_restore --list "$file" | awk -v user="$user" '!/ DEFAULT ACL / || $NF == user') ||
  fail "$file can't be read"

script() {
  echo 'BEGIN; SET LOCAL client_min_messages = warning;'
  echo "SELECT format('DROP %s IF EXISTS %s CASCADE', kind, name) FROM ($objects) AS objects \\gexec"
  pg_restore "${options[@]}" --use-list=<(echo "$contents") --file=- "$file" || return
  # A backup has no statistics, which the query planner needs.
  echo "SELECT format('ANALYZE %s', oid::regclass) FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'm') AND pg_has_role(relowner, 'USAGE') \\gexec"
  # Only a complete script reaches the COMMIT. Without it nothing is changed.
  echo 'COMMIT;'
}
script | ask --output=/dev/null || fail 'nothing was restored: the database is as it was'
echo "$file is restored"
