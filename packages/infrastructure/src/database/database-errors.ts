import { types } from 'node:util';
import { DomainError } from '@adoption-store/domain';
import { type DataSource, QueryRunnerAlreadyReleasedError, QueryRunnerProviderAlreadyReleasedError } from 'typeorm';
import { withTimeout } from './query-timeouts.js';
import { poolOf } from './pipelining-pool.js';
import { isInTransaction } from './transactions.js';

// https://www.postgresql.org/docs/current/errcodes-appendix.html: connection exceptions, invalid authorisation,
// insufficient resources, a database closed to connections, operator intervention (shutdown, statement timeout), a
// server that is only a standby, and a transaction that was idle for too long.
const UNAVAILABLE_STATES = /^(08|28|53|55000|57|25006|25P03|3D000)/;
const UNREACHABLE = new Set([
  // A Unix socket whose queue is full.
  'EAGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EPIPE',
  'ETIMEDOUT',
]);
// Errors of the driver itself carry no code.
const DRIVER_MESSAGES =
  /Connection terminated|timeout exceeded when trying to connect|timeout expired|read timeout|not queryable/;

// A server that shuts down, has crashed or is starting, a transaction that was idle for too long, and connection
// exceptions; what a socket says of the same.
const LOST_STATES = /^(57P0[123]|25P03|08|ECONNRESET$|EPIPE$)/;
const LOST_MESSAGES = /Connection terminated(?! due to connection timeout)|not queryable/;

// TypeORM throws this when a transaction loses its connection between two statements.
const RELEASED = [QueryRunnerAlreadyReleasedError, QueryRunnerProviderAlreadyReleasedError];

/** SQLSTATE of a statement that the role may not run. */
export const INSUFFICIENT_PRIVILEGE = '42501';

/** How often what only reads is tried. */
const MOST_READS = 3;

/** Whether the database, not the statement, is at fault: the same statement may succeed later. */
export function isUnavailable(error: unknown): boolean {
  if (!types.isNativeError(error)) return false;
  // Node throws this when none of a host's addresses can be reached.
  if (error instanceof AggregateError) return error.errors.some(isUnavailable);
  if (RELEASED.some((released) => error instanceof released)) return true;
  const code = sqlState(error);
  if (code !== undefined) return UNREACHABLE.has(code) || UNAVAILABLE_STATES.test(code);
  return DRIVER_MESSAGES.test(error.message);
}

/** Whether the connection is gone, be the server there or not: on another one the same statement may succeed at once. */
export function isConnectionLost(error: unknown): boolean {
  if (!types.isNativeError(error)) return false;
  const code = sqlState(error);
  return code === undefined ? LOST_MESSAGES.test(error.message) : LOST_STATES.test(code);
}

/** The SQLSTATE, or Node's code of a socket that failed. */
export function sqlState(error: unknown): string | undefined {
  const source = types.isNativeError(error) && 'driverError' in error ? error.driverError : error;
  return types.isNativeError(source) && 'code' in source && typeof source.code === 'string' ? source.code : undefined;
}

/**
 * Runs `work` on the database.
 *
 * @param since when the wait began (`withTimeout`).
 * @throws DomainError `service_unavailable` where the database can't answer in time.
 */
export async function onDatabase<Result>(work: () => Promise<Result>, since?: number): Promise<Result> {
  try {
    return await (isInTransaction() ? work() : withTimeout(work(), since));
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    const message = 'the service is not available just now, try again later';
    throw new DomainError('service_unavailable', message, { cause: error });
  }
}

/** As `onDatabase`, for what only reads (`retryRead`). */
export async function readFromDatabase<Result>(dataSource: DataSource, work: () => Promise<Result>): Promise<Result> {
  return onDatabase(() => retryRead(dataSource, work));
}

/** Runs what only reads: where its connection was lost it is tried again on a fresh one, which may be lost, too. */
export async function retryRead<Result>(dataSource: DataSource, read: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await read();
    } catch (error) {
      if (tries === MOST_READS || !isConnectionLost(error) || isInTransaction()) throw error;
      poolOf(dataSource).dropUnused();
    }
  }
}
