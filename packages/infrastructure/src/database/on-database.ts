import { DomainError, kernelErrors, type Transaction } from '@adoption-store/domain';
import type { DataSource } from 'typeorm';
import { isConnectionLost, isUnavailable, QueryTimeoutError } from './database-errors.js';
import { type PipeliningPool, poolOf } from './pipelining-pool.js';

/**
 * Milliseconds for one piece of database work, including the wait for a connection. Every request must be answered
 * within 2 s, and other work needs time too.
 */
export const QUERY_TIMEOUT = 1_500;

/** The most times that a read is tried. */
const MOST_READS = 3;

export function unavailable(cause: unknown): DomainError {
  return new DomainError(kernelErrors.service_unavailable, 'the service is not available just now, try again later', {
    cause,
  });
}

/** @param since when the wait began, as a time of `performance.now()`. */
export function isOverdue(since: number): boolean {
  return performance.now() >= since + QUERY_TIMEOUT;
}

/**
 * Runs `work` on the database, and waits at most `QUERY_TIMEOUT` for its answer. It never runs if that time is over.
 *
 * @param since when the wait began, as a time of `performance.now()`.
 * @param transaction to which the work belongs. It has its own time limit.
 * @throws DomainError `service_unavailable` if the database doesn't answer in time.
 */
export async function onDatabase<Result>(
  work: () => Promise<Result>,
  { since, transaction }: { readonly since?: number | undefined; readonly transaction?: Transaction | undefined } = {},
): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  try {
    if (transaction !== undefined) return await work();
    const left = since === undefined ? QUERY_TIMEOUT : since + QUERY_TIMEOUT - performance.now();
    if (left <= 0) throw new QueryTimeoutError();
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => {
        reject(new QueryTimeoutError());
      }, left);
    });
    return await Promise.race([work(), late]);
  } catch (error) {
    throw isUnavailable(error) ? unavailable(error) : error;
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Like `onDatabase`, for work that only reads. If its connection is lost, it is tried again on a new one.
 *
 * @param pool whose connections the work uses.
 */
export async function readFromDatabase<Result>(
  dataSource: DataSource,
  work: () => Promise<Result>,
  pool: Pick<PipeliningPool, 'dropUnused'> = poolOf(dataSource),
): Promise<Result> {
  return onDatabase(async () => {
    for (let tries = 1; ; tries += 1) {
      try {
        return await work();
      } catch (error) {
        if (tries === MOST_READS || !isConnectionLost(error)) throw error;
        pool.dropUnused();
      }
    }
  });
}
