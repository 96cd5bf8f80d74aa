/** Nothing refers to webhooks or events, so that a webhook with millions of deliveries can be deleted at once. */
export const WEBHOOKS = `
-- Each round of deliveries changes the webhook's row; a turn is a round. Free space in each page lets PostgreSQL update
-- it in place, and the table is vacuumed after few updates.
CREATE TABLE webhooks (
  id text CONSTRAINT webhooks_pkey PRIMARY KEY,
  account_id bigint NOT NULL CONSTRAINT webhooks_account_id_fkey REFERENCES accounts (id),
  url text NOT NULL,
  -- Null means all types.
  types text[],
  description text,
  status text NOT NULL CONSTRAINT webhooks_status_check CHECK (status IN ('enabled', 'disabled')),
  -- Encrypted.
  secret text NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  -- How many rounds there were. It tells an earlier round from a later one.
  turns integer NOT NULL DEFAULT 0,
  -- When the next round is due. Infinity without any delivery.
  turn_at timestamptz NOT NULL DEFAULT 'infinity',
  -- The end of the round's lease.
  busy_until timestamptz NOT NULL DEFAULT now(),
  failed_turns integer NOT NULL DEFAULT 0,
  failing_since timestamptz,
  -- It has taken the events of the feed up to this position. Not called "position", which events have too.
  feed_position bigint NOT NULL DEFAULT event_feed_end(),
  -- It gets no event that happened before. One may be published later.
  follows_since timestamptz NOT NULL DEFAULT now(),
  -- The end of the pause after its last round.
  paused_until timestamptz NOT NULL DEFAULT '-infinity',
  -- Milliseconds that its last round took. Slow receivers wait longer for their next one.
  turn_took integer,
  attempted_at timestamptz,
  -- Events since then are delivered again. Those after recovery_position, up to recovery_end, are still to be looked at.
  -- The position is null until the begin is found.
  recovering_since timestamptz,
  recovery_position bigint,
  recovery_end bigint,
  -- A short hash of the key that has encrypted the secret. It tells when an old key is no longer needed.
  secret_key text NOT NULL,
  -- Replaced secrets, encrypted. Each signs beside the current one for a while.
  past_secrets jsonb NOT NULL DEFAULT '[]'
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
-- Lists and counts an account's webhooks.
CREATE INDEX webhooks_by_account ON webhooks (account_id, created_at);
-- A claim reads the webhooks that are due for longest.
CREATE INDEX webhooks_by_turn ON webhooks (turn_at) WHERE status = 'enabled';
-- A claim counts the open rounds of each account.
CREATE INDEX webhooks_by_lease ON webhooks (busy_until);

-- What was tried or is queued. It goes with its event, or with its webhook.
CREATE TABLE webhook_deliveries (
  id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT webhook_deliveries_pkey PRIMARY KEY,
  webhook_id text NOT NULL,
  -- The event's. Null for a ping.
  position bigint,
  status text NOT NULL DEFAULT 'queued'
    CONSTRAINT webhook_deliveries_status_check CHECK (status IN ('queued', 'sent', 'failed')),
  failures integer NOT NULL DEFAULT 0 CONSTRAINT webhook_deliveries_failures_check CHECK (failures >= 0),
  -- That of the last attempt. Null if the receiver didn't answer.
  response_status smallint,
  due_at timestamptz NOT NULL DEFAULT now(),
  created_at timestamptz NOT NULL DEFAULT now(),
  -- How often it was queued again. The outcome of an attempt from before doesn't count.
  requeued integer NOT NULL DEFAULT 0,
  -- The last attempts: when, the response's status, and how many milliseconds it took.
  history jsonb NOT NULL DEFAULT '[]',
  -- Reading an event twice sends nothing twice. By position first, so it also finds deliveries of purged events.
  CONSTRAINT webhook_deliveries_position_webhook_id_key UNIQUE (position, webhook_id)
);
-- A page of a webhook's deliveries is a range of this index. It also finds those of a deleted webhook.
CREATE INDEX webhook_deliveries_by_webhook ON webhook_deliveries (webhook_id, id);
-- Finds a webhook's due deliveries, and tells when the next one is due.
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook_id, due_at) WHERE status = 'queued';
-- Finds old pings, to delete them: no event takes them along.
CREATE INDEX webhook_pings ON webhook_deliveries (created_at) WHERE position IS NULL;

-- Webhooks whose deliveries are still to be deleted, by the worker. Nearly every row is soon deleted.
CREATE TABLE deleted_webhooks (
  id text CONSTRAINT deleted_webhooks_pkey PRIMARY KEY,
  deleted_at timestamptz NOT NULL DEFAULT now()
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
`;
