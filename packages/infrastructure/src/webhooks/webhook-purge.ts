import type { Instant } from '@adoption-store/domain';
import type { DataSource } from 'typeorm';
import { deletePortions, inPortions } from '../database/delete-portions.js';
import { writeToDatabase } from '../database/transactions.js';

const PURGE_FORGOTTEN = `
  DELETE FROM webhook_deliveries WHERE ctid = ANY(ARRAY(
    SELECT ctid FROM webhook_deliveries
    WHERE position >= $1 AND position <= (SELECT purged_position FROM event_feed) ORDER BY position LIMIT $2
  )) RETURNING position`;

/** Deletes deliveries of deleted webhooks, and the row in `deleted_webhooks` once none of its deliveries is left. */
const PURGE_DELETED = `
  WITH gone AS MATERIALIZED (
    SELECT id FROM deleted_webhooks ORDER BY id LIMIT 100
  ), portion AS MATERIALIZED (
    SELECT delivery.ctid FROM gone, LATERAL (
      SELECT webhook_deliveries.ctid FROM webhook_deliveries
      WHERE (webhook_id, webhook_deliveries.id) > (gone.id, 0) AND webhook_id <= gone.id
      ORDER BY webhook_id, webhook_deliveries.id LIMIT $1
    ) AS delivery LIMIT $1
  ), deleted AS (
    DELETE FROM webhook_deliveries WHERE ctid = ANY(ARRAY(SELECT ctid FROM portion))
  ), noted AS (
    DELETE FROM deleted_webhooks WHERE id = ANY(ARRAY(SELECT id FROM gone WHERE (SELECT count(*) FROM portion) < $1))
    RETURNING id
  )
  SELECT (SELECT count(*) FROM portion)::integer AS deleted, (SELECT count(*) FROM noted)::integer AS notes`;

/** Deletes deliveries that nobody needs any more, in portions. */
export class WebhookPurge {
  constructor(private readonly dataSource: DataSource) {}

  async pings(createdUntil: Instant): Promise<number> {
    const pings = { table: 'webhook_deliveries', time: 'created_at', where: 'position IS NULL' };
    return deletePortions(this.dataSource, pings, createdUntil);
  }

  async forgotten(): Promise<number> {
    // Each portion begins at the position where the previous one ended, because that position may have more rows.
    let start = '0';
    const ofEvents = await inPortions(async (most) => {
      const [rows] = await this.write<[{ position: string }[]]>(PURGE_FORGOTTEN, [start, most]);
      start = rows.reduce((latest, { position }) => (BigInt(position) > BigInt(latest) ? position : latest), start);
      return rows.length;
    });
    return ofEvents + (await this.purgeDeleted());
  }

  private async purgeDeleted(): Promise<number> {
    let sum = 0;
    await inPortions(async (most) => {
      const [{ deleted, notes }] = await this.write<[{ deleted: number; notes: number }]>(PURGE_DELETED, [most]);
      sum += deleted;
      return deleted + notes;
    });
    return sum;
  }

  private async write<Rows>(text: string, values: unknown[]): Promise<Rows> {
    return writeToDatabase(this.dataSource, (manager) => manager.query<Rows>(text, values));
  }
}
