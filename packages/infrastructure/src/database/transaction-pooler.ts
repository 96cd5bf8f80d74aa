import { types } from 'node:util';
import type { DataSource } from 'typeorm';
import { QUERY_TIMEOUT } from './query-timeouts.js';

/** How a session plans its statements. On a connection of our own we set it, behind a pooler the operator does. */
export const PLANNING = { plan_cache_mode: 'force_generic_plan', jit: 'off' };

/** Rounds of the check. On a busy pooler up to a third of them, each by itself, noticed nothing. */
const ROUNDS = 12;

/** The caller needs sessions, but a pooler has only transactions. */
class TransactionPoolerError extends Error {
  constructor() {
    super('it leads to a pooler in transaction mode');
  }
}

/** Whether a pooler is there instead of PostgreSQL itself. */
export function isOfPooler(error: unknown): boolean {
  if (error instanceof TransactionPoolerError) return true;
  return types.isNativeError(error) && error.message.startsWith('unsupported startup parameter');
}

/** The settings of a session behind a pooler in transaction mode. Through it we could only set those of some session. */
const REQUIRED: Readonly<Record<string, string>> = {
  statement_timeout: String(QUERY_TIMEOUT),
  idle_in_transaction_session_timeout: String(QUERY_TIMEOUT),
  ...PLANNING,
};

interface Session {
  readonly id: string;
}

interface Found {
  readonly name: string;
  readonly setting: string;
}

// Process ids alone could be equal on two servers behind one address.
const SESSION = `SELECT pg_backend_pid() || ' ' || pg_postmaster_start_time() AS id`;

/**
 * Checks that each connection has a session of its own. Behind a pooler in transaction mode, the second connection mostly gets
 * the session that the first has just left; and if another client takes that, the first gets another.
 *
 * @param source with two connections.
 * @throws TransactionPoolerError
 */
export async function requireSessions(source: DataSource): Promise<void> {
  const [one, other] = [source.createQueryRunner(), source.createQueryRunner()];
  const sessionOf = async (runner: typeof one) => ((await runner.query(SESSION)) as [Session])[0].id;
  try {
    const own = await sessionOf(one);
    for (let round = 0; round < ROUNDS; round += 1) {
      // The first one twice in a row, in each round: a pooler that takes its sessions in turns has another for it. Asked in
      // turns, each could get its own for as long as other clients keep in step.
      const sessions = [await sessionOf(one), await sessionOf(one), await sessionOf(other)];
      if (sessions[0] !== own || sessions[1] !== own || sessions[2] === own) throw new TransactionPoolerError();
    }
  } finally {
    await Promise.all([one.release(), other.release()]);
  }
}

/**
 * Checks the settings of the sessions behind a pooler in transaction mode.
 *
 * @throws Error that says which are wrong, and how to set them.
 */
export async function requireSettings(source: DataSource): Promise<void> {
  const text = 'SELECT name, setting FROM pg_settings WHERE name = ANY($1)';
  const names = Object.keys(REQUIRED);
  // In a transaction, because a pooler in statement mode refuses them.
  const rows = await source.transaction((manager) => manager.query<Found[]>(text, [names]));
  const wrong = rows.filter(({ name, setting }) => !isKept(setting, REQUIRED[name] ?? ''));
  if (wrong.length === 0) return;
  const found = wrong.map(({ name, setting }) => `${name} is ${setting}`).join(' and ');
  const wanted = wrong.map(({ name }) => `SET ${name} = ${REQUIRED[name] ?? ''}`).join('; ');
  throw new Error(`in its sessions ${found}: give them "${wanted}", for example by connect_query of PgBouncer`);
}

/** A shorter timeout is kept too; 0 is none. */
function isKept(setting: string, wanted: string): boolean {
  return setting === wanted || (Number(setting) > 0 && Number(setting) <= Number(wanted));
}
