#!/bin/sh
# Starts Alertmanager with the receivers that the environment names. Alertmanager itself reads no environment.
#
#   ALERT_EMAIL         receiver by e-mail; needs ALERT_SMTP (host:port) and ALERT_FROM, and may have
#                       ALERT_SMTP_LOGIN (user:password)
#   ALERT_WEBHOOK_URL   receiver by webhook (https://prometheus.io/docs/alerting/latest/configuration/#webhook_config)
#
# ALERTMANAGER is the program, CONFIG the file that is written. All arguments are passed on.
set -eu
config=${CONFIG:-/tmp/alertmanager.yml}

fail() {
  echo "alertmanager.sh: $1" >&2
  exit 78
}

# Quotes any value for YAML.
quoted() {
  printf "'%s'" "$(printf %s "$1" | sed "s/'/''/g")"
}

# The file contains a password.
umask 077
{
  cat <<'YAML'
route:
  receiver: operator
  group_by: [alertname]
  group_wait: 10s
  group_interval: 1m
  repeat_interval: 4h
# A lost PostgreSQL, and one that ends no commit, cause other alerts, which must not page again.
inhibit_rules:
  - source_matchers: ['alertname = PostgresqlLost']
    target_matchers: ['alertname =~ "(Proxy|Portal)?RequestsFail|RequestsSlow|Proxy(Backend|Server)Down|WorkerFails|DatabasePoolExhausted|MessagesWait|AccountMailsWait|EventsWait|BacklogUnknown"']
  - source_matchers: ['alertname = CommitsHang']
    target_matchers: ['alertname =~ "(Proxy|Portal)?RequestsFail|RequestsSlow|WorkerFails|DatabasePoolExhausted|MessagesWait|AccountMailsWait|EventsWait"']
receivers:
  - name: operator
YAML
  if [ -n "${ALERT_EMAIL:-}" ]; then
    [ -n "${ALERT_SMTP:-}" ] || fail 'ALERT_EMAIL needs ALERT_SMTP, the host:port of a mail server'
    [ -n "${ALERT_FROM:-}" ] || fail "ALERT_EMAIL needs ALERT_FROM, the sender's address"
    echo '    email_configs:'
    echo "      - to: $(quoted "$ALERT_EMAIL")"
    echo "        from: $(quoted "$ALERT_FROM")"
    echo "        smarthost: $(quoted "$ALERT_SMTP")"
    echo '        send_resolved: true'
    if [ -n "${ALERT_SMTP_LOGIN:-}" ]; then
      echo "        auth_username: $(quoted "${ALERT_SMTP_LOGIN%%:*}")"
      echo "        auth_password: $(quoted "${ALERT_SMTP_LOGIN#*:}")"
    else
      # A relay in the local network may not offer TLS; a password is never sent without it.
      echo '        require_tls: false'
    fi
  fi
  if [ -n "${ALERT_WEBHOOK_URL:-}" ]; then
    echo '    webhook_configs:'
    echo "      - url: $(quoted "$ALERT_WEBHOOK_URL")"
    echo '        send_resolved: true'
  fi
} >"$config"

[ -n "${ALERT_EMAIL:-}${ALERT_WEBHOOK_URL:-}" ] ||
  echo 'alertmanager.sh: alerts reach nobody: set ALERT_EMAIL or ALERT_WEBHOOK_URL' >&2
exec "${ALERTMANAGER:-alertmanager}" --config.file="$config" "$@"
