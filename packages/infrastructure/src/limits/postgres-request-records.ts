import { readFromDatabase } from '../database/on-database.js';
import {
  type AccountId,
  type ApiKeyId,
  DAY,
  type Instant,
  instant,
  keptFailedRequests,
  later,
  type Outcomes,
  type PeriodOfUsage,
  type RecordedRequest,
  type RequestRecords,
  type ShownFailedRequests,
  type UsageOfKey,
  type UsageSpan,
} from '@adoption-store/domain';
import type { DataSource } from 'typeorm';
import { deletePortions } from '../database/delete-portions.js';
import { queryPrepared } from '../database/prepared.js';
import { type Portion, portionsOf, writeBehind } from '../database/write-behind.js';
import { UnwrittenRequests } from './unwritten-requests.js';
import {
  ADD_FAILED_REQUESTS,
  ADD_USAGE,
  TRIM_FAILED_REQUESTS,
  type Write,
  WRITE_OPERATIONS,
  WRITE_USES,
} from './write-requests.js';

const FLUSH_EVERY = 1_000;
/** Rows per statement, because a statement has a time limit. */
const PORTION = 2_000;
/** Accounts per statement. Each may have two hundred rows. */
const MOST_TRIMMED = 100;

/** The table of each span, the column of its start, and SQL for the start in Unix milliseconds. */
const TABLES = {
  hour: { table: 'usage_by_hour', time: 'hour', start: 'extract(epoch FROM hour) * 1000' },
  day: { table: 'usage_by_day', time: 'day', start: "extract(epoch FROM day::timestamp AT TIME ZONE 'UTC') * 1000" },
} as const;

const listOf = ({ table, time, start }: (typeof TABLES)[UsageSpan], condition: string) => `
  SELECT ${start} AS start, sum(admitted) AS admitted, sum(refused) AS refused FROM ${table}
  WHERE account_id = $1 AND ${time} >= $2 AND ${condition} GROUP BY ${table}.${time} ORDER BY ${table}.${time}`;
const SUM_BY_KEY = {
  hour: `
  SELECT key_id, sum(admitted) AS admitted, sum(refused) AS refused FROM usage_by_hour
  WHERE account_id = $1 AND hour >= $2 AND key_id = ANY($3::bigint[]) GROUP BY key_id ORDER BY key_id`,
  // One lookup per key: a single range might also read the rows of all other keys that the account ever had.
  day: `
  SELECT asked.key_id, used.admitted, used.refused
  FROM (SELECT DISTINCT unnest($3::bigint[]) AS key_id) AS asked
  CROSS JOIN LATERAL (
    SELECT sum(admitted) AS admitted, sum(refused) AS refused FROM usage_by_day
    WHERE key_id = asked.key_id AND day >= $2 AND account_id = $1
  ) AS used
  WHERE used.admitted IS NOT NULL ORDER BY key_id`,
};
const LAST_INCLUDED = `
  SELECT extract(epoch FROM max(last_at)) * 1000 AS last_at FROM usage_by_hour WHERE account_id = $1 AND hour >= $2`;

/** Deletes the hours of an account when it is closed. */
export const DELETE_HOURS = 'DELETE FROM usage_by_hour WHERE account_id = $1';

const LIST_FAILED_REQUESTS = `
  SELECT extract(epoch FROM at) * 1000 AS at, key_id, operation, status, code, reason, count, request_ids, name, ending
  FROM failed_requests JOIN api_keys ON api_keys.id = key_id
  WHERE failed_requests.account_id = $1`;

/** Deletes the failed requests of an account when it is closed. */
export const DELETE_FAILED_REQUESTS = 'DELETE FROM failed_requests WHERE account_id = $1';

/** A write whose response is lost is repeated. If it was executed, its requests are counted twice. */
export class PostgresRequestRecords implements RequestRecords {
  private readonly unwritten = new UnwrittenRequests();
  private readonly writes;

  constructor(
    private readonly dataSource: DataSource,
    onEvent: (message: string) => void,
  ) {
    const take = () => this.takePortions();
    this.writes = writeBehind({ name: 'Records of requests', delay: FLUSH_EVERY, take, onEvent });
  }

  /** Failed requests that were not recorded because too many waited to be written. */
  get droppedFailedRequests(): number {
    return this.unwritten.droppedFailedRequests;
  }

  record(request: RecordedRequest): void {
    this.unwritten.add(request);
    this.writes.soon();
  }

  async listUsage(
    accountId: AccountId,
    span: UsageSpan,
    from: Instant,
    keyId?: ApiKeyId,
  ): Promise<readonly PeriodOfUsage[]> {
    const [condition, more] = keyId === undefined ? ['true', []] : ['key_id = $3', [keyId]];
    const values = [accountId, new Date(from).toISOString(), ...more];
    const rows = await this.query<PeriodRow>(listOf(TABLES[span], condition), values);
    return rows.map((row) => ({ start: instant(Number(row.start)), ...outcomesFrom(row) }));
  }

  async sumUsageByKey(
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

  async purgeUsage(span: UsageSpan, before: Instant): Promise<number> {
    const { table, time } = TABLES[span];
    // `deletePortions` includes the given instant. A day is a date, so the last one to delete is the day before.
    return deletePortions(this.dataSource, { table, time }, later(before, span === 'day' ? -DAY : -1));
  }

  async listFailedRequests(accountId: AccountId): Promise<readonly ShownFailedRequests[]> {
    const rows = await this.query<FailedRequestsRow>(LIST_FAILED_REQUESTS, [accountId]);
    return keptFailedRequests(rows.map(failedRequestsFrom));
  }

  async purgeFailedRequests(before: Instant): Promise<number> {
    return deletePortions(this.dataSource, { table: 'failed_requests', time: 'at' }, later(before, -1));
  }

  /** Tries to write the rest. It never rejects. */
  async close(): Promise<void> {
    await this.writes.close();
  }

  private takePortions(): readonly Portion[] {
    const { unwritten } = this;
    const { uses, operations, hours, failedRequests } = unwritten.take();
    return [
      ...this.portionsOf(WRITE_USES, uses, unwritten.keepUse),
      ...this.portionsOf(ADD_USAGE, hours, unwritten.keepHour),
      ...this.portionsOf(WRITE_OPERATIONS, operations, unwritten.keepOperation),
      // Last, so that a failed request that can't be written never holds up what is counted.
      ...this.portionsOf(ADD_FAILED_REQUESTS, failedRequests, unwritten.keepFailedRequests),
      ...this.trimsOf(failedRequests.map(({ accountId }) => accountId)),
    ];
  }

  private portionsOf<Row>(write: Write<Row>, rows: readonly Row[], keep: (row: Row) => void): readonly Portion[] {
    return portionsOf(rows, PORTION).map((portion) => ({
      write: () => queryPrepared(this.dataSource, write, write.columnsOf(portion)),
      restore: () => {
        portion.forEach(keep);
      },
    }));
  }

  private trimsOf(accounts: readonly AccountId[]): readonly Portion[] {
    return portionsOf([...new Set(accounts)], MOST_TRIMMED).map((portion) => ({
      write: () => queryPrepared(this.dataSource, TRIM_FAILED_REQUESTS, [portion]),
      // The next write of these accounts does it.
      restore: () => undefined,
    }));
  }

  private query<Row>(text: string, values: unknown[]): Promise<Row[]> {
    return readFromDatabase(this.dataSource, () => this.dataSource.query<Row[]>(text, values));
  }
}

interface OutcomesRow {
  readonly admitted: string;
  readonly refused: string;
}

interface PeriodRow extends OutcomesRow {
  readonly start: string;
}

function outcomesFrom({ admitted, refused }: OutcomesRow): Outcomes {
  return { admitted: Number(admitted), refused: Number(refused) };
}

interface FailedRequestsRow extends Pick<ShownFailedRequests, 'operation' | 'status' | 'code'> {
  readonly at: string;
  readonly key_id: string;
  readonly reason: string;
  readonly count: string;
  readonly request_ids: readonly string[];
  readonly name: string | null;
  readonly ending: string;
}

function failedRequestsFrom(row: FailedRequestsRow): ShownFailedRequests {
  return {
    operation: row.operation,
    status: row.status,
    code: row.code,
    reason: row.reason === '' ? undefined : row.reason,
    at: instant(Number(row.at)),
    count: Number(row.count),
    requestIds: row.request_ids,
    keyId: BigInt(row.key_id) as ApiKeyId,
    key: { name: row.name ?? undefined, ending: row.ending },
  };
}
