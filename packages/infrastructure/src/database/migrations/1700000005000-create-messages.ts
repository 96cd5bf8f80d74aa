import type { QueryRunner } from 'typeorm';

export class CreateMessages1700000005000 {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE messages (
        id text PRIMARY KEY,
        account_id bigint NOT NULL REFERENCES accounts (id),
        text text NOT NULL CHECK (char_length(text) BETWEEN 1 AND 4096),
        status text NOT NULL CHECK (status IN ('queued', 'sent', 'failed')),
        claims integer NOT NULL DEFAULT 0 CHECK (claims >= 0),
        failures integer NOT NULL DEFAULT 0 CHECK (failures >= 0),
        due_at timestamptz NOT NULL,
        created_at timestamptz NOT NULL
      )`);
    // Contains only the backlog, however many messages have been sent.
    await runner.query(`CREATE INDEX messages_due ON messages (due_at) WHERE status = 'queued'`);
    // The notification has no payload, because every role that can connect can listen. PostgreSQL merges equal
    // notifications of one transaction.
    await runner.query(`
      CREATE FUNCTION notify_message_queued() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        NOTIFY message_queued;
        RETURN NULL;
      END
      $$`);
    await runner.query(`
      CREATE TRIGGER messages_queued AFTER INSERT ON messages
      FOR EACH STATEMENT EXECUTE FUNCTION notify_message_queued()`);
  }
}
