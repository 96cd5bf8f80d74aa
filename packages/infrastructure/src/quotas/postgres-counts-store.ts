import {
  type AccountId,
  type ApiKeyId,
  DAY,
  type Decision,
  type Instant,
  instant,
  type KeyRequester,
  later,
  NO_REFUSALS,
  type Refusals,
  type Usage,
} from '@adoption-store/domain';
import type { DataSource } from 'typeorm';
import { Batch } from '../database/batch.js';
import { milliseconds } from '../database/columns.js';
import { deletePortions } from '../database/delete-portions.js';
import { WriteBehind } from '../database/write-behind.js';
import { queryPrepared, readPrepared } from '../database/prepared.js';

/** How an account and one of its keys stand. */
export type KeyCounts = Pick<Decision, 'usage' | 'refusals'>;

/** Milliseconds from one flush to the next: with the time a flush takes, what a SIGKILL can make forgotten. */
const FLUSH_EVERY = 500;
/** Accounts, and bans, of one statement, which has to end within its time limit. */
const PORTION = 5_000;

const READ = {
  name: 'request counts read',
  text: `
  SELECT ${milliseconds('minute_start')}, minute_used, ${milliseconds('day_start')}, day_used,
    ${milliseconds('banned_at')}, ${milliseconds('banned_until')}
  FROM unnest($1::bigint[], $2::bigint[]) WITH ORDINALITY AS asked (account_id, key_id, place)
  LEFT JOIN request_counts USING (account_id) LEFT JOIN key_bans USING (key_id)
  ORDER BY place`,
};

/**
 * Instances without a Redis count apart and share the rows: within a day, and within a minute, the highest count stays,
 * and of two bans the later. The joins drop what belongs to an account or key that is gone. Sorted, as two instances
 * that lock the same rows in different orders would wait for each other.
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

const COUNTS = { table: 'request_counts', time: 'day_start' };
/** A ban counts for as long as it lasts, and for a day towards the length of the next. */
const BANS = { table: 'key_bans', time: 'banned_at', where: "banned_until <= $1::timestamptz + interval '1 day'" };

/** Days and bans in PostgreSQL, where they outlive the process. */
export class PostgresCountsStore {
  private readonly reads = new Batch(
    async (requester: KeyRequester) => (await this.readAll([requester]))[0] ?? countsFrom([]),
    (requesters) => this.readAll(requesters),
  );
  private usages = new Map<AccountId, Usage>();
  private bans = new Map<ApiKeyId, Refusals>();
  private readonly writeBehind = new WriteBehind(() => this.flush(), FLUSH_EVERY);
  private isFailing = false;

  constructor(
    private readonly dataSource: DataSource,
    private readonly onEvent: (message: string) => void,
  ) {}

  /** @throws DomainError `service_unavailable` */
  async read(requester: KeyRequester): Promise<KeyCounts> {
    return this.reads.add(requester);
  }

  /** Stores soon how the account and the key stand. Nobody waits for it, and it never fails. */
  store({ accountId, keyId }: KeyRequester, { usage, refusals }: KeyCounts): void {
    this.usages.set(accountId, usage);
    if (refusals.bannedAt > 0) this.bans.set(keyId, refusals);
    this.writeBehind.soon();
  }

  /** Deletes what no process asks for anymore from `now` on; how many rows. */
  async purge(now: Instant): Promise<number> {
    // A day later than they end, for instances whose clock lags.
    const before = later(now, -2 * DAY);
    const counts = await deletePortions(this.dataSource, COUNTS, before);
    return counts + (await deletePortions(this.dataSource, BANS, before));
  }

  /** Writes what has changed. Never rejects: what can't be written now is written with the next flush. */
  async flush(): Promise<void> {
    const [usages, bans] = [[...this.usages], [...this.bans]];
    this.usages = new Map();
    this.bans = new Map();
    try {
      for (let start = 0; start < Math.max(usages.length, bans.length); start += PORTION) {
        const end = start + PORTION;
        await queryPrepared(this.dataSource, WRITE, parametersOf(usages.slice(start, end), bans.slice(start, end)));
      }
      if (this.isFailing) this.onEvent('Request counts are saved again.');
      this.isFailing = false;
    } catch (error) {
      // Also what has been written: to write it again changes nothing.
      this.usages = new Map([...usages, ...this.usages]);
      this.bans = new Map([...bans, ...this.bans]);
      this.writeBehind.soon();
      const reason = error instanceof Error ? error.message : String(error);
      if (!this.isFailing) {
        this.onEvent(`Request counts can't be saved (${reason}); they are kept in memory until they can.`);
      }
      this.isFailing = true;
    }
  }

  /** Writes for the last time. */
  async close(): Promise<void> {
    await this.writeBehind.close();
  }

  private async readAll(requesters: readonly KeyRequester[]): Promise<readonly KeyCounts[]> {
    const ids = [requesters.map(({ accountId }) => accountId), requesters.map(({ keyId }) => keyId)];
    const rows = await readPrepared(this.dataSource, READ, ids);
    return rows.map((row) => countsFrom(row.map(Number)));
  }
}

/** @param row as READ selects it. Null, where nothing is stored, is 0 here. */
function countsFrom([
  minuteStart = 0,
  minuteUsed = 0,
  dayStart = 0,
  dayUsed = 0,
  bannedAt = 0,
  bannedUntil = 0,
]: number[]) {
  return {
    usage: { minuteStart: instant(minuteStart), minuteUsed, dayStart: instant(dayStart), dayUsed },
    refusals: { ...NO_REFUSALS, bannedAt: instant(bannedAt), bannedUntil: instant(bannedUntil) },
  };
}

function parametersOf(usages: readonly [AccountId, Usage][], bans: readonly [ApiKeyId, Refusals][]): unknown[][] {
  return [
    usages.map(([accountId]) => accountId),
    usages.map(([, { dayStart }]) => new Date(dayStart)),
    usages.map(([, { dayUsed }]) => dayUsed),
    usages.map(([, { minuteStart }]) => new Date(minuteStart)),
    usages.map(([, { minuteUsed }]) => minuteUsed),
    bans.map(([keyId]) => keyId),
    bans.map(([, { bannedAt }]) => new Date(bannedAt)),
    bans.map(([, { bannedUntil }]) => new Date(bannedUntil)),
  ];
}
