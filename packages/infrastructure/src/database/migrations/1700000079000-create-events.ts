import type { QueryRunner } from 'typeorm';

export class CreateEvents1700000079000 {
  async up(runner: QueryRunner): Promise<void> {
    // The events of a change wait here until they are published. Nearly every row is soon deleted, so the table is vacuumed
    // after few of them. `json` keeps the text exactly.
    await runner.query(`
      CREATE TABLE event_outbox (
        place bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        id uuid NOT NULL DEFAULT gen_random_uuid(),
        account_id bigint NOT NULL DEFAULT 0,
        type text NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        data json NOT NULL
      ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000)`);
    await runner.query(`
      CREATE TABLE events (
        position bigint PRIMARY KEY,
        id uuid NOT NULL,
        account_id bigint NOT NULL,
        type text NOT NULL,
        created_at timestamptz NOT NULL,
        data json NOT NULL
      )`);
    await runner.query('CREATE INDEX events_by_receiver ON events (account_id, type, position)');
    await runner.query(`
      CREATE TABLE event_feed (
        is_only_row boolean PRIMARY KEY DEFAULT true CHECK (is_only_row),
        last_position bigint NOT NULL DEFAULT 0,
        purged_position bigint NOT NULL DEFAULT 0
      )`);
    await runner.query('INSERT INTO event_feed DEFAULT VALUES');
    // A decision needs the id of its new order, for the event. SECURITY DEFINER: the role of the services may not use this
    // sequence itself, only as the default of the column.
    await runner.query(`
      CREATE FUNCTION next_order_id() RETURNS bigint LANGUAGE sql VOLATILE SECURITY DEFINER
      RETURN nextval('orders_id_seq')`);
  }
}
