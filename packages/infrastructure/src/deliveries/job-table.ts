import { readFromDatabase } from '../database/on-database.js';
import { type Backlog, type Claim, type ClaimRequest, instant, MOST_COUNTED } from '@adoption-store/domain';
import type { DataSource } from 'typeorm';
import { interval } from '../database/columns.js';
import { inTransaction, writeToDatabase } from '../database/transactions.js';

/** Accounts that a claim looks at: those whose turn it is. */
const LINES = 100;

/**
 * A table in which each queued row is a job. Only PostgreSQL's `now()` decides which jobs are due.
 *
 * Accounts take turns. An account with queued jobs has a row in `delivery_lines`, whose `turn_at` is never later than
 * its first job's `due_at`: a trigger of the table moves it to the end of the line when a job is due earlier. So a claim
 * reads the accounts whose turn it is, and their first jobs, however many others wait.
 */
export class JobTable<Id extends string, Row> {
  /** @param columns of a claimed job, from the tables `claimed` and `accounts`, without its id and claim. */
  constructor(
    private readonly dataSource: DataSource,
    private readonly table: string,
    private readonly columns: string,
  ) {}

  async claim({ limit, lease }: ClaimRequest): Promise<readonly Row[]> {
    const claimed: Row[] = [];
    do claimed.push(...(await this.claimAtTurn(limit - claimed.length, lease)));
    while (
      // Accounts without a due job may have stood before others.
      claimed.length < limit &&
      (await this.leaveLine()) > 0
    );
    return claimed;
  }

  /**
   * Moves `due_at` to the end of the claim, so that no other worker takes the job. Counts the claims, so that an
   * earlier claim can be told from a later one. The accounts go to the end of the line, in the order of their last
   * turns. What another worker is claiming is skipped.
   */
  private async claimAtTurn(limit: number, lease: number): Promise<readonly Row[]> {
    const text = `
      WITH line AS MATERIALIZED (
        SELECT account_id, turn_at FROM delivery_lines AS line
        WHERE queue = '${this.table}' AND turn_at <= (SELECT max(turn_at) FROM (${this.firstLines()}) AS first)
          AND EXISTS (SELECT FROM (${this.jobsOf('now()', '1')}) AS job)
        ORDER BY turn_at LIMIT $2
        FOR NO KEY UPDATE SKIP LOCKED
      ), due AS MATERIALIZED (
        SELECT job.id, account_id, turn_at, row_number() OVER (PARTITION BY account_id ORDER BY job.due_at) AS place
        FROM line, LATERAL (${this.jobsOf('now()', '$2')}) AS job
        ORDER BY place, turn_at LIMIT $2
      ), free AS MATERIALIZED (
        SELECT id FROM ${this.table}
        WHERE id = ANY(ARRAY(SELECT id FROM due)) AND status = 'queued' AND due_at <= now()
        FOR NO KEY UPDATE SKIP LOCKED
      ), claimed AS (
        UPDATE ${this.table} AS job SET claims = claims + 1, due_at = now() + ${interval('$1')}
        FROM due JOIN free USING (id) WHERE job.id = due.id
        RETURNING job.*, place, turn_at
      ), served AS (
        UPDATE delivery_lines AS line SET turn_at = now() + number * interval '1 microsecond'
        FROM (
          SELECT account_id, row_number() OVER (ORDER BY max(place), min(turn_at)) AS number FROM claimed GROUP BY account_id
        ) AS last
        WHERE line.account_id = last.account_id AND queue = '${this.table}'
      )
      SELECT claimed.id, claims AS number, failures, ${this.columns}
      FROM claimed JOIN accounts ON accounts.id = account_id
      ORDER BY place, turn_at`;
    return writeToDatabase(this.dataSource, (manager) => manager.query<Row[]>(text, [lease, limit]));
  }

  /**
   * Accounts without a due job leave the line until one is due. Whoever changes a queued job holds its account's key, so
   * an account that is locked for it stays. Returns the number of those that left.
   */
  private async leaveLine(): Promise<number> {
    const find = `
      SELECT account_id AS id FROM (${this.firstLines()}) AS line
      WHERE NOT EXISTS (SELECT FROM (${this.jobsOf('now()', '1')}) AS job)`;
    const idle = await readFromDatabase(this.dataSource, () => this.dataSource.query<{ id: string }[]>(find));
    if (idle.length === 0) return 0;
    const lock = 'SELECT id FROM accounts WHERE id = ANY($1::bigint[]) ORDER BY id FOR UPDATE SKIP LOCKED';
    // Reads with the accounts locked, so it sees each job that was queued before.
    const leave = `
      UPDATE delivery_lines AS line
      SET turn_at = coalesce((SELECT due_at FROM (${this.jobsOf("'infinity'", '1')}) AS job), 'infinity')
      WHERE account_id = ANY($1::bigint[]) AND queue = '${this.table}'`;
    return inTransaction(this.dataSource, async (manager) => {
      const locked = await manager.query<{ id: string }[]>(lock, [idle.map(({ id }) => id)]);
      await manager.query(leave, [locked.map(({ id }) => id)]);
      return locked.length;
    });
  }

  /** SQL of the accounts whose turn it is. */
  private firstLines(): string {
    return `
      SELECT account_id, turn_at FROM delivery_lines WHERE queue = '${this.table}' AND turn_at <= now()
      ORDER BY turn_at LIMIT ${LINES}`;
  }

  /**
   * SQL of the first queued jobs of the account `line` that are due by then. It is a range of one index: with
   * `account_id = …` PostgreSQL might read the jobs of all accounts by their time.
   */
  private jobsOf(until: string, limit: string): string {
    return `
      SELECT id, due_at FROM ${this.table}
      WHERE status = 'queued' AND (account_id, due_at) BETWEEN (line.account_id, '-infinity') AND (line.account_id, ${until})
      ORDER BY account_id, due_at LIMIT ${limit}`;
  }

  async markSent(id: Id): Promise<void> {
    const text = `UPDATE ${this.table} SET status = 'sent' WHERE id = $1`;
    await writeToDatabase(this.dataSource, (manager) => manager.query(text, [id]));
  }

  async postpone(claim: Claim<Id>, pause: number): Promise<void> {
    await this.change(claim, `due_at = now() + ${interval('$3')}, failures = failures + 1`, [pause]);
  }

  async release(claim: Claim<Id>): Promise<void> {
    await this.change(claim, 'due_at = now()');
  }

  async end(claim: Claim<Id>, status: 'failed' | 'dropped'): Promise<void> {
    await this.change(claim, `status = '${status}'`);
  }

  async backlog(): Promise<Backlog> {
    // ORDER BY makes PostgreSQL use an index, so that it reads only the counted rows.
    const text = `
      SELECT count(*)::integer AS queued, min(created_at) AS oldest FROM (
        SELECT created_at FROM ${this.table} WHERE status = 'queued' ORDER BY due_at LIMIT ${MOST_COUNTED}
      ) AS longest_due`;
    const [row] = await readFromDatabase(this.dataSource, () =>
      this.dataSource.query<[{ queued: number; oldest: Date | null }]>(text),
    );
    return { queued: row.queued, oldest: row.oldest === null ? undefined : instant(row.oldest.getTime()) };
  }

  /** Changes the claimed row, unless a later claim exists. */
  private async change({ id, number }: Claim<Id>, change: string, values: readonly unknown[] = []): Promise<void> {
    const text = `UPDATE ${this.table} SET ${change} WHERE id = $1 AND claims = $2 AND status = 'queued'`;
    await writeToDatabase(this.dataSource, (manager) => manager.query(text, [id, number, ...values]));
  }
}
