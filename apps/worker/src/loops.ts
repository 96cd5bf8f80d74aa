import { setMaxListeners } from 'node:events';
import { reasonOf } from '@adoption-store/domain';
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
    // Each loop adds a listener, and there may be a hundred, so Node's warning about a leak is disabled.
    setMaxListeners(0, this.stopping.signal);
  }

  get areStopping(): boolean {
    return this.stopping.signal.aborted;
  }

  /** Starts a loop. Loops with the same name share their failure and recovery in the log. */
  start(name: string, { work, rest }: Pick<Repeated, 'work' | 'rest'>): void {
    const onSuccess = () => {
      if (this.failing.delete(name)) this.log.info({ loop: name }, 'the loop works again');
    };
    const onFailure = (error: unknown) => {
      this.metrics.loopFailures.inc({ loop: name });
      if (this.failing.has(name)) return;
      this.failing.add(name);
      this.log.error({ loop: name, reason: reasonOf(error) }, 'the loop failed and is retried until it works');
    };
    this.metrics.loopFailures.inc({ loop: name }, 0);
    this.running.push(repeat({ work, rest, onSuccess, onFailure }, this.stopping.signal));
  }

  /** Stops all loops and waits for them. Each finishes its current work and starts no more. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await Promise.all(this.running);
  }
}

export function every(milliseconds: number): Repeated['rest'] {
  return (signal) => pause(milliseconds, signal);
}
