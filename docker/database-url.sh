# shellcheck shell=bash
# For backup.sh and restore.sh: $url, the database of DATABASE_URL without its password, which goes into PGPASSWORD,
# because everybody can read a command line.
url=$DATABASE_URL
if [[ $url =~ ^([a-z]+://[^:@/]*):([^@/]*)@(.*)$ ]]; then
  url="${BASH_REMATCH[1]}@${BASH_REMATCH[3]}"
  encoded=${BASH_REMATCH[2]//\\/\\\\}
  PGPASSWORD=$(printf '%b' "${encoded//%/\\x}")
  export PGPASSWORD
fi
