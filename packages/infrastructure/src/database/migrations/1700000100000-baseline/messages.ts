/** Messages, the service's own mails, and the lines in which accounts wait for both. */
export const MESSAGES = `
-- An account with queued jobs stands in a line, one for each queue, so that accounts take turns.
CREATE TABLE delivery_lines (
  account_id bigint CONSTRAINT delivery_lines_account_id_fkey REFERENCES accounts (id) ON DELETE CASCADE,
  -- The table of its jobs.
  queue text,
  -- Never later than its first job is due. Infinity if it has none.
  turn_at timestamptz NOT NULL,
  CONSTRAINT delivery_lines_pkey PRIMARY KEY (account_id, queue)
);
-- A claim reads the accounts whose turn it is.
CREATE INDEX delivery_lines_by_turn ON delivery_lines (queue, turn_at);

-- If it is the account's turn already, its row isn't written: a claim would skip it until this transaction ends. The
-- key share keeps the account in line meanwhile, because a worker that takes it out locks the account FOR UPDATE.
CREATE FUNCTION join_delivery_line() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  joined_at timestamptz := greatest(NEW.due_at, now());
BEGIN
  IF TG_OP = 'UPDATE' AND OLD.status = 'queued' AND NEW.due_at >= OLD.due_at THEN
    RETURN NULL;
  END IF;
  PERFORM FROM accounts WHERE id = NEW.account_id FOR KEY SHARE;
  IF NOT EXISTS (
    SELECT FROM delivery_lines AS line
    WHERE line.account_id = NEW.account_id AND queue = TG_TABLE_NAME AND turn_at <= joined_at
  ) THEN
    INSERT INTO delivery_lines AS line (account_id, queue, turn_at)
    VALUES (NEW.account_id, TG_TABLE_NAME, joined_at)
    ON CONFLICT (account_id, queue) DO UPDATE SET turn_at = least(line.turn_at, joined_at);
  END IF;
  RETURN NULL;
END
$$;

CREATE TABLE messages (
  id text CONSTRAINT messages_pkey PRIMARY KEY,
  account_id bigint NOT NULL CONSTRAINT messages_account_id_fkey REFERENCES accounts (id),
  text text NOT NULL CONSTRAINT messages_text_check CHECK (char_length(text) BETWEEN 1 AND 4096),
  status text NOT NULL CONSTRAINT messages_status_check CHECK (status IN ('queued', 'sent', 'failed')),
  -- How often a worker has claimed it. It tells an earlier claim from a later one.
  claims integer NOT NULL DEFAULT 0 CONSTRAINT messages_claims_check CHECK (claims >= 0),
  failures integer NOT NULL DEFAULT 0 CONSTRAINT messages_failures_check CHECK (failures >= 0),
  -- While it is claimed: when the claim expires.
  due_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL,
  -- Those of the request that queued it, for the delivery's trace and log.
  traceparent text,
  request_id text
);
-- Tells how many are queued, up to a limit, and the oldest of them. Contains only the backlog, however many were sent.
CREATE INDEX messages_due ON messages (due_at) WHERE status = 'queued';
-- A claim takes the longest due message of an account, and a new message is counted among its account's queued ones.
CREATE INDEX messages_waiting ON messages (account_id, due_at) WHERE status = 'queued';
-- Finds old messages that nobody will send again, to delete them.
CREATE INDEX messages_settled ON messages (created_at) WHERE status <> 'queued';
-- A page of an account's messages is a range of this index.
CREATE INDEX messages_by_account ON messages (account_id, created_at, id);
-- A page of all accounts' failed messages, for the operator.
CREATE INDEX messages_failed ON messages (created_at, id) WHERE status = 'failed';
CREATE TRIGGER messages_in_turn AFTER INSERT OR UPDATE OF due_at, status ON messages
  FOR EACH ROW WHEN (NEW.status = 'queued') EXECUTE FUNCTION join_delivery_line();

-- The service's own mails. The table has no tokens: a token is created when its mail is sent.
CREATE TABLE account_mails (
  id text CONSTRAINT account_mails_pkey PRIMARY KEY,
  -- Null in a mail to somebody who signs up, and only there.
  account_id bigint CONSTRAINT account_mails_account_id_fkey REFERENCES accounts (id) ON DELETE CASCADE,
  kind text NOT NULL CONSTRAINT account_mails_kind_check CHECK (kind IN (
    'reset', 'change', 'sign-up', 'password', 'recovered', 'key', 'rotated', 'changed', 'closed', 'more', 'webhook'
  )),
  status text NOT NULL CONSTRAINT account_mails_status_check CHECK (status IN ('queued', 'sent', 'failed', 'dropped')),
  -- As in messages.
  claims integer NOT NULL DEFAULT 0 CONSTRAINT account_mails_claims_check CHECK (claims >= 0),
  failures integer NOT NULL DEFAULT 0 CONSTRAINT account_mails_failures_check CHECK (failures >= 0),
  due_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL,
  -- From then on it isn't sent any more, and its link doesn't work.
  expires_at timestamptz NOT NULL,
  -- The recipient, if it isn't the account's address.
  address text,
  -- The URL and the description of a webhook, the name of a key, or how many changes more.
  about text,
  CONSTRAINT account_mails_account_check CHECK ((account_id IS NULL) = (kind = 'sign-up'))
);
-- Tells how many are queued, and finds the due mails of those who sign up, who stand in no account's line.
CREATE INDEX account_mails_due ON account_mails (due_at) WHERE status = 'queued';
-- A claim takes the longest due mail of an account.
CREATE INDEX account_mails_waiting ON account_mails (account_id, due_at) WHERE status = 'queued';
-- Finds mails that have ended and expired, to delete them.
CREATE INDEX account_mails_settled ON account_mails (expires_at) WHERE status <> 'queued';
-- An account's recent notices are counted, also those that were sent.
CREATE INDEX account_mails_recent ON account_mails (account_id, created_at);
CREATE TRIGGER account_mails_in_turn AFTER INSERT OR UPDATE OF due_at, status ON account_mails
  FOR EACH ROW WHEN (NEW.status = 'queued' AND NEW.account_id IS NOT NULL) EXECUTE FUNCTION join_delivery_line();
`;
