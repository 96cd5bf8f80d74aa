/** Resolves after that many milliseconds, or when the signal is aborted. */
export function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return either(signal, (done) => {
    const timer = setTimeout(done, milliseconds);
    return () => {
      clearTimeout(timer);
    };
  });
}

/** Resolves to the work's result, or to undefined if the work fails or takes longer than `milliseconds`. */
export async function within<Result>(milliseconds: number, work: Promise<Result>): Promise<Result | undefined> {
  const isOver = new AbortController();
  const result = work.catch(() => undefined);
  try {
    return await Promise.race([result, pause(milliseconds, isOver.signal).then(() => undefined)]);
  } finally {
    isOver.abort();
  }
}

/**
 * Wakes one waiter per ring. A ring without a waiter is kept for the next one; further rings until then are ignored.
 */
export class Bell {
  private isRung = false;
  private readonly waiting = new Set<() => void>();

  ring(): void {
    const [first] = this.waiting;
    if (first === undefined) this.isRung = true;
    else first();
  }

  /** Waits until it rings or the signal is aborted. */
  async heard(signal: AbortSignal): Promise<void> {
    if (this.isRung) this.isRung = false;
    else
      await either(signal, (done) => {
        this.waiting.add(done);
        return () => this.waiting.delete(done);
      });
  }
}

/** Resolves when `done` is called or the signal is aborted. Then the function that `begin` returned is called. */
function either(signal: AbortSignal, begin: (done: () => void) => () => void): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve();
      return;
    }
    const end = () => {
      signal.removeEventListener('abort', end);
      undo();
      resolve();
    };
    const undo = begin(end);
    signal.addEventListener('abort', end);
  });
}
