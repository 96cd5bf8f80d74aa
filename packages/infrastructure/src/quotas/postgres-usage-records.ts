import {
  type AccountId,
  type ApiKeyId,
  DAY,
  HOUR,
  type Instant,
  instant,
  later,
  type Outcomes,
  type PeriodOfUsage,
  startOf,
  type UsageOfKey,
  type UsageRecords,
  type UsageSpan,
  type UsedKey,
} from '@adoption-store/domain';
import type { DataSource } from 'typeorm';
import { readFromDatabase } from '../database/database-errors.js';
import { deletePortions } from '../database/delete-portions.js';
import { queryPrepared } from '../database/prepared.js';
import { portionsOf, WriteBehind } from '../database/write-behind.js';
import type { Writable } from '../kernel/writable.js';

const FLUSH_EVERY = 1_000;
/** Hours of keys that wait for a write, about 10 MB. A further one isn't recorded. */
export const MOST_HELD = 50_000;
/** Hours of keys in one statement, which has a time limit. */
const PORTION = 2_000;

/**
 * The records of all instances are added up, by hour and by day. The join drops deleted keys. The rows are sorted,
 * because two instances that lock them in different orders could deadlock.
 */
const ADD = {
  name: 'usage add by hour and day',
  text: `
  WITH noted AS MATERIALIZED (
    SELECT account_id, key_id, hour, admitted, refused, last_at
    FROM unnest($1::bigint[], $2::timestamptz[], $3::bigint[], $4::bigint[], $5::timestamptz[])
      AS noted (key_id, hour, admitted, refused, last_at)
    JOIN api_keys ON api_keys.id = key_id
  ), by_hour AS (
    INSERT INTO usage_by_hour AS stored (account_id, hour, key_id, admitted, refused, last_at)
    SELECT account_id, hour, key_id, admitted, refused, last_at FROM noted ORDER BY key_id, hour
    ON CONFLICT (account_id, hour, key_id) DO UPDATE SET
      admitted = stored.admitted + excluded.admitted, refused = stored.refused + excluded.refused,
      last_at = greatest(stored.last_at, excluded.last_at)
  )
  INSERT INTO usage_by_day AS stored (account_id, day, key_id, admitted, refused)
  SELECT account_id, (hour AT TIME ZONE 'UTC')::date AS day, key_id, sum(admitted), sum(refused)
  FROM noted GROUP BY account_id, day, key_id ORDER BY key_id, day
  ON CONFLICT (account_id, day, key_id) DO UPDATE SET
    admitted = stored.admitted + excluded.admitted, refused = stored.refused + excluded.refused`,
};

/** The table of each span, its column of the start, and an expression for that in milliseconds. */
const TABLES = {
  hour: { table: 'usage_by_hour', time: 'hour', start: 'extract(epoch FROM hour) * 1000' },
  day: { table: 'usage_by_day', time: 'day', start: "extract(epoch FROM day::timestamp AT TIME ZONE 'UTC') * 1000" },
} as const;

const listOf = ({ table, time, start }: (typeof TABLES)[UsageSpan]) => `
  SELECT ${start} AS start, sum(admitted) AS admitted, sum(refused) AS refused FROM ${table}
  WHERE account_id = $1 AND ${time} >= $2 GROUP BY ${table}.${time} ORDER BY ${table}.${time}`;
const listOfKey = ({ table, time, start }: (typeof TABLES)[UsageSpan]) => `
  SELECT ${start} AS start, admitted, refused FROM ${table}
  WHERE account_id = $1 AND ${time} >= $2 AND key_id = $3 ORDER BY ${time}`;
const SUM_BY_KEY = {
  hour: `
  SELECT key_id, sum(admitted) AS admitted, sum(refused) AS refused FROM usage_by_hour
  WHERE account_id = $1 AND hour >= $2 AND key_id = ANY($3::bigint[]) GROUP BY key_id ORDER BY key_id`,
  // One query per key, however many other keys the account has had: in a single query PostgreSQL might read those too.
  day: `
  SELECT asked.key_id, used.admitted, used.refused
  FROM unnest($3::bigint[]) AS asked (key_id)
  CROSS JOIN LATERAL (
    SELECT sum(admitted) AS admitted, sum(refused) AS refused FROM usage_by_day
    WHERE key_id = asked.key_id AND day >= $2 AND account_id = $1
  ) AS used
  WHERE used.admitted IS NOT NULL ORDER BY key_id`,
};
const LAST_INCLUDED = `
  SELECT extract(epoch FROM max(last_at)) * 1000 AS last_at FROM usage_by_hour WHERE account_id = $1 AND hour >= $2`;

/** Deletes the hours of an account that is closed. */
export const DELETE_HOURS = 'DELETE FROM usage_by_hour WHERE account_id = $1';

/** The outcomes of one key in one hour. */
type HourOfKey = Writable<PeriodOfUsage & UsageOfKey & { lastAt: Instant }>;
type Hours = Map<Instant, Map<ApiKeyId, HourOfKey>>;

/** A write whose response is lost is repeated. If the database had done it, it counts twice. */
export class PostgresUsageRecords implements UsageRecords {
  /** Counts that are not yet written. */
  private hours: Hours = new Map();
  /** The number of its entries. */
  private held = 0;
  private readonly writeBehind;

  constructor(
    private readonly dataSource: DataSource,
    onEvent: (message: string) => void,
  ) {
    this.writeBehind = new WriteBehind(
      {
        name: 'Usage records',
        delay: FLUSH_EVERY,
        take: () => portionsOf(this.takeAll(), PORTION),
        write: (portion) => queryPrepared(dataSource, ADD, parametersOf(portion)),
        keep: (portion) => {
          for (const usage of portion) this.add(usage);
        },
      },
      onEvent,
    );
  }

  record({ keyId }: UsedKey, isAdmitted: boolean, at: Instant): void {
    const [admitted, refused] = isAdmitted ? [1, 0] : [0, 1];
    this.add({ keyId, start: startOf(HOUR, at), admitted, refused, lastAt: at });
    this.writeBehind.soon();
  }

  async list(
    accountId: AccountId,
    span: UsageSpan,
    from: Instant,
    keyId?: ApiKeyId,
  ): Promise<readonly PeriodOfUsage[]> {
    const values = [accountId, new Date(from).toISOString()];
    const rows = await (keyId === undefined
      ? this.query<OutcomesRow & { readonly start: string }>(listOf(TABLES[span]), values)
      : this.query<OutcomesRow & { readonly start: string }>(listOfKey(TABLES[span]), [...values, keyId]));
    return rows.map((row) => ({ start: instant(Number(row.start)), ...outcomesFrom(row) }));
  }

  async sumByKey(
    accountId: AccountId,
    span: UsageSpan,
    from: Instant,
    keys: readonly ApiKeyId[],
  ): Promise<readonly UsageOfKey[]> {
    const values = [accountId, new Date(from).toISOString(), keys];
    const rows = await this.query<OutcomesRow & { readonly key_id: string }>(SUM_BY_KEY[span], values);
    return rows.map((row) => ({ keyId: BigInt(row.key_id) as ApiKeyId, ...outcomesFrom(row) }));
  }

  async lastIncluded(accountId: AccountId, from: Instant): Promise<Instant | undefined> {
    const values = [accountId, new Date(from).toISOString()];
    const [row] = await this.query<{ readonly last_at: string | null }>(LAST_INCLUDED, values);
    const lastAt = row?.last_at ?? undefined;
    return lastAt === undefined ? undefined : instant(Number(lastAt));
  }

  async forget(span: UsageSpan, before: Instant): Promise<number> {
    const { table, time } = TABLES[span];
    // A day is stored as a date.
    return deletePortions(this.dataSource, { table, time }, later(before, span === 'day' ? -DAY : -1));
  }

  /** Tries to write the rest. */
  async close(): Promise<void> {
    await this.writeBehind.close();
  }

  private add(usage: HourOfKey): void {
    const keys = this.hours.get(usage.start) ?? new Map<ApiKeyId, HourOfKey>();
    const known = keys.get(usage.keyId);
    if (known !== undefined) {
      known.admitted += usage.admitted;
      known.refused += usage.refused;
      if (usage.lastAt > known.lastAt) known.lastAt = usage.lastAt;
    } else if (this.held < MOST_HELD) {
      this.held += 1;
      this.hours.set(usage.start, keys.set(usage.keyId, usage));
    }
  }

  private takeAll(): HourOfKey[] {
    const all = [...this.hours.values()].flatMap((keys) => [...keys.values()]);
    this.hours = new Map();
    this.held = 0;
    return all;
  }

  private query<Row>(text: string, values: unknown[]): Promise<Row[]> {
    return readFromDatabase(this.dataSource, () => this.dataSource.query<Row[]>(text, values));
  }
}

function parametersOf(usages: readonly HourOfKey[]): unknown[][] {
  return [
    usages.map(({ keyId }) => keyId),
    usages.map(({ start }) => new Date(start).toISOString()),
    usages.map(({ admitted }) => admitted),
    usages.map(({ refused }) => refused),
    usages.map(({ lastAt }) => new Date(lastAt).toISOString()),
  ];
}

interface OutcomesRow {
  readonly admitted: string;
  readonly refused: string;
}

function outcomesFrom({ admitted, refused }: OutcomesRow): Outcomes {
  return { admitted: Number(admitted), refused: Number(refused) };
}
