/**
 * Milliseconds for one piece of work on the database: for its connection and for all its answers together. The rest of
 * the 2 s within which every request is answered is for all else.
 */
export const PATIENCE = 1_500;

/** The database did not answer in time. */
export class LateError extends Error {
  readonly code = 'ETIMEDOUT';

  constructor() {
    super('the database did not answer in time');
  }
}

/**
 * What the answer resolves to.
 *
 * @param since when the patience with it began, on the clock of `performance.now()`.
 * @throws LateError once the patience is over.
 */
export async function inTime<Answer>(answer: Promise<Answer>, since = performance.now()): Promise<Answer> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => {
        reject(new LateError());
      },
      since + PATIENCE - performance.now(),
    );
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
