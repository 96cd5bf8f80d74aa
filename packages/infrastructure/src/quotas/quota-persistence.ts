import {
  type AccountId,
  type ApiKeyId,
  type Clock,
  DAY,
  type Instant,
  instant,
  NO_REFUSALS,
  NO_USAGE,
} from '@adoption-store/domain';
import type { DataSource } from 'typeorm';
import { arrayOf, queryPrepared } from '../database/prepared.js';
import type { InProcessRequestCounter, LastingCounts } from './in-process-request-counter.js';

/** Milliseconds from one flush to the next: with the time a flush takes, what a SIGKILL can make forgotten. */
const FLUSH_INTERVAL = 500;

/**
 * Instances without a Redis count apart and share the rows: within a day, and within a minute, the highest count stays,
 * and of two bans the later. The joins drop what belongs to an account or key that is gone. Sorted, as two instances that lock the same
 * rows in different orders would wait for each other.
 */
const WRITE = {
  name: 'request counts write',
  text: `
  WITH counted AS (
    INSERT INTO request_counts AS stored (account_id, day_start, day_used, minute_start, minute_used)
    SELECT account_id, changed.day_start, changed.day_used, changed.minute_start, changed.minute_used
    FROM unnest($1::bigint[], $2::timestamptz[], $3::integer[], $4::timestamptz[], $5::integer[])
      AS changed (account_id, day_start, day_used, minute_start, minute_used)
    JOIN accounts ON accounts.id = account_id
    ORDER BY account_id
    ON CONFLICT (account_id) DO UPDATE SET
      day_start = excluded.day_start,
      day_used = CASE WHEN excluded.day_start = stored.day_start
        THEN GREATEST(excluded.day_used, stored.day_used) ELSE excluded.day_used END,
      minute_start = GREATEST(excluded.minute_start, stored.minute_start),
      minute_used = CASE
        WHEN excluded.minute_start < stored.minute_start THEN stored.minute_used
        WHEN excluded.minute_start = stored.minute_start THEN GREATEST(excluded.minute_used, stored.minute_used)
        ELSE excluded.minute_used END
    WHERE excluded.day_start >= stored.day_start
  )
  INSERT INTO key_bans AS stored (key_id, banned_at, banned_until)
  SELECT key_id, banned_at, banned_until
  FROM unnest($6::bigint[], $7::timestamptz[], $8::timestamptz[]) AS changed (key_id, banned_at, banned_until)
  JOIN api_keys ON api_keys.id = key_id
  ORDER BY key_id
  ON CONFLICT (key_id) DO UPDATE SET banned_at = excluded.banned_at, banned_until = excluded.banned_until
  WHERE excluded.banned_at > stored.banned_at`,
};

/** Keeps an in-process counter's days and bans in PostgreSQL, behind the requests' back: none of them waits for it. */
export class QuotaPersistence {
  private timer: NodeJS.Timeout | undefined;
  private flushing: Promise<void> = Promise.resolve();
  private isFailing = false;

  constructor(
    private readonly dataSource: DataSource,
    private readonly counter: InProcessRequestCounter,
    private readonly onEvent: (message: string) => void,
  ) {}

  /** Loads what still counts, and from now on keeps what changes. */
  async open(clock: Clock): Promise<void> {
    const now = clock.now();
    this.counter.restore(await this.load(now), now);
    this.schedule();
  }

  /** Writes what has changed. Never rejects: what can't be written now is written with the next flush. */
  async flush(): Promise<void> {
    this.flushing = this.flushing.then(() => this.write());
    return this.flushing;
  }

  /** Writes for the last time. */
  async close(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    await this.flush();
  }

  private schedule(): void {
    this.timer = setTimeout(() => void this.flush().then(() => this.timer?.refresh()), FLUSH_INTERVAL);
    this.timer.unref();
  }

  private async write(): Promise<void> {
    const changes = this.counter.takeChanges();
    if (changes.usages.size === 0 && changes.bans.size === 0) return;
    try {
      await queryPrepared(this.dataSource, WRITE, parametersOf(changes));
    } catch (error) {
      this.counter.putBack(changes);
      const reason = error instanceof Error ? error.message : String(error);
      if (!this.isFailing)
        this.onEvent(`Request counts can't be saved (${reason}); they are kept in memory until they can.`);
      this.isFailing = true;
      return;
    }
    if (this.isFailing) this.onEvent('Request counts are saved again.');
    this.isFailing = false;
  }

  private async load(now: Instant): Promise<LastingCounts> {
    const yesterday = new Date(now - DAY);
    const [counts, bans] = await Promise.all([
      this.dataSource.query<{ account_id: string; day_start: Date; day_used: number }[]>(
        'SELECT account_id, day_start, day_used FROM request_counts WHERE day_start > $1',
        [yesterday],
      ),
      this.dataSource.query<{ key_id: string; banned_at: Date; banned_until: Date }[]>(
        'SELECT key_id, banned_at, banned_until FROM key_bans WHERE GREATEST(banned_at, banned_until) > $1',
        [yesterday],
      ),
    ]);
    return {
      usages: new Map(
        counts.map(({ account_id, day_start, day_used }) => [
          BigInt(account_id) as AccountId,
          { ...NO_USAGE, dayStart: instantOf(day_start), dayUsed: day_used },
        ]),
      ),
      bans: new Map(
        bans.map(({ key_id, banned_at, banned_until }) => [
          BigInt(key_id) as ApiKeyId,
          { ...NO_REFUSALS, bannedAt: instantOf(banned_at), bannedUntil: instantOf(banned_until) },
        ]),
      ),
    };
  }
}

function parametersOf({ usages, bans }: LastingCounts): string[] {
  const [counts, refusals] = [[...usages.values()], [...bans.values()]];
  return [
    arrayOf([...usages.keys()]),
    textsOf(counts.map(({ dayStart }) => dayStart)),
    arrayOf(counts.map(({ dayUsed }) => dayUsed)),
    textsOf(counts.map(({ minuteStart }) => minuteStart)),
    arrayOf(counts.map(({ minuteUsed }) => minuteUsed)),
    arrayOf([...bans.keys()]),
    textsOf(refusals.map(({ bannedAt }) => bannedAt)),
    textsOf(refusals.map(({ bannedUntil }) => bannedUntil)),
  ];
}

/** Most are the same as the one before. */
function textsOf(times: readonly Instant[]): string {
  let [last = 0] = times;
  let text = new Date(last).toISOString();
  const texts = times.map((time) => {
    if (time !== last) text = new Date((last = time)).toISOString();
    return text;
  });
  return arrayOf(texts);
}

function instantOf(time: Date): Instant {
  return instant(time.getTime());
}
