export const EVENTS = `
-- The events of a change wait here until they are published. Nearly every row is soon deleted, so the table is vacuumed
-- after few of them.
CREATE TABLE event_outbox (
  place bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT event_outbox_pkey PRIMARY KEY,
  -- Random, so that a cursor can tell whether a restored feed still has its event.
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  -- The account that receives it. 0: every account.
  account_id bigint NOT NULL DEFAULT 0,
  type text NOT NULL,
  -- Not now(): a change stores its events while it has the row of what it changes, and its transaction may have begun
  -- before another one that had the row first.
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- json keeps the text exactly.
  data json NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

CREATE TABLE events (
  -- Given under the lock of the feed's row, so positions become visible in ascending order.
  position bigint CONSTRAINT events_pkey PRIMARY KEY,
  id uuid NOT NULL,
  account_id bigint NOT NULL,
  type text NOT NULL,
  created_at timestamptz NOT NULL,
  data json NOT NULL,
  -- The number that receivers see. It is at least the clock's milliseconds, so that it goes on growing after a restore.
  sequence bigint NOT NULL
);
-- The next events of one type for one receiver are a range of this index. A page merges the ranges of its types.
CREATE INDEX events_by_receiver ON events (account_id, type, position);

-- One row. Its lock lets one transaction at a time publish.
CREATE TABLE event_feed (
  is_only_row boolean DEFAULT true
    CONSTRAINT event_feed_pkey PRIMARY KEY
    CONSTRAINT event_feed_is_only_row_check CHECK (is_only_row),
  last_position bigint NOT NULL DEFAULT 0,
  -- All events up to this position are deleted, or about to be.
  purged_position bigint NOT NULL DEFAULT 0,
  last_sequence bigint NOT NULL DEFAULT 0,
  -- The id of the event at purged_position, for cursors at exactly this place.
  purged_id uuid
);
INSERT INTO event_feed DEFAULT VALUES;

-- Where a new webhook begins to follow. STABLE: it only reads, so a statement needs to call it once.
CREATE FUNCTION event_feed_end() RETURNS bigint LANGUAGE sql STABLE
RETURN (SELECT last_position FROM event_feed);
`;
