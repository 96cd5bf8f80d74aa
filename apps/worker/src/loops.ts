import { setMaxListeners } from 'node:events';
import type { Logger } from '@adoption-store/telemetry';
import type { WorkerMetrics } from './metrics.js';
import { pause } from './pauses.js';
import { repeat, type Repeated } from './repeat.js';

/** The worker's repeated tasks. */
export class Loops {
  private readonly stopping = new AbortController();
  private readonly running: Promise<void>[] = [];
  private readonly failing = new Set<string>();

  constructor(
    private readonly log: Logger,
    private readonly metrics: WorkerMetrics,
  ) {
    // Each loop listens to it, and there may be a hundred: that is no leak.
    setMaxListeners(0, this.stopping.signal);
  }

  get areStopping(): boolean {
    return this.stopping.signal.aborted;
  }

  /** Loops of one name fail and recover together, in the log. */
  start(name: string, { work, rest }: Pick<Repeated, 'work' | 'rest'>): void {
    const onSuccess = () => {
      if (this.failing.delete(name)) this.log.info({ loop: name }, 'it works again');
    };
    const onFailure = (error: unknown) => {
      this.metrics.loopFailures.inc({ loop: name });
      if (this.failing.has(name)) return;
      this.failing.add(name);
      this.log.error({ loop: name, reason: reasonOf(error) }, 'it failed and is tried again until it works');
    };
    this.metrics.loopFailures.inc({ loop: name }, 0);
    this.running.push(repeat({ work, rest, onSuccess, onFailure }, this.stopping.signal));
  }

  /** Each ends what it is at, begins nothing new, and is waited for. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await Promise.all(this.running);
  }
}

export function every(milliseconds: number): Repeated['rest'] {
  return (signal) => pause(milliseconds, signal);
}

/** Its message alone: the rest of an error may hold what was sent, or where to. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
