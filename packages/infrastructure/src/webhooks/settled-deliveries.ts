import { type DeliveryAttempt, type DeliveryOutcome, type DueDelivery, KEPT_ATTEMPTS } from '@adoption-store/domain';
import type { DataSource } from 'typeorm';
import { Batch } from '../database/batch.js';
import { arraysOf, interval } from '../database/columns.js';
import { writeToDatabase } from '../database/transactions.js';
import type { Lazy } from '../kernel/lazy.js';
import type { DeliveryIds } from './delivery-ids.js';

/**
 * Stores the outcomes of attempts. Locks the deliveries in the order of their ids, so that two batches can't deadlock.
 */
const SETTLE = `
  WITH settled AS (
    SELECT * FROM unnest(
      $1::bigint[], $2::integer[], $3::text[], $4::double precision[], $5::bigint[], $6::smallint[], $7::integer[]
    ) AS settled (number, requeued, status, pause, attempted_at, response_status, duration)
  ), locked AS (
    SELECT id FROM webhook_deliveries WHERE id = ANY($1) ORDER BY id FOR NO KEY UPDATE
  )
  UPDATE webhook_deliveries AS delivery SET
    status = settled.status, response_status = settled.response_status,
    history = CASE WHEN jsonb_array_length(history) < ${KEPT_ATTEMPTS} THEN history ELSE history - 0 END
      || jsonb_build_array(jsonb_build_array(attempted_at, settled.response_status, duration)),
    failures = failures + CASE WHEN settled.status = 'sent' THEN 0 ELSE 1 END,
    due_at = coalesce(now() + ${interval('settled.pause')}, due_at)
  FROM settled JOIN locked ON locked.id = number
  WHERE delivery.id = number AND delivery.requeued = settled.requeued
    AND (delivery.status = 'queued' OR settled.status = 'sent')`;

interface Settled {
  readonly delivery: DueDelivery;
  readonly outcome: DeliveryOutcome;
  readonly attempt: DeliveryAttempt;
}

/** Stores the outcomes of attempts, those of all rounds of this process together. */
export class SettledDeliveries {
  private readonly batch = new Batch<Settled, void>(
    async (one) => this.store([one]),
    async (all) => {
      await this.store(all);
      return [];
    },
  );

  constructor(
    private readonly dataSource: DataSource,
    private readonly ids: Lazy<DeliveryIds>,
  ) {}

  async add(settled: Settled): Promise<void> {
    await this.batch.add(settled);
  }

  private async store(all: readonly Settled[]): Promise<void> {
    const ids = await this.ids.get();
    const rows = all.map(({ delivery, outcome, attempt }) => ({
      number: ids.numberOf(delivery.id),
      requeued: delivery.requeued,
      pause: undefined,
      ...outcome,
      ...attempt,
    }));
    const values = arraysOf(rows, 'number', 'requeued', 'status', 'pause', 'attemptedAt', 'responseStatus', 'duration');
    await writeToDatabase(this.dataSource, (manager) => manager.query(SETTLE, values));
  }
}
