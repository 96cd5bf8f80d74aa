import {
  type EventPosition,
  type FeedEnd,
  type FollowerState,
  type Instant,
  instant,
  NEVER,
  type Transaction,
  type WebhookId,
} from '@adoption-store/domain';
import type { DataSource } from 'typeorm';
import { milliseconds } from '../database/columns.js';
import { queryPreparedObjects, type Statement } from '../database/prepared.js';

/** The columns of a recovery. Each is null without one. */
export interface RecoveryRow {
  readonly recoveringSince: bigint | null;
  readonly recoveryPosition: EventPosition | null;
  readonly recoveryEnd: EventPosition | null;
}

interface FollowerRow extends RecoveryRow {
  readonly feedPosition: EventPosition;
  readonly feedEnd: EventPosition;
  readonly now: bigint;
  readonly dueAt: number | null;
}

export const RECOVERY = `
  ${milliseconds('recovering_since')} AS "recoveringSince", recovery_position AS "recoveryPosition",
  recovery_end AS "recoveryEnd"`;

/**
 * Reads how far a webhook has followed the feed, after it was locked: a statement that waits for a lock doesn't see what
 * was stored meanwhile. A due time is rounded up, so that no round comes before its delivery.
 */
const READ_FOLLOWER: Statement = {
  name: 'webhooks follower',
  text: `
  SELECT feed_position AS "feedPosition", ${RECOVERY}, last_position AS "feedEnd", ${milliseconds('now()')} AS now, (
    SELECT ceil(extract(epoch FROM due_at) * 1000)::double precision FROM webhook_deliveries
    WHERE webhook_id = $1 AND status = 'queued' AND (position IS NULL OR position > purged_position)
    ORDER BY due_at LIMIT 1
  ) AS "dueAt"
  FROM webhooks, event_feed WHERE id = $1`,
};

/** A follower, and what the next round depends on besides. */
export interface StoredFollower extends FollowerState, FeedEnd {
  /** When the first queued delivery is due. */
  readonly dueAt: Instant | undefined;
}

/** @param id of a webhook that the transaction has locked. */
export async function readFollower(
  dataSource: DataSource,
  id: WebhookId,
  transaction: Transaction,
): Promise<StoredFollower> {
  const [row] = await queryPreparedObjects<FollowerRow>(dataSource, READ_FOLLOWER, [id], transaction);
  if (row === undefined) throw new Error('a locked webhook is gone');
  return {
    position: row.feedPosition,
    recovery: recoveryFrom(row),
    end: row.feedEnd,
    now: instant(Number(row.now)),
    dueAt: row.dueAt === null ? undefined : instant(row.dueAt),
  };
}

export function recoveryFrom({
  recoveringSince,
  recoveryPosition,
  recoveryEnd,
}: RecoveryRow): FollowerState['recovery'] {
  if (recoveryEnd === null) return undefined;
  const since = recoveringSince === null ? undefined : instant(Number(recoveringSince));
  return { since, after: recoveryPosition ?? undefined, end: recoveryEnd };
}

/** The time as a value of PostgreSQL. */
export function dateOf(at: Instant | undefined): Date | 'infinity' | null {
  if (at === undefined) return null;
  return at === NEVER ? 'infinity' : new Date(at);
}
