import type { QueryRunner } from 'typeorm';
import { canonicalOf } from '../kernel/canonical-address.js';
import { sqlState, UNIQUE_VIOLATION } from './database-errors.js';

/** Rows in one statement. */
const PORTION = 1_000;

const READ = `
  SELECT id, email FROM accounts WHERE canonical_email IS NULL AND id > $1 ORDER BY id LIMIT ${PORTION}`;

// One form after the other, so that PostgreSQL never reads the whole table.
const TAKEN = `
  SELECT taken.* FROM unnest($1::text[]) AS wanted (form), LATERAL (
    (SELECT id, email, canonical_email AS form FROM accounts WHERE email = wanted.form LIMIT 1)
    UNION ALL (SELECT id, email, canonical_email FROM accounts WHERE canonical_email = wanted.form LIMIT 1)
  ) AS taken`;

// By the ids alone, so that PostgreSQL never reads the whole table for a portion.
const FILL = `
  UPDATE accounts SET canonical_email = ($3::text[])[array_position($1::bigint[], id)]
  WHERE id = ANY($1::bigint[]) AND email = ($2::text[])[array_position($1::bigint[], id)] AND canonical_email IS NULL`;

interface Row {
  readonly id: string;
  readonly email: string;
  readonly form: string;
}

/**
 * Fills `canonical_email` of the accounts that have none: those from before addresses had one form, and those that the
 * version before has added since. A twin stays without: it is found by its spelling, and gets the form at a later start,
 * once the other account has another address.
 */
export async function fillCanonicalAddresses(runner: QueryRunner): Promise<void> {
  for (let last: string | undefined = '0'; last !== undefined;) {
    const read = (await runner.query(READ, [last])) as readonly Omit<Row, 'form'>[];
    const rows = read.map(({ id, email }) => ({ id, email, form: canonicalOf(email) }));
    await fill(runner, await withoutTwins(runner, rows));
    last = rows.at(-1)?.id;
  }
}

/** The rows whose form no other account has. Of several, the one that is written in it gets it, or else the first. */
async function withoutTwins(runner: QueryRunner, rows: readonly Row[]): Promise<readonly Row[]> {
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
    // Somebody has signed up with one of these addresses meanwhile, which must not keep the others from theirs.
    if (rows.length > 1) for (const row of rows) await fill(runner, [row]);
  }
}
