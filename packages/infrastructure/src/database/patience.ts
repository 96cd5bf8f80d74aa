/**
 * Milliseconds for one piece of work on the database: for its connection and for all its answers together. The rest of
 * the 2 s within which every request is answered is for all else.
 */
export const PATIENCE = 1_500;

/** Milliseconds from one look at whose patience is over to the next. */
const LOOK_EVERY = 50;

/** The database did not answer in time. */
export class LateError extends Error {
  readonly code = 'ETIMEDOUT';

  constructor() {
    super('the database did not answer in time');
  }
}

interface Waiting {
  readonly until: number;
  readonly giveUp: () => void;
}

// One timer for all, as one for each would cost as much as the rest of a short query's way.
const waiting = new Set<Waiting>();
let looking: NodeJS.Timeout | undefined;

function look(): void {
  const now = performance.now();
  for (const each of waiting) {
    if (each.until > now) continue;
    waiting.delete(each);
    // After this process was busy for long its timers run before its sockets are read; `setImmediate` runs after them.
    setImmediate(each.giveUp);
  }
  if (waiting.size > 0) return;
  clearInterval(looking);
  looking = undefined;
}

/**
 * What the answer resolves to.
 *
 * @param since when the patience with it began, on the clock of `performance.now()`.
 * @throws LateError once the patience is over, by up to 50 ms later.
 */
export function inTime<Answer>(answer: Promise<Answer>, since = performance.now()): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const mine = {
      until: since + PATIENCE,
      giveUp: () => {
        reject(new LateError());
      },
    };
    waiting.add(mine);
    looking ??= setInterval(look, LOOK_EVERY);
    const end = () => waiting.delete(mine);
    answer.then(end, end);
    answer.then(resolve, reject);
  });
}
