/** Rows of each large table. */
export const ROWS = 20_000;

/**
 * One account has most of the rows, like a large partner, and another was opened late. Most available animals are among
 * the last, because earlier ones are sold.
 */
export const FILLS: readonly string[] = [
  `INSERT INTO accounts (email, plan, created_at)
  SELECT 'account-' || n || '@example.com', 'business', now() FROM generate_series(1, ${ROWS}) AS n`,
  `INSERT INTO api_keys (account_id, hash, ending, created_at, revoked_at, expires_at)
  SELECT CASE WHEN n % 10 = 0 THEN n ELSE 1 END, encode(sha256(n::text::bytea), 'hex'), 'abcd', now(),
    CASE WHEN n % 10 IN (1, 3, 5) THEN now() - n * interval '1 second' - (n % 1000 = 5)::integer * interval '500 days' END,
    CASE WHEN n % 10 IN (2, 4, 6, 7, 8, 9) THEN now() - n * interval '1 second' END
  FROM generate_series(1, ${ROWS}) AS n`,
  `INSERT INTO access_changes (transaction, account_id) SELECT '3', n FROM generate_series(1, ${ROWS}) AS n`,
  `INSERT INTO animals (name, name_key, category_id, status)
  SELECT 'Animal ' || n, 'animal ' || n, n % 20, CASE WHEN n % 1000 = 0 OR n > ${0.9 * ROWS} THEN 'available' ELSE 'sold' END FROM generate_series(1, ${ROWS}) AS n`,
  `INSERT INTO categories (id, name, name_key)
  SELECT n, 'Category ' || n, 'category ' || n FROM generate_series(1, ${ROWS}) AS n`,
  `INSERT INTO orders (account_id, animal_id, status, created_at, updated_at)
  SELECT CASE WHEN n > ${0.97 * ROWS} THEN 2 WHEN n % 10 = 0 THEN n ELSE 1 END, n, CASE WHEN n % 1000 = 0 THEN 'cancelled' ELSE 'completed' END, now(), now()
  FROM generate_series(1, ${ROWS}) AS n`,
  `INSERT INTO withdrawn_animals (id, name, category_id, status, withdrawn_at)
  SELECT -n, 'Animal ' || n, n % 20, 'sold', now() FROM generate_series(1, ${ROWS}) AS n`,
  `INSERT INTO messages (id, account_id, text, status, due_at, created_at)
  SELECT 'msg_' || n, CASE WHEN n % 10 = 0 THEN n ELSE 1 END, 'Hello',
    CASE WHEN n % 1000 = 0 THEN 'queued' WHEN n % 100 IN (2, 3) THEN 'failed' ELSE 'sent' END,
    now(), now() - CASE WHEN n % 100 = 1 THEN interval '100 days' ELSE interval '0' END
  FROM generate_series(1, ${ROWS}) AS n`,
  `INSERT INTO delivery_lines (account_id, queue, turn_at)
  SELECT n, CASE WHEN n % 1000 = 0 THEN 'messages' ELSE 'account_mails' END,
    CASE WHEN n % 100 = 0 THEN now() ELSE 'infinity' END
  FROM generate_series(1, ${ROWS}) AS n`,
  `INSERT INTO idempotency_records (account_id, key, fingerprint, answer, answered_at)
  SELECT CASE WHEN n % 10 = 0 THEN n ELSE 1 END, 'key-' || n, 'fingerprint', 'answer',
    now() - CASE WHEN n % 50 = 0 THEN interval '2 days' ELSE interval '0' END
  FROM generate_series(1, ${ROWS}) AS n`,
  `INSERT INTO password_resets (token_hash, account_id, expires_at, mail_id)
  SELECT encode(sha256(n::text::bytea), 'hex'), n, now() + CASE WHEN n % 50 = 0 THEN interval '-1 day' ELSE interval '30 days' END, 'mail-' || n
  FROM generate_series(1, ${ROWS}) AS n`,
  `INSERT INTO sign_ups (token_hash, email, expires_at)
  SELECT encode(sha256(n::text::bytea), 'hex'), n || '@example.org', now() + CASE WHEN n % 50 = 0 THEN interval '-1 day' ELSE interval '30 days' END
  FROM generate_series(1, ${ROWS}) AS n`,
  `INSERT INTO account_mails (id, account_id, kind, status, due_at, created_at, expires_at)
  SELECT 'mail_' || n, CASE WHEN n % 10 = 0 THEN n ELSE 1 END, 'reset',
    CASE WHEN n % 1000 = 0 THEN 'queued' ELSE 'sent' END, now() + interval '30 days', now(),
    now() + CASE WHEN n % 50 = 1 THEN interval '-1 day' ELSE interval '30 days' END
  FROM generate_series(1, ${ROWS}) AS n`,
  `INSERT INTO attempts (subject_hash, times, expires_at)
  SELECT encode(sha256(n::text::bytea), 'hex'), ARRAY[now()], now() + CASE WHEN n % 50 = 0 THEN interval '-1 day' ELSE interval '30 days' END
  FROM generate_series(1, ${ROWS}) AS n`,
  `INSERT INTO address_changes (token_hash, account_id, expires_at, mail_id)
  SELECT encode(sha256(n::text::bytea), 'hex'), n, now() + CASE WHEN n % 50 = 0 THEN interval '-1 day' ELSE interval '30 days' END, 'mail-' || n
  FROM generate_series(1, ${ROWS}) AS n`,
  `INSERT INTO sessions (sid, token_hash, account_id, credential_version, begun_at, used_at, expire)
  SELECT 'session-' || n, encode(sha256(n::text::bytea), 'hex'), n, 1, now(), now(),
    now() + CASE WHEN n % 50 = 0 THEN interval '-1 day' ELSE interval '30 days' END
  FROM generate_series(1, ${ROWS}) AS n`,
  `INSERT INTO request_counts (account_id, day_start, day_used)
  SELECT n, now() - CASE WHEN n % 50 = 0 THEN interval '5 days' ELSE interval '0' END, 1 FROM generate_series(1, ${ROWS}) AS n`,
  `INSERT INTO key_bans (key_id, banned_at, banned_until)
  SELECT n, at, at + interval '1 hour'
  FROM generate_series(1, ${ROWS}) AS n, LATERAL (
    SELECT now() - CASE WHEN n % 50 = 0 THEN interval '5 days' ELSE interval '0' END AS at
  ) AS ban`,
  `INSERT INTO usage_by_day (account_id, day, key_id, admitted, refused)
  SELECT 1 + n % 1000, current_date - n / 200, n, 1, 0 FROM generate_series(1, ${ROWS}) AS n`,
  `INSERT INTO usage_by_hour (account_id, hour, key_id, admitted, refused, last_at)
  SELECT 1 + n % 1000, date_trunc('hour', now()) - n % 52 * interval '1 hour', n, 1, 0, now() FROM generate_series(1, ${ROWS}) AS n`,
  `INSERT INTO failed_requests (account_id, key_id, operation, code, reason, status, at, count, request_ids)
  SELECT 1 + n % 1000, n, 'GET /v1/pets', 'not_found', 'reason ' || n, 404,
    now() - CASE WHEN n % 50 = 0 THEN interval '8 days' ELSE interval '0' END, 1, ARRAY['request-' || n]
  FROM generate_series(1, ${ROWS}) AS n`,
  `INSERT INTO event_outbox (account_id, type, data)
  SELECT CASE WHEN n % 2 = 0 THEN 0 ELSE 1 END, CASE WHEN n % 2 = 0 THEN 'pet.added' ELSE 'order.placed' END, '{}'
  FROM generate_series(1, ${ROWS}) AS n`,
  `INSERT INTO events (position, sequence, id, account_id, type, created_at, data)
  SELECT n, n, lpad(to_hex(n), 32, '0')::uuid, CASE WHEN n % 2 = 0 THEN 0 WHEN n % 10 = 1 THEN n ELSE 1 END,
    CASE WHEN n % 2 = 1 THEN 'order.placed' WHEN n % 1000 = 0 THEN 'pet.removed' ELSE 'pet.added' END,
    now() - CASE WHEN n <= 1500 THEN interval '31 days' ELSE interval '0' END, '{}'
  FROM generate_series(1, ${ROWS}) AS n`,
  // The few that are enabled want what doesn't happen here.
  `INSERT INTO webhooks (id, account_id, url, types, status, secret, secret_key, created_at, updated_at)
  SELECT 'whk_' || n, n, 'https://example.com', '{order.expired}', CASE WHEN n % 10000 = 0 THEN 'enabled' ELSE 'disabled' END,
    'secret', 'key', now(), now()
  FROM generate_series(1, ${ROWS}) AS n`,
  `INSERT INTO webhook_deliveries (webhook_id, position, status, created_at)
  SELECT 'whk_' || n % 20, CASE WHEN n % 20 > 0 THEN n END, CASE WHEN n % 1000 = 1 THEN 'queued' ELSE 'sent' END,
    now() - CASE WHEN n <= 1500 THEN interval '31 days' ELSE interval '0' END
  FROM generate_series(1, ${ROWS}) AS n`,
  `INSERT INTO deleted_webhooks (id) SELECT 'whk_gone_' || n FROM generate_series(1, ${ROWS}) AS n`,
  `INSERT INTO key_operations (key_id, operation, last_used_at)
  SELECT n, 'GET /v1/pets', now() - n * interval '1 second' FROM generate_series(1, ${ROWS}) AS n`,
];

/** Follows the fills: ids continue after the filled ones, and the planner knows the tables. */
export const FINISH = `
  SELECT setval(pg_get_serial_sequence(name, 'id'), ${ROWS}) FROM unnest(ARRAY['accounts', 'api_keys', 'animals', 'orders']) AS name;
  SELECT setval('category_ids', ${ROWS});
  UPDATE event_feed SET last_position = ${ROWS};
  ANALYZE`;
