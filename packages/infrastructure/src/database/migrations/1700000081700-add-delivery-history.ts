import type { QueryRunner } from 'typeorm';

/** The last attempts of a delivery. Those of before, and of the version before, aren't in it. */
export class AddDeliveryHistory1700000081700 {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query("ALTER TABLE webhook_deliveries ADD COLUMN history jsonb NOT NULL DEFAULT '[]'");
  }
}
