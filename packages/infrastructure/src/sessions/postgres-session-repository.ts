import {
  type Account,
  type AccountId,
  type Instant,
  instant,
  type Session,
  sessionEnd,
  type SessionRepository,
} from '@adoption-store/domain';
import type { DataSource } from 'typeorm';
import { ACCOUNT_COLUMNS, accountFromColumns, type AccountColumns } from '../accounts/account-rows.js';
import { onDatabase, readFromDatabase } from '../database/database-errors.js';

interface SessionColumns {
  readonly sid: string;
  readonly token_hash: string;
  readonly begun_at: Date;
  readonly used_at: Date;
}

// The account's row is locked, so that a session never begins beside a change of the password.
const ADD = `
  INSERT INTO sessions (sid, token_hash, account_id, credential_version, begun_at, used_at, expire)
  SELECT $1, $2, id, credential_version, $5, $6, $7 FROM accounts
  WHERE id = $3 AND credential_version = $4 AND closed_at IS NULL FOR SHARE`;
const FIND = `
  SELECT ${ACCOUNT_COLUMNS}, sid, token_hash, begun_at, used_at
  FROM accounts JOIN (SELECT sid, token_hash, account_id, credential_version AS version, begun_at, used_at FROM sessions)
    AS session ON account_id = id AND version = credential_version
  WHERE token_hash = $1 AND closed_at IS NULL`;
const USE = 'UPDATE sessions SET used_at = $3, expire = $4 WHERE sid = $1 AND token_hash = $2';
const RENEW = `
  UPDATE sessions SET token_hash = $2, credential_version = $4, begun_at = $5, used_at = $6, expire = $7
  WHERE sid = $1 AND account_id = $3`;
const END = 'DELETE FROM sessions WHERE sid = $1';
// In portions, as a statement that takes too long is ended.
const FORGET = `
  DELETE FROM sessions WHERE ctid = ANY(ARRAY(
    SELECT ctid FROM sessions WHERE expire <= $1 ORDER BY expire LIMIT 1000 FOR UPDATE SKIP LOCKED))`;

/** Nothing but `add` inserts a row: a session that has ended stays so, whatever is under way in it. */
export class PostgresSessionRepository implements SessionRepository {
  constructor(private readonly dataSource: DataSource) {}

  async add(session: Session): Promise<boolean> {
    const rows = await onDatabase(() => this.dataSource.query<unknown[]>(`${ADD} RETURNING sid`, valuesOf(session)));
    return rows.length === 1;
  }

  async find(tokenHash: string): Promise<{ readonly session: Session; readonly account: Account } | undefined> {
    const [row] = await readFromDatabase(this.dataSource, () =>
      this.dataSource.query<(AccountColumns & SessionColumns)[]>(FIND, [tokenHash]),
    );
    return row && { session: sessionFrom(row), account: accountFromColumns(row) };
  }

  async use(session: Session): Promise<boolean> {
    const { id, tokenHash, usedAt } = session;
    return this.change(USE, [id, tokenHash, new Date(usedAt), new Date(sessionEnd(session))]);
  }

  async renew(session: Session): Promise<boolean> {
    return this.change(RENEW, valuesOf(session));
  }

  async end(id: string): Promise<void> {
    await this.change(END, [id]);
  }

  async forget(until: Instant): Promise<number> {
    let forgotten = 0;
    for (;;) {
      const [, count] = await onDatabase(() => this.dataSource.query<[unknown[], number]>(FORGET, [new Date(until)]));
      forgotten += count;
      if (count === 0) return forgotten;
    }
  }

  private async change(text: string, values: unknown[]): Promise<boolean> {
    const [, count] = await onDatabase(() => this.dataSource.query<[unknown[], number]>(text, values));
    return count === 1;
  }
}

function valuesOf(session: Session): unknown[] {
  const { id, tokenHash, accountId, credentialVersion, begunAt, usedAt } = session;
  const times = [begunAt, usedAt, sessionEnd(session)].map((time) => new Date(time));
  return [id, tokenHash, accountId.toString(), credentialVersion, ...times];
}

function sessionFrom(row: AccountColumns & SessionColumns): Session {
  return {
    id: row.sid,
    tokenHash: row.token_hash,
    accountId: BigInt(row.id) as AccountId,
    credentialVersion: row.credential_version,
    begunAt: instant(row.begun_at.getTime()),
    usedAt: instant(row.used_at.getTime()),
  };
}
