/** The client's only source of time. Tests pass their own, so that they don't wait. */
export interface Clock {
  /** Milliseconds since any fixed moment. They never go back. */
  now(): number;
  /** Resolves after that many milliseconds. Rejects with the signal's reason as soon as it is aborted. */
  wait(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  async wait(milliseconds, signal) {
    signal?.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(resolve, milliseconds);
      // The signals given here live no longer than a call, so their listeners need no removal.
      signal?.addEventListener('abort', () => {
        clearTimeout(timer);
        // The reason can be any value, and `fetch` rejects with it too.
        reject(signal.reason as Error);
      });
    });
  },
};

/** The reason of a signal that was aborted by a timeout. */
export class TimedOut extends Error {
  /** @param needed seconds that the work would have needed, if that is known. */
  constructor(
    readonly milliseconds: number,
    readonly needed?: number,
  ) {
    super();
  }
}

const aborts = new WeakMap<AbortSignal, Set<() => void>>();

/** The calls that a signal aborts. They share one listener, because Node.js warns at the eleventh. */
function callsOf(signal: AbortSignal): Set<() => void> {
  const known = aborts.get(signal);
  if (known !== undefined) return known;
  const calls = new Set<() => void>();
  aborts.set(signal, calls);
  signal.addEventListener('abort', () => {
    for (const abort of calls) abort();
  });
  return calls;
}

/**
 * Runs the work with a signal that is aborted with the outer one, or after that many milliseconds with `TimedOut` as its
 * reason. Rejects as soon as the signal is aborted, even if the work goes on.
 */
export async function within<Result>(
  clock: Clock,
  milliseconds: number | undefined,
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  outer?.throwIfAborted();
  const timer = new AbortController();
  const finished = new AbortController();
  const { signal } = timer;
  const abort = () => {
    timer.abort(outer?.reason);
  };
  const calls = outer && callsOf(outer);
  calls?.add(abort);
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => {
      reject(signal.reason as Error);
    });
  });
  if (milliseconds !== undefined)
    clock.wait(milliseconds, finished.signal).then(
      () => {
        timer.abort(new TimedOut(milliseconds));
      },
      () => undefined,
    );
  try {
    return await Promise.race([work(signal), aborted]);
  } finally {
    calls?.delete(abort);
    finished.abort(null);
  }
}
