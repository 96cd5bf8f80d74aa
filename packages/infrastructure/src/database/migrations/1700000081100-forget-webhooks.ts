import type { QueryRunner } from 'typeorm';

export class ForgetWebhooks1700000081100 {
  async up(runner: QueryRunner): Promise<void> {
    // How often its owner has had a delivery queued again: the outcome of an attempt from before doesn't count.
    await runner.query('ALTER TABLE webhook_deliveries ADD COLUMN requeued integer NOT NULL DEFAULT 0');
    // Webhooks whose deliveries are still to be deleted.
    await runner.query(`
      CREATE TABLE deleted_webhooks (
        id text PRIMARY KEY,
        deleted_at timestamptz NOT NULL DEFAULT now()
      ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000)`);
  }
}
