import {
  type AccountId,
  type ApiKeyId,
  DAY,
  type DayOfUsage,
  type Instant,
  instant,
  type KeyDayOfUsage,
  later,
  startOf,
  type UsageRecords,
  type UsedKey,
} from '@adoption-store/domain';
import type { DataSource } from 'typeorm';
import { readFromDatabase } from '../database/database-errors.js';
import { deletePortions } from '../database/delete-portions.js';
import { Flusher } from '../database/flusher.js';
import { queryPrepared } from '../database/prepared.js';

const FLUSH_EVERY = 1_000;
/** Keys in one write; what a further one uses before it isn't recorded. */
const MOST_KEYS = 10_000;
/** Requests that are counted together. */
const COUNTED_TOGETHER = 4_096;

/**
 * Whatever instances have noted adds up. The join drops keys that are gone; sorted, as two instances that lock the same
 * rows in different orders would wait for each other.
 */
const ADD = {
  name: 'usage add',
  text: `
  INSERT INTO usage_by_day AS stored (account_id, day, key_id, admitted, refused)
  SELECT account_id, day, key_id, sum(admitted), sum(refused)
  FROM unnest($1::bigint[], $2::date[], $3::bigint[], $4::bigint[]) AS noted (key_id, day, admitted, refused)
  JOIN api_keys ON api_keys.id = key_id
  GROUP BY account_id, day, key_id
  ORDER BY key_id, day
  ON CONFLICT (account_id, day, key_id) DO UPDATE SET
    admitted = stored.admitted + excluded.admitted, refused = stored.refused + excluded.refused`,
};
const LIST_DAYS = `
  SELECT to_char(day, 'YYYY-MM-DD') AS day, sum(admitted) AS admitted, sum(refused) AS refused FROM usage_by_day
  WHERE account_id = $1 AND day >= $2 GROUP BY usage_by_day.day ORDER BY usage_by_day.day`;
const LIST_ALL = `
  SELECT to_char(day, 'YYYY-MM-DD') AS day, key_id, admitted, refused FROM usage_by_day
  WHERE account_id = $1 AND day >= $2 ORDER BY usage_by_day.day, key_id`;
// Key by key, however many others the account has had: asked for all at once, PostgreSQL may read those, too.
const LIST_KEYS = `
  SELECT to_char(used.day, 'YYYY-MM-DD') AS day, key_id, admitted, refused
  FROM unnest($3::bigint[]) AS asked (id) CROSS JOIN LATERAL (
    SELECT * FROM usage_by_day WHERE key_id = asked.id AND day >= $2 AND account_id = $1 OFFSET 0
  ) AS used
  ORDER BY used.day, key_id`;

/** What a key has used of a day since the last write. */
interface Noted {
  readonly keyId: ApiKeyId;
  readonly day: number;
  admitted: number;
  refused: number;
}

/**
 * A request costs an entry in a list. A write whose answer is lost is tried again: where the database had done it, it
 * counts twice.
 */
export class PostgresUsageRecords implements UsageRecords {
  private noted = new Map<ApiKeyId, Noted>();
  /** Keys whose requests were admitted today, a request each: what each has used is fetched from memory once for many. */
  private admitted: ApiKeyId[] = [];
  private today = 0;
  /** Of keys that have been used on another day meanwhile. */
  private earlier: Noted[] = [];
  private readonly flusher = new Flusher(() => this.writeAll(), FLUSH_EVERY);

  constructor(private readonly dataSource: DataSource) {}

  record({ keyId }: UsedKey, isAdmitted: boolean, at: Instant): void {
    const day = startOf(DAY, at);
    if (day !== this.today || this.admitted.length >= COUNTED_TOGETHER) this.countAdmitted();
    this.today = day;
    if (isAdmitted) this.admitted.push(keyId);
    else this.notedToday(keyId).refused += 1;
    this.flusher.soon();
  }

  async listDays(accountId: AccountId, from: Instant): Promise<readonly DayOfUsage[]> {
    const rows = await readFromDatabase(this.dataSource, () =>
      this.dataSource.query<DayRow[]>(LIST_DAYS, [accountId.toString(), dateOf(from)]),
    );
    return rows.map(dayFrom);
  }

  async list(accountId: AccountId, from: Instant, keys?: readonly ApiKeyId[]): Promise<readonly KeyDayOfUsage[]> {
    const which = [accountId.toString(), dateOf(from), ...(keys === undefined ? [] : [keys.map(String)])];
    const rows = await readFromDatabase(this.dataSource, () =>
      this.dataSource.query<(DayRow & { readonly key_id: string })[]>(keys === undefined ? LIST_ALL : LIST_KEYS, which),
    );
    return rows.map((row) => ({ ...dayFrom(row), keyId: BigInt(row.key_id) as ApiKeyId }));
  }

  async forget(before: Instant): Promise<number> {
    return deletePortions(this.dataSource, { table: 'usage_by_day', time: 'day' }, later(before, -DAY));
  }

  /** Writes what there is a last time, where that can be had. */
  async close(): Promise<void> {
    await this.flusher.close();
  }

  private countAdmitted(): void {
    const { admitted } = this;
    this.admitted = [];
    for (const keyId of admitted) this.notedToday(keyId).admitted += 1;
  }

  private notedToday(keyId: ApiKeyId): Noted {
    const before = this.noted.get(keyId);
    if (before?.day === this.today) return before;
    const noted = { keyId, day: this.today, admitted: 0, refused: 0 };
    if (before !== undefined) this.earlier.push(before);
    if (before !== undefined || this.noted.size < MOST_KEYS) this.noted.set(keyId, noted);
    return noted;
  }

  private async writeAll(): Promise<void> {
    this.countAdmitted();
    const batch = [...this.earlier, ...this.noted.values()];
    if (batch.length === 0) return;
    this.earlier = [];
    this.noted = new Map();
    try {
      await queryPrepared(this.dataSource, ADD, [
        batch.map(({ keyId }) => keyId),
        batch.map(({ day }) => dateOf(day)),
        batch.map(({ admitted }) => admitted),
        batch.map(({ refused }) => refused),
      ]);
    } catch {
      for (const each of batch) this.putBack(each);
      this.flusher.soon();
    }
  }

  private putBack(batched: Noted): void {
    const since = this.noted.get(batched.keyId);
    if (since === undefined) this.noted.set(batched.keyId, batched);
    else if (since.day === batched.day) {
      since.admitted += batched.admitted;
      since.refused += batched.refused;
    } else this.earlier.push(batched);
  }
}

interface DayRow {
  readonly day: string;
  readonly admitted: string;
  readonly refused: string;
}

function dayFrom({ day, admitted, refused }: DayRow): DayOfUsage {
  return { day: instant(Date.parse(day)), admitted: Number(admitted), refused: Number(refused) };
}

/** The UTC day, as PostgreSQL reads it. */
function dateOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
