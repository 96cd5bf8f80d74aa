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

/** Each `set` ends one `wait`. If nobody waits, the event stays set until the next `wait`. */
export class AutoResetEvent {
  private isSet = false;
  private readonly waiting = new Set<() => void>();

  set(): void {
    const [first] = this.waiting;
    if (first === undefined) this.isSet = true;
    else first();
  }

  /** Resolves when the event is set or the signal is aborted. */
  async wait(signal: AbortSignal): Promise<void> {
    if (this.isSet) this.isSet = false;
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
