import { reasonOf } from '@adoption-store/domain';
import { answerWithin, failureOf } from './answers.js';

const NAMES = { postgresql: 'PostgreSQL', redis: 'Redis', smtp: 'The mail server' } as const;

/** A server that a process needs. */
export type Dependency = keyof typeof NAMES;

export interface DependencyChange {
  readonly dependency: Dependency;
  /** The name for people. */
  readonly name: string;
  readonly isUp: boolean;
  /** The driver's message about the loss. */
  readonly reason?: string;
}

interface Poll {
  /** Milliseconds from one answer to the next check. */
  readonly interval: number;
  /** Timeout of a check in milliseconds. */
  readonly timeout: number;
}

/** Tracks which dependencies answer. It reports each loss and each return once. */
export class DependencyMonitor {
  private readonly states = new Map<Dependency, boolean>();
  private readonly timers = new Map<Dependency, NodeJS.Timeout>();
  private isClosed = false;

  constructor(private readonly onChange: (change: DependencyChange) => void) {}

  /** The dependencies of this process, and whether each answers. */
  read(): ReadonlyMap<Dependency, boolean> {
    return this.states;
  }

  /** Records the latest result: a failure, or undefined after an answer. A dependency without any counts as up. */
  record(dependency: Dependency, failure?: unknown): void {
    if (this.isClosed) return;
    const isUp = failure === undefined;
    const wasUp = this.states.get(dependency) ?? true;
    this.states.set(dependency, isUp);
    if (isUp === wasUp) return;
    this.onChange({ dependency, name: NAMES[dependency], isUp, ...(!isUp && { reason: reasonOf(failure) }) });
  }

  /** Checks a dependency repeatedly, until closed. */
  poll(dependency: Dependency, ask: () => Promise<unknown>, { interval, timeout }: Poll): void {
    this.states.set(dependency, true);
    const next = () => {
      void failureOf(answerWithin(timeout, Promise.resolve().then(ask))).then((failure) => {
        this.record(dependency, failure);
        if (!this.isClosed) this.timers.set(dependency, setTimeout(next, interval).unref());
      });
    };
    next();
  }

  /** Stops all reports, because a stopping process closes its connections itself. */
  close(): void {
    this.isClosed = true;
    for (const timer of this.timers.values()) clearTimeout(timer);
  }
}
