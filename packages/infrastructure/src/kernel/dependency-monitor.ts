const NAMES = { postgresql: 'PostgreSQL', redis: 'Redis', smtp: 'The mail server' } as const;

/** A server that a process needs. */
export type Dependency = keyof typeof NAMES;

/** A dependency was lost, or is back. */
export interface DependencyChange {
  readonly dependency: Dependency;
  /** As people write it. */
  readonly name: string;
  readonly isUp: boolean;
  /** Why it was lost, in the words of the driver. */
  readonly reason?: string;
}

interface Poll {
  /** Milliseconds from one answer to the next question. */
  readonly interval: number;
  /** Milliseconds to wait for an answer. */
  readonly timeout: number;
}

/** Knows which dependencies answer. It reports each loss and each return once. */
export class DependencyMonitor {
  private readonly states = new Map<Dependency, boolean>();
  private readonly timers = new Map<Dependency, NodeJS.Timeout>();
  private isClosed = false;

  constructor(private readonly onChange: (change: DependencyChange) => void) {}

  /** The dependencies that this process uses, and whether each of them answers. */
  read(): ReadonlyMap<Dependency, boolean> {
    return this.states;
  }

  /** Records what a dependency did last: it failed with an error, or it answered. A dependency that was never heard of is up. */
  record(dependency: Dependency, failure?: unknown): void {
    if (this.isClosed) return;
    const isUp = failure === undefined;
    const wasUp = this.states.get(dependency) ?? true;
    this.states.set(dependency, isUp);
    if (isUp === wasUp) return;
    this.onChange({ dependency, name: NAMES[dependency], isUp, ...(!isUp && { reason: reasonOf(failure) }) });
  }

  /** Asks a dependency again and again, until closed. */
  poll(dependency: Dependency, ask: () => Promise<unknown>, { interval, timeout }: Poll): void {
    this.states.set(dependency, true);
    const next = () => {
      void failureOf(ask, timeout).then((failure) => {
        this.record(dependency, failure);
        if (!this.isClosed) this.timers.set(dependency, setTimeout(next, interval).unref());
      });
    };
    next();
  }

  /** Reports nothing from now on: a process that ends closes its connections itself. */
  close(): void {
    this.isClosed = true;
    for (const timer of this.timers.values()) clearTimeout(timer);
  }
}

/** The error, or undefined where there was an answer in time. */
async function failureOf(ask: () => Promise<unknown>, timeout: number): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Error>((resolve) => {
    // After a busy turn of the event loop, an answer that has arrived is read before this gives up on it.
    timer = setTimeout(() => setImmediate(resolve, new Error(`no answer within ${timeout} ms`)), timeout);
  });
  const answered = Promise.resolve()
    .then(ask)
    .then(
      () => undefined,
      (error: unknown) => error,
    );
  try {
    return await Promise.race([answered, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The message alone: other properties of an error may hold what was sent. */
export function reasonOf(error: unknown): string {
  // Node tells in one error that none of a host's addresses could be reached.
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}
