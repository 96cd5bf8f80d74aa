/** Limits and usage, failed requests, and the answers that idempotency keys repeat. */
export const REQUESTS = `
-- The counts of the current minute and day, so that they survive the processes that count. The rows are updated
-- constantly. Free space in each page lets PostgreSQL update them without touching the index.
CREATE TABLE request_counts (
  account_id bigint
    CONSTRAINT request_counts_pkey PRIMARY KEY
    CONSTRAINT request_counts_account_id_fkey REFERENCES accounts (id) ON DELETE CASCADE,
  day_start timestamptz NOT NULL,
  day_used integer NOT NULL CONSTRAINT request_counts_day_used_check CHECK (day_used >= 0),
  -- Null until the first counts are stored.
  minute_start timestamptz,
  minute_used integer
) WITH (fillfactor = 50);
-- Finds counts of past days, to delete them. Updates of a day's counts don't change it, because the day stays the same.
CREATE INDEX request_counts_by_day ON request_counts (day_start);

-- The last ban of each key. It matters until it ends and, because it makes the next one longer, for a day from its
-- beginning.
CREATE TABLE key_bans (
  key_id bigint
    CONSTRAINT key_bans_pkey PRIMARY KEY
    CONSTRAINT key_bans_key_id_fkey REFERENCES api_keys (id) ON DELETE CASCADE,
  banned_at timestamptz NOT NULL,
  banned_until timestamptz NOT NULL,
  CONSTRAINT key_bans_check CHECK (banned_until > banned_at)
);
-- Finds bans that no longer matter, to delete them.
CREATE INDEX key_bans_by_time ON key_bans (banned_at);

-- Updated constantly, like request_counts.
CREATE TABLE usage_by_day (
  account_id bigint NOT NULL,
  -- In UTC.
  day date NOT NULL,
  key_id bigint NOT NULL CONSTRAINT usage_by_day_key_id_fkey REFERENCES api_keys (id) ON DELETE CASCADE,
  admitted bigint NOT NULL CONSTRAINT usage_by_day_admitted_check CHECK (admitted >= 0),
  refused bigint NOT NULL CONSTRAINT usage_by_day_refused_check CHECK (refused >= 0),
  CONSTRAINT usage_by_day_pkey PRIMARY KEY (account_id, day, key_id)
) WITH (fillfactor = 50);
-- Finds days that are no longer shown, to delete them.
CREATE INDEX usage_by_day_by_day ON usage_by_day (day);
-- Sums the usage of a few keys, and finds a key's rows when the key is deleted.
CREATE INDEX usage_by_day_by_key ON usage_by_day (key_id, day);

-- Updated constantly, like usage_by_day. No foreign key is needed: the hours are deleted long before their key.
CREATE TABLE usage_by_hour (
  account_id bigint NOT NULL,
  hour timestamptz NOT NULL,
  key_id bigint NOT NULL,
  admitted bigint NOT NULL CONSTRAINT usage_by_hour_admitted_check CHECK (admitted >= 0),
  refused bigint NOT NULL CONSTRAINT usage_by_hour_refused_check CHECK (refused >= 0),
  -- When the last counted request was made. It tells how fresh the usage is.
  last_at timestamptz NOT NULL,
  CONSTRAINT usage_by_hour_pkey PRIMARY KEY (account_id, hour, key_id)
) WITH (fillfactor = 50);
-- Finds hours that are no longer shown, to delete them.
CREATE INDEX usage_by_hour_by_hour ON usage_by_hour (hour);

-- Equal failed requests are one row. No foreign key is needed: closing an account deletes them, and the rest is deleted
-- after a week. Updated constantly, like the usage.
CREATE TABLE failed_requests (
  account_id bigint NOT NULL,
  key_id bigint NOT NULL,
  operation text NOT NULL,
  code text NOT NULL,
  -- Empty for none, so that equal failed requests are found: null equals nothing.
  reason text NOT NULL,
  status smallint NOT NULL,
  -- The last one.
  at timestamptz NOT NULL,
  count bigint NOT NULL CONSTRAINT failed_requests_count_check CHECK (count > 0),
  -- The last few, the newest first.
  request_ids text[] NOT NULL,
  CONSTRAINT failed_requests_pkey PRIMARY KEY (account_id, key_id, operation, code, reason)
) WITH (fillfactor = 70);
-- Finds failed requests that are older than a week, to delete them.
CREATE INDEX failed_requests_by_time ON failed_requests (at);

CREATE TABLE idempotency_records (
  account_id bigint NOT NULL CONSTRAINT idempotency_records_account_id_fkey REFERENCES accounts (id) ON DELETE CASCADE,
  key text NOT NULL CONSTRAINT idempotency_records_key_check CHECK (char_length(key) BETWEEN 1 AND 255),
  -- Of the request, so that the key can't be used for another one.
  fingerprint text NOT NULL,
  -- Only the transaction that creates a record sees it without an answer.
  answer text,
  answered_at timestamptz NOT NULL,
  CONSTRAINT idempotency_records_pkey PRIMARY KEY (account_id, key)
);
-- Finds records that have expired, to delete them.
CREATE INDEX idempotency_records_by_time ON idempotency_records (answered_at);
`;
