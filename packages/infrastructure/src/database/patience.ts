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
  /** Where it stands among those that wait. */
  place: number;
}

// One timer for all, as one for each would cost as much as the rest of a short query's way. No Set, which leaves a
// table behind whenever it has filled up: tables hold each other, and all that waited then, until the next full
// collection of garbage.
const waiting: Waiting[] = [];
let looking: NodeJS.Timeout | undefined;

function look(): void {
  const now = performance.now();
  for (const late of waiting.filter(({ until }) => until <= now)) {
    leave(late);
    // After this process was busy for long its timers run before its sockets are read; `setImmediate` runs after them.
    setImmediate(late.giveUp);
  }
  if (waiting.length > 0) return;
  clearInterval(looking);
  looking = undefined;
}

function leave(one: Waiting): void {
  if (waiting[one.place] !== one) return;
  const last = waiting.pop();
  if (last === undefined || last === one) return;
  waiting[one.place] = last;
  last.place = one.place;
}

/**
 * Calls `giveUp` once the patience is over, by up to 50 ms later, unless what it returns was called before.
 *
 * @param since when the patience began, on the clock of `performance.now()`.
 */
export function whenLate(since: number, giveUp: () => void): () => void {
  const mine = { until: since + PATIENCE, giveUp, place: waiting.length };
  waiting.push(mine);
  looking ??= setInterval(look, LOOK_EVERY);
  return () => {
    leave(mine);
  };
}

/**
 * What the answer resolves to.
 *
 * @param since when the patience with it began (`whenLate`).
 * @throws LateError once the patience is over.
 */
export function inTime<Answer>(answer: Promise<Answer>, since = performance.now()): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const end = whenLate(since, () => {
      reject(new LateError());
    });
    answer.then(end, end);
    answer.then(resolve, reject);
  });
}
