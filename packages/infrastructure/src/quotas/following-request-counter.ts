import {
  type BanPolicy,
  type CountedRequest,
  type Instant,
  instant,
  NO_REFUSALS,
  NO_USAGE,
  type Verdict,
} from '@adoption-store/domain';
import type { DataSource } from 'typeorm';
import { readFromDatabase } from '../database/database-errors.js';
import { queryPrepared } from '../database/prepared.js';
import { InProcessRequestCounter } from './in-process-request-counter.js';

const FIND = `
  SELECT minute_start, minute_used, day_start, day_used, banned_at, banned_until
  FROM (VALUES ($1::bigint, $2::bigint)) AS asked (account_id, key_id)
  LEFT JOIN request_counts USING (account_id) LEFT JOIN key_bans USING (key_id)`;

type Found = readonly [
  minuteStart: Date | null,
  minuteUsed: number | null,
  dayStart: Date | null,
  dayUsed: number | null,
  bannedAt: Date | null,
  bannedUntil: Date | null,
];

/** Tells how accounts stand that other processes count, by what those have kept within the last second. */
export class FollowingRequestCounter extends InProcessRequestCounter {
  constructor(
    private readonly dataSource: DataSource,
    policy: BanPolicy,
    purgeKept: (now: Instant) => Promise<number>,
  ) {
    super(policy, purgeKept);
  }

  override async look(request: CountedRequest): Promise<Verdict> {
    const { requester, now } = request;
    if ('keyId' in requester) {
      const ids = [requester.accountId.toString(), requester.keyId.toString()];
      const [found] = await readFromDatabase(this.dataSource, () =>
        queryPrepared<Found>(this.dataSource, 'follow_request_counts', FIND, ids),
      );
      const [minuteStart, minuteUsed, dayStart, dayUsed, bannedAt, bannedUntil] = found ?? [];
      const usage = {
        minuteStart: instantOr(minuteStart, NO_USAGE.minuteStart),
        minuteUsed: minuteUsed ?? 0,
        dayStart: instantOr(dayStart, NO_USAGE.dayStart),
        dayUsed: dayUsed ?? 0,
      };
      const refusals = {
        ...NO_REFUSALS,
        bannedAt: instantOr(bannedAt, NO_REFUSALS.bannedAt),
        bannedUntil: instantOr(bannedUntil, NO_REFUSALS.bannedUntil),
      };
      this.remember(requester, { usage, refusals }, now);
    }
    return super.look(request);
  }
}

function instantOr(time: Date | null | undefined, otherwise: Instant): Instant {
  return time ? instant(time.getTime()) : otherwise;
}
