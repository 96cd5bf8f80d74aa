import type { QueryRunner } from 'typeorm';

export class CreateWebhooks1700000080000 {
  async up(runner: QueryRunner): Promise<void> {
    // Each turn of a webhook changes its row.
    await runner.query(`
      CREATE TABLE webhooks (
        id text PRIMARY KEY,
        account_id bigint NOT NULL REFERENCES accounts (id),
        url text NOT NULL,
        types text[],
        description text,
        status text NOT NULL CHECK (status IN ('enabled', 'disabled')),
        secret text NOT NULL,
        previous_secret text,
        previous_until timestamptz,
        created_at timestamptz NOT NULL,
        updated_at timestamptz NOT NULL,
        turns integer NOT NULL DEFAULT 0,
        turn_at timestamptz NOT NULL DEFAULT 'infinity',
        busy_until timestamptz NOT NULL DEFAULT now(),
        failed_turns integer NOT NULL DEFAULT 0,
        failing_since timestamptz
      ) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000)`);
    await runner.query('CREATE INDEX webhooks_by_account ON webhooks (account_id, created_at)');
    await runner.query(`CREATE INDEX webhooks_by_turn ON webhooks (turn_at) WHERE status = 'enabled'`);
    // Nothing refers to webhooks or events, so that a webhook with millions of deliveries can be deleted at once, and events
    // are published and purged without a look at each row. The deliveries of a webhook go with their events.
    await runner.query(`
      CREATE TABLE webhook_deliveries (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        webhook_id text NOT NULL,
        position bigint,
        status text NOT NULL DEFAULT 'queued' CHECK (status IN ('queued', 'sent', 'failed')),
        failures integer NOT NULL DEFAULT 0 CHECK (failures >= 0),
        response_status smallint,
        due_at timestamptz NOT NULL DEFAULT now(),
        created_at timestamptz NOT NULL DEFAULT now(),
        UNIQUE (position, webhook_id)
      )`);
    await runner.query('CREATE INDEX webhook_deliveries_by_webhook ON webhook_deliveries (webhook_id, id)');
    await runner.query(`
      CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook_id, due_at) WHERE status = 'queued'`);
    await runner.query('CREATE INDEX webhook_pings ON webhook_deliveries (created_at) WHERE position IS NULL');
    await runner.query('ALTER TABLE account_mails DROP CONSTRAINT account_mails_kind_check');
    await runner.query(`
      ALTER TABLE account_mails ADD CONSTRAINT account_mails_kind_check
      CHECK (kind IN ('reset', 'proof', 'change', 'changed', 'webhook')) NOT VALID`);
  }
}
