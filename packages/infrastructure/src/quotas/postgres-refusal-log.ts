import { randomInt } from 'node:crypto';
import {
  type AccountId,
  type ApiKeyId,
  type Instant,
  instant,
  later,
  MOST_REFUSALS,
  type Refusal,
  type RefusalLog,
  type ShownRefusal,
} from '@adoption-store/domain';
import type { DataSource } from 'typeorm';
import { readFromDatabase } from '../database/database-errors.js';
import { deletePortions } from '../database/delete-portions.js';
import { queryPrepared } from '../database/prepared.js';
import { portionsOf, WriteBehind } from '../database/write-behind.js';
import { RecentRefusals, type UnwrittenRefusal } from './recent-refusals.js';

const FLUSH_EVERY = 1_000;
/** Refusals in one statement, which has a time limit. */
const PORTION = 5_000;

/**
 * Adds refusals of open accounts, and deletes what each has beyond the last 100. The statement doesn't see its own
 * rows, so it keeps 100 less the added ones of those before. Rows that another instance is deleting are skipped: two
 * that lock them in different orders could deadlock.
 */
const ADD = {
  name: 'refusals add',
  text: `
  WITH added AS (
    INSERT INTO refusals (account_id, at, id, key_id, operation, code, request_id)
    SELECT account_id, at, noted.id, key_id, operation, code, request_id
    FROM unnest($1::bigint[], $2::timestamptz[], $3::bigint[], $4::bigint[], $5::text[], $6::text[], $7::text[])
      AS noted (account_id, at, id, key_id, operation, code, request_id)
    JOIN accounts ON accounts.id = account_id AND accounts.closed_at IS NULL
    ON CONFLICT DO NOTHING
    RETURNING account_id
  ), surplus AS MATERIALIZED (
    SELECT older.ctid FROM (SELECT account_id, count(*) AS rows FROM added GROUP BY account_id) AS grown
    CROSS JOIN LATERAL (
      SELECT refusals.ctid FROM refusals WHERE refusals.account_id = grown.account_id
      ORDER BY at DESC, id DESC OFFSET greatest(0, ${MOST_REFUSALS} - grown.rows)
    ) AS older
  ), locked AS MATERIALIZED (
    SELECT ctid FROM refusals WHERE ctid = ANY(ARRAY(SELECT ctid FROM surplus)) FOR UPDATE SKIP LOCKED
  )
  DELETE FROM refusals WHERE ctid = ANY(ARRAY(SELECT ctid FROM locked))`,
};
const listWhere = (condition: string) => `
  SELECT extract(epoch FROM at) * 1000 AS at, key_id, operation, code, request_id, name, ending
  FROM refusals JOIN api_keys ON api_keys.id = key_id
  WHERE refusals.account_id = $1 AND ${condition} ORDER BY at DESC, refusals.id DESC LIMIT ${MOST_REFUSALS}`;

/** Deletes the refusals of an account that is closed. */
export const DELETE_REFUSALS = 'DELETE FROM refusals WHERE account_id = $1';

/** A write whose response is lost is repeated, and adds nothing if the database had done it. */
export class PostgresRefusalLog implements RefusalLog {
  /** Refusals that are not yet written. */
  private recent = new RecentRefusals();
  private readonly writeBehind;
  private lost = 0;
  /** Unlike those of other processes: the upper bits are random. */
  private nextId = randomInt(2 ** 20) * 2 ** 32;

  constructor(
    private readonly dataSource: DataSource,
    onEvent: (message: string) => void,
  ) {
    this.writeBehind = new WriteBehind(
      {
        name: 'Refused requests',
        delay: FLUSH_EVERY,
        take: () => portionsOf(this.takeRecent(), PORTION),
        write: (portion) => queryPrepared(dataSource, ADD, parametersOf(portion)),
        keep: (portion) => {
          for (const { accountId, refusal, id } of portion) this.recent.add(accountId, refusal, id);
        },
      },
      onEvent,
    );
  }

  /** Refusals that were not recorded because too many waited to be written. */
  get dropped(): number {
    return this.lost + this.recent.dropped;
  }

  record(accountId: AccountId, refusal: Refusal): void {
    this.recent.add(accountId, refusal, this.nextId);
    this.nextId += 1;
    this.writeBehind.soon();
  }

  async list(accountId: AccountId, requestId?: string): Promise<readonly ShownRefusal[]> {
    const [text, values] =
      requestId === undefined
        ? [listWhere('true'), [accountId]]
        : [listWhere('request_id = $2'), [accountId, requestId]];
    return readFromDatabase(this.dataSource, async () =>
      (await this.dataSource.query<RefusalRow[]>(text, values)).map(refusalFrom),
    );
  }

  async forget(before: Instant): Promise<number> {
    return deletePortions(this.dataSource, { table: 'refusals', time: 'at' }, later(before, -1));
  }

  /** Tries to write the rest. */
  async close(): Promise<void> {
    await this.writeBehind.close();
  }

  private takeRecent(): UnwrittenRefusal[] {
    const { recent } = this;
    this.recent = new RecentRefusals();
    this.lost += recent.dropped;
    return recent.all();
  }
}

function parametersOf(unwritten: readonly UnwrittenRefusal[]): unknown[][] {
  return [
    unwritten.map(({ accountId }) => accountId),
    unwritten.map(({ refusal }) => new Date(refusal.at).toISOString()),
    unwritten.map(({ id }) => id),
    unwritten.map(({ refusal }) => refusal.keyId),
    unwritten.map(({ refusal }) => refusal.operation),
    unwritten.map(({ refusal }) => refusal.code),
    unwritten.map(({ refusal }) => refusal.requestId),
  ];
}

interface RefusalRow {
  readonly at: string;
  readonly key_id: string;
  readonly operation: string;
  readonly code: string;
  readonly request_id: string;
  readonly name: string | null;
  readonly ending: string;
}

function refusalFrom({ at, key_id, operation, code, request_id, name, ending }: RefusalRow): ShownRefusal {
  return {
    at: instant(Number(at)),
    keyId: BigInt(key_id) as ApiKeyId,
    ...{ operation, code, requestId: request_id },
    key: { name: name ?? undefined, ending },
  };
}
