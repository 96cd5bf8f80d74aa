/**
 * Milliseconds for one piece of database work, including the wait for a connection. Every request is answered within 2
 * s; the rest is for everything else.
 */
export const QUERY_TIMEOUT = 1_500;

/** The database did not answer in time. */
export class QueryTimeoutError extends Error {
  readonly code = 'ETIMEDOUT';

  constructor() {
    super('the database did not answer in time');
  }
}

/** Whether a caller that has waited since that time of `performance.now()` has waited too long. */
export function isOverdue(since: number): boolean {
  return performance.now() >= since + QUERY_TIMEOUT;
}

/**
 * Runs the work and waits for its answer, at most `QUERY_TIMEOUT`. Work that would begin later never runs.
 *
 * @param since when the wait began, as a time of `performance.now()`.
 * @throws QueryTimeoutError after the timeout.
 */
export async function withTimeout<Answer>(work: () => Promise<Answer>, since = performance.now()): Promise<Answer> {
  if (isOverdue(since)) throw new QueryTimeoutError();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => {
        reject(new QueryTimeoutError());
      },
      since + QUERY_TIMEOUT - performance.now(),
    );
  });
  try {
    return await Promise.race([work(), late]);
  } finally {
    clearTimeout(timer);
  }
}
