import { types } from 'node:util';
import { reasonOf } from '@adoption-store/domain';
import { answerWithin, failureOf } from './answers.js';

/** Milliseconds. A shorter loss is a restart, or a processor that was busy for a moment. */
const LASTING = 5_000;

const NAMES = { postgresql: 'PostgreSQL', redis: 'Redis', smtp: 'The mail server' } as const;

/** A server that a process needs. */
export type Dependency = keyof typeof NAMES;

export interface DependencyChange {
  readonly dependency: Dependency;
  readonly name: string;
  /** `still lost`: for five seconds. */
  readonly state: 'lost' | 'still lost' | 'back';
  /** The latest message about the loss: the server's or the system's if they gave one, otherwise the driver's or ours. */
  readonly reason?: string;
}

interface Poll {
  /** Milliseconds from one answer to the next check. */
  readonly interval: number;
  /** Timeout of a check in milliseconds. */
  readonly timeout: number;
}

/** Tracks which dependencies answer. It reports each loss at once, and again if it lasts, and each return. */
export class DependencyMonitor {
  private readonly states = new Map<Dependency, boolean>();
  private readonly failures = new Map<Dependency, unknown>();
  private readonly timers = new Map<Dependency, NodeJS.Timeout>();
  private readonly lossTimers = new Map<Dependency, NodeJS.Timeout>();
  private isClosed = false;

  constructor(private readonly onChange: (change: DependencyChange) => void) {}

  /** The dependencies of this process, and whether each answers. */
  read(): ReadonlyMap<Dependency, boolean> {
    return this.states;
  }

  /** Whether a dependency answered the last time. */
  isUp(dependency: Dependency): boolean {
    return this.states.get(dependency) ?? true;
  }

  /** Records the latest result: a failure, or undefined after an answer. A dependency without any counts as up. */
  record(dependency: Dependency, failure?: unknown): void {
    if (this.isClosed) return;
    const isUp = failure === undefined;
    const wasUp = this.isUp(dependency);
    this.states.set(dependency, isUp);
    if (isUp || isExplained(failure) || !isExplained(this.failures.get(dependency)))
      this.failures.set(dependency, failure);
    if (isUp === wasUp) return;
    clearTimeout(this.lossTimers.get(dependency));
    if (isUp) {
      this.onChange({ dependency, name: NAMES[dependency], state: 'back' });
      return;
    }
    this.reportLoss(dependency, 'lost');
    const reportAgain = () => {
      this.reportLoss(dependency, 'still lost');
    };
    this.lossTimers.set(dependency, setTimeout(reportAgain, LASTING).unref());
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
    for (const timer of [...this.timers.values(), ...this.lossTimers.values()]) clearTimeout(timer);
  }

  private reportLoss(dependency: Dependency, state: 'lost' | 'still lost'): void {
    const reason = reasonOf(this.failures.get(dependency));
    this.onChange({ dependency, name: NAMES[dependency], state, reason });
  }
}

/** Whether the server or the system gave the reason. Their errors have a code, except Redis' replies. */
function isExplained(failure: unknown): boolean {
  if (!types.isNativeError(failure)) return false;
  return 'code' in failure || failure.name === 'ReplyError' || isExplained(failure.cause);
}
