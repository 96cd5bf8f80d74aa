import { types } from 'node:util';
import { QueryRunnerAlreadyReleasedError, QueryRunnerProviderAlreadyReleasedError } from 'typeorm';

// https://www.postgresql.org/docs/current/errcodes-appendix.html: connection exceptions, invalid authorisation,
// insufficient resources, a database closed to connections, operator intervention (shutdown, statement timeout), a
// server that is only a standby, and a transaction that was idle for too long.
const UNAVAILABLE_STATES = /^(08|28|53|55000|57|25006|25P03|3D000)/;
// Node's codes. EAGAIN is that of a Unix socket whose queue is full.
const UNREACHABLE = /^E(AGAIN|CONNREFUSED|CONNRESET|HOSTUNREACH|NETUNREACH|NOENT|NOTFOUND|AI_AGAIN|PIPE|TIMEDOUT)$/;
// The driver's own errors have no code.
const DRIVER_MESSAGES =
  /Connection terminated|timeout exceeded when trying to connect|timeout expired|read timeout|not queryable/;

// In this order: the server shuts down, has crashed or starts; a transaction was idle too long; the connection is
// broken.
const LOST_STATES = /^(57P0[123]|25P03|08|ECONNRESET$|EPIPE$)/;
const LOST_MESSAGES = /Connection terminated(?! due to connection timeout)|not queryable/;

// TypeORM throws this when a transaction loses its connection between two statements.
const RELEASED = [QueryRunnerAlreadyReleasedError, QueryRunnerProviderAlreadyReleasedError];

/** SQLSTATE of a statement that the role may not run. */
export const INSUFFICIENT_PRIVILEGE = '42501';

/** SQLSTATE of a row that has the same unique value as another one. */
export const UNIQUE_VIOLATION = '23505';

/** SQLSTATE of a lock that was not free in time. */
export const LOCK_NOT_AVAILABLE = '55P03';

/** The database did not answer in time. */
export class QueryTimeoutError extends Error {
  readonly code = 'ETIMEDOUT';

  constructor() {
    super('the database did not answer in time');
  }
}

/** Whether the database, not the statement, is the cause: the same statement may succeed later. */
export function isUnavailable(error: unknown): boolean {
  if (!types.isNativeError(error)) return false;
  // Node throws this error if it can't reach any of a host's addresses.
  if (error instanceof AggregateError) return error.errors.some(isUnavailable);
  if (RELEASED.some((released) => error instanceof released)) return true;
  const code = sqlState(error);
  if (code !== undefined) return UNREACHABLE.test(code) || UNAVAILABLE_STATES.test(code);
  return DRIVER_MESSAGES.test(error.message);
}

/** Whether the connection is lost: on another connection the same statement may succeed immediately. */
export function isConnectionLost(error: unknown): boolean {
  if (!types.isNativeError(error)) return false;
  const code = sqlState(error);
  return code === undefined ? LOST_MESSAGES.test(error.message) : LOST_STATES.test(code);
}

/** The SQLSTATE, or Node's code of a socket error. */
export function sqlState(error: unknown): string | undefined {
  const source = types.isNativeError(error) && 'driverError' in error ? error.driverError : error;
  return types.isNativeError(source) && 'code' in source && typeof source.code === 'string' ? source.code : undefined;
}
