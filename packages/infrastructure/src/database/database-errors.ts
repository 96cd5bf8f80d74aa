import { types } from 'node:util';
import { DomainError } from '@adoption-store/domain';

// https://www.postgresql.org/docs/current/errcodes-appendix.html: connection exceptions, invalid authorisation,
// insufficient resources, a database closed to connections, operator intervention (shutdown, statement timeout), and a
// server that is only a standby.
const UNAVAILABLE_STATES = /^(08|28|53|55000|57|25006|3D000)/;
const UNREACHABLE = new Set([
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
// What the driver throws by itself carries no code.
const DRIVER_MESSAGES =
  /Connection terminated|timeout exceeded when trying to connect|Query read timeout|not queryable/;

/** Whether the database, not the statement, is at fault: the same statement may succeed later. */
export function isUnavailable(error: unknown): boolean {
  if (!types.isNativeError(error)) return false;
  // What Node throws where none of a host's addresses could be reached.
  if (error instanceof AggregateError) return error.errors.some(isUnavailable);
  const code = sqlState(error);
  if (code !== undefined) return UNREACHABLE.has(code) || UNAVAILABLE_STATES.test(code);
  return DRIVER_MESSAGES.test(error.message);
}

/** The SQLSTATE, or Node's code of a socket that failed. */
export function sqlState(error: unknown): string | undefined {
  const source = types.isNativeError(error) && 'driverError' in error ? error.driverError : error;
  return types.isNativeError(source) && 'code' in source && typeof source.code === 'string' ? source.code : undefined;
}

/**
 * Runs `work` on the database.
 *
 * @throws DomainError `service_unavailable` while the database can't answer.
 */
export async function onDatabase<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    throw new DomainError('service_unavailable', 'the service is not available just now, try again later', {
      cause: error,
    });
  }
}
