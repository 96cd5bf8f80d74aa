import {
  type AccountId,
  type ApiKeyId,
  DAY,
  type Decision,
  type Instant,
  instant,
  type KeyRequester,
  later,
  mergeRefusals,
  mergeUsage,
  NO_REFUSALS,
  NO_USAGE,
  type Refusals,
  type Transaction,
  type Usage,
} from '@adoption-store/domain';
import type { DataSource } from 'typeorm';
import { Batch } from '../database/batch.js';
import { arraysOf, milliseconds, timeOf } from '../database/columns.js';
import { deletePortions } from '../database/delete-portions.js';
import { lookUpPrepared, queryPrepared, type Statement } from '../database/prepared.js';
import { inTransaction } from '../database/transactions.js';
import { type Portion, portionsOf, writeBehind } from '../database/write-behind.js';

/** The counts of an account, and the refusals and bans of one of its keys. */
export type KeyCounts = Pick<Decision, 'usage' | 'refusals'>;

/** The usage of an account in memory. The latest is stored. */
export interface HeldUsage {
  usage: Usage;
  /** Whether it waits to be stored. */
  isChanged: boolean;
}

/** Milliseconds from a count to its flush. A SIGKILL loses at most the counts of this time and of one flush. */
const FLUSH_EVERY = 500;
/** The most accounts, and the most bans, in one transaction, because it has a time limit. */
const PORTION = 500;

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
 * Adds a row for each account and key that has none, so that it can be locked. Deleted accounts and keys get none. Rows
 * are always inserted and locked in the order of their ids: two instances with different orders could deadlock.
 */
const ADD_ROWS: Statement = {
  name: 'request counts add rows',
  text: `
  WITH counted AS (
    INSERT INTO request_counts (account_id, day_start, day_used)
    SELECT id, 'epoch', 0 FROM accounts WHERE id = ANY($1::bigint[]) ORDER BY id
    ON CONFLICT DO NOTHING
  )
  INSERT INTO key_bans (key_id, banned_at, banned_until)
  SELECT id, 'epoch', timestamptz 'epoch' + interval '1 second' FROM api_keys WHERE id = ANY($2::bigint[]) ORDER BY id
  ON CONFLICT DO NOTHING`,
};

const LOCK_COUNTS: Statement = {
  name: 'request counts lock',
  text: `
  SELECT account_id, ${milliseconds('now()')}, ${milliseconds('minute_start')}, minute_used,
    ${milliseconds('day_start')}, day_used
  FROM request_counts WHERE account_id = ANY($1::bigint[]) ORDER BY account_id FOR NO KEY UPDATE`,
};

const LOCK_BANS: Statement = {
  name: 'key bans lock',
  text: `
  SELECT key_id, ${milliseconds('now()')}, ${milliseconds('banned_at')}, ${milliseconds('banned_until')}
  FROM key_bans WHERE key_id = ANY($1::bigint[]) ORDER BY key_id FOR NO KEY UPDATE`,
};

const STORE: Statement = {
  name: 'request counts store',
  text: `
  WITH counted AS (
    UPDATE request_counts AS stored
    SET day_start = ${timeOf('merged.day_start')}, day_used = merged.day_used,
      minute_start = ${timeOf('merged.minute_start')}, minute_used = merged.minute_used
    FROM unnest($1::bigint[], $2::bigint[], $3::integer[], $4::bigint[], $5::integer[])
      AS merged (account_id, day_start, day_used, minute_start, minute_used)
    WHERE stored.account_id = merged.account_id
  )
  UPDATE key_bans AS stored
  SET banned_at = ${timeOf('merged.banned_at')}, banned_until = ${timeOf('merged.banned_until')}
  FROM unnest($6::bigint[], $7::bigint[], $8::bigint[]) AS merged (key_id, banned_at, banned_until)
  WHERE stored.key_id = merged.key_id`,
};

const COUNTS = { table: 'request_counts', time: 'day_start' };
/** A ban matters until it ends and, because it makes the next one longer, for a day from its beginning. */
const BANS = { table: 'key_bans', time: 'banned_at', where: "banned_until <= $1::timestamptz + interval '1 day'" };

/** Stores the counts and bans in PostgreSQL, so that they survive the process. */
export class PostgresCountsStore {
  private readonly reads = new Batch(
    async (requester: KeyRequester) =>
      (await this.readAll([requester]))[0] ?? { usage: NO_USAGE, refusals: NO_REFUSALS },
    (requesters) => this.readAll(requesters),
  );
  private usages = new Map<AccountId, HeldUsage>();
  private bans = new Map<ApiKeyId, Refusals>();
  private readonly writes;

  constructor(
    private readonly dataSource: DataSource,
    onEvent: (message: string) => void,
  ) {
    this.writes = writeBehind({ name: 'Request counts', delay: FLUSH_EVERY, take: () => this.take(), onEvent });
  }

  /** @throws DomainError `service_unavailable` */
  async read(requester: KeyRequester): Promise<KeyCounts> {
    return this.reads.add(requester);
  }

  /** Stores the counts soon. It returns at once and never fails. */
  store({ accountId, keyId }: KeyRequester, held: HeldUsage, refusals: Refusals): void {
    if (refusals.bannedAt > 0) this.bans.set(keyId, refusals);
    if (held.isChanged) return;
    this.keep(accountId, held);
    this.writes.soon();
  }

  /** Deletes rows that no process reads from `now` on. Returns their number. */
  async purge(now: Instant): Promise<number> {
    // A day later than necessary, for instances whose clock is behind.
    const before = later(now, -2 * DAY);
    let deleted = 0;
    for (const rows of [COUNTS, BANS]) deleted += await deletePortions(this.dataSource, rows, before);
    return deleted;
  }

  /** Writes the changes. It never rejects: what can't be written now is written by the next flush. */
  async flush(): Promise<void> {
    await this.writes.now();
  }

  /** Tries to write the rest. It never rejects. */
  async close(): Promise<void> {
    await this.writes.close();
  }

  /** In the order of the requesters. @throws DomainError `service_unavailable` */
  async readAll(requesters: readonly KeyRequester[]): Promise<readonly KeyCounts[]> {
    const rows = await lookUpPrepared(this.dataSource, READ, arraysOf(requesters, 'accountId', 'keyId'));
    return rows.map((row) => {
      const numbers = row.map(Number);
      return { usage: usageFrom(numbers), refusals: refusalsFrom(numbers.slice(4)) };
    });
  }

  private keep(accountId: AccountId, held: HeldUsage): void {
    held.isChanged = true;
    this.usages.set(accountId, held);
  }

  private take(): Portion[] {
    for (const held of this.usages.values()) held.isChanged = false;
    const [usages, bans] = [portionsOf([...this.usages], PORTION), portionsOf([...this.bans], PORTION)];
    this.usages = new Map();
    this.bans = new Map();
    return Array.from({ length: Math.max(usages.length, bans.length) }, (_, index) => {
      const counts = { usages: usages[index] ?? [], bans: bans[index] ?? [] };
      return {
        write: () => inTransaction(this.dataSource, (_, transaction) => this.merge(counts, transaction)),
        restore: () => {
          for (const [accountId, held] of counts.usages) this.keep(accountId, held);
          for (const [keyId, refusals] of counts.bans) this.bans.set(keyId, refusals);
        },
      };
    });
  }

  /**
   * Instances without Redis count separately but share the rows, so each merges its own counts into them. The database's
   * clock decides which of two clocks is wrong.
   */
  private async merge({ usages, bans }: Counts, transaction: Transaction): Promise<void> {
    const query = (statement: Statement, columns: unknown[][]) =>
      queryPrepared<readonly unknown[]>(this.dataSource, statement, columns, transaction);
    const [accounts, keys] = [new Map(usages), new Map(bans)];
    await query(ADD_ROWS, [[...accounts.keys()], [...keys.keys()]]);
    const counted = (await query(LOCK_COUNTS, [[...accounts.keys()]])).map((row) => {
      const [now = 0, ...numbers] = row.slice(1).map(Number);
      const [accountId, stored] = [row[0] as AccountId, usageFrom(numbers)];
      return { accountId, ...mergeUsage(stored, accounts.get(accountId)?.usage ?? stored, instant(now)) };
    });
    const banned = (await query(LOCK_BANS, [[...keys.keys()]])).map((row) => {
      const [now = 0, ...numbers] = row.slice(1).map(Number);
      const [keyId, stored] = [row[0] as ApiKeyId, refusalsFrom(numbers)];
      return { keyId, ...mergeRefusals(stored, keys.get(keyId) ?? stored, instant(now)) };
    });
    // The merge drops a ban that begins in the future. Its row stays until it is purged.
    const real = banned.filter(({ bannedAt }) => bannedAt > 0);
    await query(STORE, [
      ...arraysOf(counted, 'accountId', 'dayStart', 'dayUsed', 'minuteStart', 'minuteUsed'),
      ...arraysOf(real, 'keyId', 'bannedAt', 'bannedUntil'),
    ]);
  }
}

interface Counts {
  readonly usages: readonly (readonly [AccountId, HeldUsage])[];
  readonly bans: readonly (readonly [ApiKeyId, Refusals])[];
}

/** A number that isn't stored is null in SQL, which `Number` has turned into 0. */
function usageFrom([minuteStart = 0, minuteUsed = 0, dayStart = 0, dayUsed = 0]: number[]): Usage {
  return { minuteStart: instant(minuteStart), minuteUsed, dayStart: instant(dayStart), dayUsed };
}

function refusalsFrom([bannedAt = 0, bannedUntil = 0]: number[]): Refusals {
  return { ...NO_REFUSALS, bannedAt: instant(bannedAt), bannedUntil: instant(bannedUntil) };
}
