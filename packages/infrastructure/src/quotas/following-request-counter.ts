import {
  type BanPolicy,
  type CountedRequest,
  type Instant,
  NO_REFUSALS,
  NO_USAGE,
  type Verdict,
} from '@adoption-store/domain';
import type { DataSource } from 'typeorm';
import { instantFrom, milliseconds } from '../database/columns.js';
import { readPrepared } from '../database/prepared.js';
import { InProcessRequestCounter } from './in-process-request-counter.js';

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
      const [found] = await readPrepared<Found>(this.dataSource, FIND, ids);
      const [minuteStart = null, minuteUsed, dayStart = null, dayUsed, bannedAt = null, bannedUntil = null] =
        found ?? [];
      const usage = {
        minuteStart: instantFrom(minuteStart) ?? NO_USAGE.minuteStart,
        minuteUsed: Number(minuteUsed ?? 0),
        dayStart: instantFrom(dayStart) ?? NO_USAGE.dayStart,
        dayUsed: Number(dayUsed ?? 0),
      };
      const refusals = {
        ...NO_REFUSALS,
        bannedAt: instantFrom(bannedAt) ?? NO_REFUSALS.bannedAt,
        bannedUntil: instantFrom(bannedUntil) ?? NO_REFUSALS.bannedUntil,
      };
      this.remember(requester, { usage, refusals }, now);
    }
    return super.look(request);
  }
}
