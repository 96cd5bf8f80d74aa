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

/**
 * Waits for the answer, at most `QUERY_TIMEOUT`.
 *
 * @param since when the wait began, as a time of `performance.now()`.
 * @throws QueryTimeoutError after the timeout.
 */
export async function withTimeout<Answer>(answer: Promise<Answer>, since = performance.now()): Promise<Answer> {
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
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
