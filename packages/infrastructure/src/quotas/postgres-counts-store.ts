import {
  type AccountId,
  type ApiKeyId,
  DAY,
  type Decision,
  type Instant,
  instant,
  type KeyRequester,
  later,
  MOST_SKEW,
  NO_REFUSALS,
  type Refusals,
  type Usage,
} from '@adoption-store/domain';
import type { DataSource } from 'typeorm';
import { Batch } from '../database/batch.js';
import { milliseconds } from '../database/columns.js';
import { deletePortions } from '../database/delete-portions.js';
import { queryPrepared, readPrepared } from '../database/prepared.js';
import { portionsOf, WriteBehind } from '../database/write-behind.js';

/** The counts of an account, and the refusals and bans of one of its keys. */
export type KeyCounts = Pick<Decision, 'usage' | 'refusals'>;

/** Milliseconds between flushes. Together with the duration of a flush, this bounds what a SIGKILL can lose. */
const FLUSH_EVERY = 500;
/** Accounts, and bans, in one statement, which has a time limit. */
const PORTION = 2_000;

const READ = {
  name: 'request counts read',
  text: `
  SELECT ${milliseconds('minute_start')}, minute_used, ${milliseconds('day_start')}, day_used,
    ${milliseconds('banned_at')}, ${milliseconds('banned_until')}
  FROM unnest($1::bigint[], $2::bigint[]) WITH ORDINALITY AS asked (account_id, key_id, place)
  LEFT JOIN request_counts USING (account_id) LEFT JOIN key_bans USING (key_id)
  ORDER BY place`,
};

/** A day, minute or ban that begins after this comes from a clock that ran ahead of the database's. */
const AHEAD = `now() + interval '${MOST_SKEW} milliseconds'`;

/**
 * Instances without Redis count separately but share the rows: within a day, and within a minute, the highest count is
 * kept, and the later of two bans. Days and bans that lie ahead are not stored, and stored ones are overwritten. The
 * database's clock decides that, so that an instance whose clock is behind can't reset the counts of the others. The
 * joins drop deleted accounts and keys. The rows are sorted, because two instances that lock them in different orders
 * could deadlock.
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
    WHERE changed.day_start <= ${AHEAD}
    ORDER BY account_id
    ON CONFLICT (account_id) DO UPDATE SET
      day_start = excluded.day_start,
      day_used = CASE WHEN excluded.day_start = stored.day_start
        THEN GREATEST(excluded.day_used, stored.day_used) ELSE excluded.day_used END,
      minute_start = CASE
        WHEN stored.minute_start <= ${AHEAD} THEN GREATEST(excluded.minute_start, stored.minute_start)
        ELSE excluded.minute_start END,
      minute_used = CASE
        WHEN excluded.minute_start = stored.minute_start THEN GREATEST(excluded.minute_used, stored.minute_used)
        WHEN excluded.minute_start < stored.minute_start AND stored.minute_start <= ${AHEAD} THEN stored.minute_used
        ELSE excluded.minute_used END
    WHERE excluded.day_start >= stored.day_start OR stored.day_start > ${AHEAD}
  )
  INSERT INTO key_bans AS stored (key_id, banned_at, banned_until)
  SELECT key_id, banned_at, banned_until
  FROM unnest($6::bigint[], $7::timestamptz[], $8::timestamptz[]) AS changed (key_id, banned_at, banned_until)
  JOIN api_keys ON api_keys.id = key_id
  WHERE banned_at <= ${AHEAD}
  ORDER BY key_id
  ON CONFLICT (key_id) DO UPDATE SET banned_at = excluded.banned_at, banned_until = excluded.banned_until
  WHERE excluded.banned_at > stored.banned_at OR stored.banned_at > ${AHEAD}`,
};

const COUNTS = { table: 'request_counts', time: 'day_start' };
/** A ban matters until it ends, and for a day for the length of the next one. */
const BANS = { table: 'key_bans', time: 'banned_at', where: "banned_until <= $1::timestamptz + interval '1 day'" };

/** Rows from a clock that was more than a day ahead. Nothing else deletes them for as long as it was ahead. */
const COUNTS_AHEAD = { ...COUNTS, where: "day_start > now() + interval '1 day'" };
const BANS_AHEAD = { ...BANS, where: "banned_at > now() + interval '1 day'" };
const ANY_TIME = instant(Date.UTC(9999, 0));

/** Stores daily counts and bans in PostgreSQL, so that they survive the process. */
export class PostgresCountsStore {
  private readonly reads = new Batch(
    async (requester: KeyRequester) => (await this.readAll([requester]))[0] ?? countsFrom([]),
    (requesters) => this.readAll(requesters),
  );
  private usages = new Map<AccountId, Usage>();
  private bans = new Map<ApiKeyId, Refusals>();
  private readonly writeBehind;

  constructor(
    private readonly dataSource: DataSource,
    onEvent: (message: string) => void,
  ) {
    this.writeBehind = new WriteBehind(
      {
        name: 'Request counts',
        delay: FLUSH_EVERY,
        take: () => this.take(),
        write: (portion) => queryPrepared(dataSource, WRITE, parametersOf(portion)),
        keep: ({ usages, bans }) => {
          for (const [accountId, usage] of usages) this.usages.set(accountId, usage);
          for (const [keyId, refusals] of bans) this.bans.set(keyId, refusals);
        },
      },
      onEvent,
    );
  }

  /** @throws DomainError `service_unavailable` */
  async read(requester: KeyRequester): Promise<KeyCounts> {
    return this.reads.add(requester);
  }

  /** Stores the counts soon. It returns at once and never fails. */
  store({ accountId, keyId }: KeyRequester, { usage, refusals }: KeyCounts): void {
    this.usages.set(accountId, usage);
    if (refusals.bannedAt > 0) this.bans.set(keyId, refusals);
    this.writeBehind.soon();
  }

  /** Deletes rows that no process reads from `now` on. Returns their number. */
  async purge(now: Instant): Promise<number> {
    // A day later than necessary, for instances whose clock is behind.
    const before = later(now, -2 * DAY);
    let deleted = 0;
    for (const rows of [COUNTS, BANS]) deleted += await deletePortions(this.dataSource, rows, before);
    for (const rows of [COUNTS_AHEAD, BANS_AHEAD]) deleted += await deletePortions(this.dataSource, rows, ANY_TIME);
    return deleted;
  }

  /** Writes the changes. It never rejects: changes that can't be written now are written at the next flush. */
  async flush(): Promise<void> {
    await this.writeBehind.flush();
  }

  /** Writes the rest. */
  async close(): Promise<void> {
    await this.writeBehind.close();
  }

  /** In the order of the requesters. @throws DomainError `service_unavailable` */
  async readAll(requesters: readonly KeyRequester[]): Promise<readonly KeyCounts[]> {
    const ids = [requesters.map(({ accountId }) => accountId), requesters.map(({ keyId }) => keyId)];
    const rows = await readPrepared(this.dataSource, READ, ids);
    return rows.map((row) => countsFrom(row.map(Number)));
  }

  private take(): Portion[] {
    const [usages, bans] = [portionsOf([...this.usages], PORTION), portionsOf([...this.bans], PORTION)];
    this.usages = new Map();
    this.bans = new Map();
    return Array.from({ length: Math.max(usages.length, bans.length) }, (_, index) => ({
      usages: usages[index] ?? [],
      bans: bans[index] ?? [],
    }));
  }
}

/** The changes that one statement writes. */
interface Portion {
  readonly usages: readonly (readonly [AccountId, Usage])[];
  readonly bans: readonly (readonly [ApiKeyId, Refusals])[];
}

/** @param row of READ. A null, where nothing is stored, becomes 0. */
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

function parametersOf({ usages, bans }: Portion): unknown[][] {
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
