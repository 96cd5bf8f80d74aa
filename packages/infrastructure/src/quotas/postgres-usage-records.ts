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
import { WriteBehind } from '../database/write-behind.js';
import { queryPrepared } from '../database/prepared.js';
import type { Writable } from '../kernel/writable.js';

const FLUSH_EVERY = 1_000;
/** Keys of a day in one write. The usage of a further key before the write isn't recorded. */
const MOST_KEYS = 10_000;
/** Keys in one statement, which has a time limit. */
const PORTION = 2_000;

/**
 * The records of all instances are added up. The join drops deleted keys. The rows are sorted, because two instances
 * that lock them in different orders could deadlock.
 */
const ADD = {
  name: 'usage add',
  text: `
  INSERT INTO usage_by_day AS stored (account_id, day, key_id, admitted, refused)
  SELECT account_id, day, key_id, admitted, refused
  FROM unnest($1::bigint[], $2::date[], $3::bigint[], $4::bigint[]) AS noted (key_id, day, admitted, refused)
  JOIN api_keys ON api_keys.id = key_id
  ORDER BY key_id, day
  ON CONFLICT (account_id, day, key_id) DO UPDATE SET
    admitted = stored.admitted + excluded.admitted, refused = stored.refused + excluded.refused`,
};
const LIST_DAYS = `
  SELECT to_char(day, 'YYYY-MM-DD') AS day, sum(admitted) AS admitted, sum(refused) AS refused FROM usage_by_day
  WHERE account_id = $1 AND day >= $2 GROUP BY usage_by_day.day ORDER BY usage_by_day.day`;
// One query per key, however many other keys the account has had: in a single query PostgreSQL might read those too.
const LIST = `
  SELECT to_char(used.day, 'YYYY-MM-DD') AS day, key_id, admitted, refused
  FROM unnest(COALESCE($3::bigint[], ARRAY(SELECT id FROM api_keys WHERE account_id = $1))) AS asked (id)
  CROSS JOIN LATERAL (
    SELECT * FROM usage_by_day WHERE key_id = asked.id AND day >= $2 AND account_id = $1 OFFSET 0
  ) AS used
  ORDER BY used.day, key_id`;

type Days = Map<Instant, Map<ApiKeyId, Writable<KeyDayOfUsage>>>;

/** A write whose response is lost is repeated. If the database had done it, it counts twice. */
export class PostgresUsageRecords implements UsageRecords {
  /** Counts that are not yet written. */
  private days: Days = new Map();
  private readonly writeBehind = new WriteBehind(() => this.writeAll(), FLUSH_EVERY);

  constructor(private readonly dataSource: DataSource) {}

  record({ keyId }: UsedKey, isAdmitted: boolean, at: Instant): void {
    const usage = this.usageOf(keyId, startOf(DAY, at));
    if (isAdmitted) usage.admitted += 1;
    else usage.refused += 1;
    this.writeBehind.soon();
  }

  async listDays(accountId: AccountId, from: Instant): Promise<readonly DayOfUsage[]> {
    return (await this.query<DayRow>(LIST_DAYS, [accountId, dateOf(from)])).map(dayFrom);
  }

  async list(accountId: AccountId, from: Instant, keys?: readonly ApiKeyId[]): Promise<readonly KeyDayOfUsage[]> {
    const rows = await this.query<DayRow & { readonly key_id: string }>(LIST, [accountId, dateOf(from), keys]);
    return rows.map((row) => ({ ...dayFrom(row), keyId: BigInt(row.key_id) as ApiKeyId }));
  }

  async forget(before: Instant): Promise<number> {
    return deletePortions(this.dataSource, { table: 'usage_by_day', time: 'day' }, later(before, -DAY));
  }

  /** Tries to write the rest. */
  async close(): Promise<void> {
    await this.writeBehind.close();
  }

  private usageOf(keyId: ApiKeyId, day: Instant): Writable<KeyDayOfUsage> {
    const keys = this.days.get(day) ?? new Map<ApiKeyId, Writable<KeyDayOfUsage>>();
    const known = keys.get(keyId);
    if (known !== undefined) return known;
    const usage = { keyId, day, admitted: 0, refused: 0 };
    if (keys.size < MOST_KEYS) this.days.set(day, keys.set(keyId, usage));
    return usage;
  }

  private async writeAll(): Promise<void> {
    const unwritten = usagesOf(this.days);
    this.days = new Map();
    try {
      while (unwritten.length > 0) {
        await queryPrepared(this.dataSource, ADD, parametersOf(unwritten.slice(0, PORTION)));
        unwritten.splice(0, PORTION);
      }
    } catch {
      const since = usagesOf(this.days);
      this.days = new Map();
      for (const { keyId, day, admitted, refused } of [...unwritten, ...since]) {
        const usage = this.usageOf(keyId, day);
        usage.admitted += admitted;
        usage.refused += refused;
      }
      this.writeBehind.soon();
    }
  }

  private query<Row>(text: string, values: unknown[]): Promise<Row[]> {
    return readFromDatabase(this.dataSource, () => this.dataSource.query<Row[]>(text, values));
  }
}

function usagesOf(days: Days): KeyDayOfUsage[] {
  return [...days.values()].flatMap((keys) => [...keys.values()]);
}

function parametersOf(usages: readonly KeyDayOfUsage[]): unknown[][] {
  return [
    usages.map(({ keyId }) => keyId),
    usages.map(({ day }) => dateOf(day)),
    usages.map(({ admitted }) => admitted),
    usages.map(({ refused }) => refused),
  ];
}

interface DayRow {
  readonly day: string;
  readonly admitted: string;
  readonly refused: string;
}

function dayFrom({ day, admitted, refused }: DayRow): DayOfUsage {
  return { day: instant(Date.parse(day)), admitted: Number(admitted), refused: Number(refused) };
}

/** The UTC day in PostgreSQL's format. */
function dateOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
