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

const milliseconds = (column: string) => `(extract(epoch FROM ${column}) * 1000)::bigint`;
const FIND = {
  name: 'follow_request_counts',
  text: `
    SELECT ${milliseconds('minute_start')}, minute_used, ${milliseconds('day_start')}, day_used,
      ${milliseconds('banned_at')}, ${milliseconds('banned_until')}
    FROM (VALUES ($1::bigint, $2::bigint)) AS asked (account_id, key_id)
    LEFT JOIN request_counts USING (account_id) LEFT JOIN key_bans USING (key_id)`,
};

type Found = readonly [
  minuteStart: string | null,
  minuteUsed: string | null,
  dayStart: string | null,
  dayUsed: string | null,
  bannedAt: string | null,
  bannedUntil: string | null,
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
      const [found] = await readFromDatabase(this.dataSource, () => queryPrepared<Found>(this.dataSource, FIND, ids));
      const [minuteStart, minuteUsed, dayStart, dayUsed, bannedAt, bannedUntil] = found ?? [];
      const usage = {
        minuteStart: instantOr(minuteStart, NO_USAGE.minuteStart),
        minuteUsed: Number(minuteUsed ?? 0),
        dayStart: instantOr(dayStart, NO_USAGE.dayStart),
        dayUsed: Number(dayUsed ?? 0),
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

function instantOr(time: string | null | undefined, otherwise: Instant): Instant {
  return time ? instant(Number(time)) : otherwise;
}
