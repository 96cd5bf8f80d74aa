import type { QueryRunner } from 'typeorm';

/** An account with queued jobs stands in a line, one for each queue, so that accounts take turns. */
export class CreateDeliveryLines1700000082520 {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE delivery_lines (
        account_id bigint REFERENCES accounts (id) ON DELETE CASCADE,
        queue text,
        turn_at timestamptz NOT NULL,
        PRIMARY KEY (account_id, queue)
      )`);
    await runner.query('CREATE INDEX delivery_lines_by_turn ON delivery_lines (queue, turn_at)');
    // If it is the account's turn already, its row isn't written: a claim would skip it until this transaction ends. The
    // key share keeps the account in line meanwhile, because a worker that takes it out locks the account FOR UPDATE.
    await runner.query(`
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
      $$`);
  }
}
