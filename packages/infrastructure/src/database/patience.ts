import { AsyncLocalStorage } from 'node:async_hooks';

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

const deadlines = new AsyncLocalStorage<number>();

/** Runs `work`, which must be done with the database when the patience is over that began at `since`. */
export async function withPatience<Result>(work: () => Promise<Result>, since = performance.now()): Promise<Result> {
  const deadline = deadlines.getStore() ?? Infinity;
  return deadlines.run(Math.min(deadline, since + PATIENCE), work);
}

/** Milliseconds left to the work that surrounds the caller; all of them where none does. */
export function timeLeft(): number {
  const now = performance.now();
  return (deadlines.getStore() ?? now + PATIENCE) - now;
}

/**
 * What the answer resolves to.
 *
 * @throws LateError once no time is left.
 */
export function inTime<Answer>(answer: Promise<Answer>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const giveUp = () => {
      reject(new LateError());
    };
    // After this process was busy for long its timers run before its sockets are read; `setImmediate` runs after them.
    const timer = setTimeout(() => setImmediate(giveUp), timeLeft());
    answer.then(resolve, reject).finally(() => {
      clearTimeout(timer);
    });
  });
}
