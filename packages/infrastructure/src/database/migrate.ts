import { setTimeout as delay } from 'node:timers/promises';
import type { QueryRunner } from 'typeorm';
import { type DatabaseConnection, migrationSource } from './data-source.js';
import { INSUFFICIENT_PRIVILEGE, LOCK_NOT_AVAILABLE, sqlState } from './database-errors.js';
import { limitPrivileges } from './limit-privileges.js';
import { takeOver } from './take-over.js';

// An arbitrary constant that must never change: the migrating instance holds this lock.
export const MIGRATION_LOCK = 4_711_120_365;

/** Milliseconds between two checks whether another instance is still migrating. */
const LOOK_EVERY = 100;
/** Milliseconds for which an instance waits for another instance's migration. */
const LONGEST_WAIT = 600_000;

/** SQLSTATEs after which the migration is tried again: a table was in use, or there was a deadlock. */
const LOCKED_STATES = new Set([LOCK_NOT_AVAILABLE, '40P01']);
const MOST_TRIES = 75;
/** Milliseconds between two tries. Meanwhile the statements that have waited for the migration can run. */
const PAUSE = 3_000;

// A pooler in transaction mode may keep the session of a process that has ended, and so its lock.
const STILL_LOCKED =
  'another process has been migrating it for 10 minutes, or a pooler has kept the lock of one: try again later';

/** Called with sentences for the operator. */
type OnEvent = (message: string) => void;

/**
 * Brings the schema and its privileges up to date. If several instances start at once, one migrates and the others
 * wait. If nothing has to change, the role needs no right to change the schema. While another transaction uses a table,
 * such as that of a backup, it tries again for about five minutes.
 */
export async function migrate(
  connection: DatabaseConnection,
  onEvent: OnEvent = () => undefined,
  longestWait = LONGEST_WAIT,
): Promise<void> {
  const source = await migrationSource(connection).initialize();
  const lock = source.createQueryRunner();
  const last = performance.now() + longestWait;
  try {
    while (!(await isTaken(lock))) {
      if (performance.now() > last) throw new Error(STILL_LOCKED);
      await delay(LOOK_EVERY);
    }
    await untilUnlocked(async () => {
      await takeOver(lock);
      await source.runMigrations({ transaction: 'each' });
      await limitPrivileges(lock);
    }, onEvent);
  } catch (error) {
    if (sqlState(error) !== INSUFFICIENT_PRIVILEGE) throw error;
    const reason = error instanceof Error ? error.message : '';
    throw new Error(
      `its schema is not up to date, and this role may not change it (${reason}): run migrate as the role that owns it`,
      { cause: error },
    );
  } finally {
    // The lock ends with its connection.
    await lock.release();
    await source.destroy();
  }
}

/**
 * Tries to take the lock without waiting. A waiting statement holds a snapshot, and the other instance's CREATE INDEX
 * CONCURRENTLY waits until all older snapshots have ended, so the two would deadlock.
 */
async function isTaken(lock: QueryRunner): Promise<boolean> {
  const text = 'SELECT pg_try_advisory_lock($1) AS taken';
  const [row] = (await lock.query(text, [MIGRATION_LOCK])) as [{ taken: boolean }];
  return row.taken;
}

async function untilUnlocked(work: () => Promise<unknown>, onEvent: OnEvent): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await work();
      return;
    } catch (error) {
      if (!LOCKED_STATES.has(sqlState(error) ?? '')) throw error;
      if (tries === MOST_TRIES) {
        const message = 'a migration needs a table that another transaction uses, perhaps a backup: try again later';
        throw new Error(message, { cause: error });
      }
      onEvent(`A migration waits for a table that another transaction uses, perhaps a backup (try ${tries}).`);
      await delay(PAUSE);
    }
  }
}
