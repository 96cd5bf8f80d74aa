/**
 * Milliseconds for one piece of database work, including the wait for a connection. Every request must be answered
 * within 2 s, and other work needs time too.
 */
export const QUERY_TIMEOUT = 1_500;

/** The database did not answer in time. */
export class QueryTimeoutError extends Error {
  readonly code = 'ETIMEDOUT';

  constructor() {
    super('the database did not answer in time');
  }
}

/** @param since when the wait began, as a time of `performance.now()`. */
export function isOverdue(since: number): boolean {
  return performance.now() >= since + QUERY_TIMEOUT;
}

/**
 * Runs the work and waits at most `QUERY_TIMEOUT` for its answer. If that time is already over, the work never runs.
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
