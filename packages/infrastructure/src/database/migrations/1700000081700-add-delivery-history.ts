import type { QueryRunner } from 'typeorm';

/** The last attempts of a delivery. Earlier attempts, and those of the previous version, aren't recorded. */
export class AddDeliveryHistory1700000081700 {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query("ALTER TABLE webhook_deliveries ADD COLUMN history jsonb NOT NULL DEFAULT '[]'");
  }
}
