/** Resolves after that many milliseconds, or when the signal is aborted. */
export async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  const over = new AutoResetEvent();
  const timer = setTimeout(() => {
    over.set();
  }, milliseconds);
  await over.wait(signal);
  clearTimeout(timer);
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
    if (this.isSet || signal.aborted) {
      this.isSet = false;
      return;
    }
    await new Promise<void>((resolve) => {
      const end = () => {
        this.waiting.delete(end);
        signal.removeEventListener('abort', end);
        resolve();
      };
      this.waiting.add(end);
      signal.addEventListener('abort', end);
    });
  }
}
