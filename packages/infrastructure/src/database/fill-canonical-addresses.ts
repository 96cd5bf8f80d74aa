import type { QueryRunner } from 'typeorm';
import { canonicalOf } from '../kernel/canonical-address.js';
import { sqlState, UNIQUE_VIOLATION } from './database-errors.js';

/** Rows in one statement. */
const PORTION = 1_000;

const READ = `
  SELECT id, email FROM accounts WHERE canonical_email IS NULL AND id > $1 ORDER BY id LIMIT ${PORTION}`;

// Looks up each canonical form by itself, by an index, so that PostgreSQL never reads the whole table.
const TAKEN = `
  SELECT taken.* FROM unnest($1::text[]) AS wanted (form), LATERAL (
    (SELECT id, email, canonical_email AS form FROM accounts WHERE email = wanted.form LIMIT 1)
    UNION ALL (SELECT id, email, canonical_email FROM accounts WHERE canonical_email = wanted.form LIMIT 1)
  ) AS taken`;

// Without a join, so that PostgreSQL finds the rows by the index of ids and never reads the whole table.
const FILL = `
  UPDATE accounts SET canonical_email = ($3::text[])[array_position($1::bigint[], id)]
  WHERE id = ANY($1::bigint[]) AND email = ($2::text[])[array_position($1::bigint[], id)] AND canonical_email IS NULL`;

interface Row {
  readonly id: string;
  readonly email: string;
  readonly form: string;
}

/**
 * Fills `canonical_email` of the accounts that have none: those that are older than the column, and those that the
 * previous version has added. If two accounts have the same canonical address, one of them keeps null and is found only
 * by its exact address. It gets its value at a later start, once the other account has changed its address.
 */
export async function fillCanonicalAddresses(runner: QueryRunner): Promise<void> {
  for (let last: string | undefined = '0'; last !== undefined;) {
    const read = (await runner.query(READ, [last])) as readonly Omit<Row, 'form'>[];
    const rows = read.map(({ id, email }) => ({ id, email, form: canonicalOf(email) }));
    await fill(runner, await onePerForm(runner, rows));
    last = rows.at(-1)?.id;
  }
}

/**
 * One row for each canonical address that no account has yet: the row whose address has this form, or else the first.
 */
async function onePerForm(runner: QueryRunner, rows: readonly Row[]): Promise<readonly Row[]> {
  if (rows.length === 0) return [];
  const taken = (await runner.query(TAKEN, [rows.map(({ form }) => form)])) as readonly (Omit<Row, 'form'> & {
    readonly form: string | null;
  })[];
  const holders = new Map(rows.toReversed().map(({ id, form }) => [form, id]));
  for (const { id, email } of taken) if (holders.has(email)) holders.set(email, id);
  for (const { id, form } of taken) if (form !== null) holders.set(form, id);
  return rows.filter(({ id, form }) => holders.get(form) === id);
}

async function fill(runner: QueryRunner, rows: readonly Row[]): Promise<void> {
  if (rows.length === 0) return;
  try {
    await runner.query(FILL, [rows.map(({ id }) => id), rows.map(({ email }) => email), rows.map(({ form }) => form)]);
  } catch (error) {
    if (sqlState(error) !== UNIQUE_VIOLATION) throw error;
    // Somebody has signed up with one of these addresses meanwhile. The others must still get theirs, so one by one.
    if (rows.length > 1) for (const row of rows) await fill(runner, [row]);
  }
}
