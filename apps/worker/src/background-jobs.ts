import { setMaxListeners } from 'node:events';
import { reasonOf } from '@adoption-store/domain';
import type { Logger } from '@adoption-store/telemetry';
import { pause } from './waiting.js';

const FIRST_BACKOFF_MS = 250;
const LONGEST_BACKOFF_MS = 5_000;
/** A shorter failure is only logged as a warning: it happens at every upgrade, and nobody has to do anything. */
const LASTING_MS = 5_000;

export interface Job {
  /** The label `loop` in log and metrics. */
  readonly name: string;
  /** Returns whether there may be more work immediately. */
  readonly work: () => Promise<boolean>;
  readonly rest: (signal: AbortSignal) => Promise<void>;
}

/** Repeats jobs until they are stopped. After a failure a job waits, twice as long after each further failure. */
export class BackgroundJobs {
  private readonly stopping = new AbortController();
  private readonly running: Promise<void>[] = [];
  /** Since when jobs of that name fail, and whether that was logged as an error. */
  private readonly failing = new Map<string, { readonly since: number; isLogged: boolean }>();

  constructor(
    private readonly log: Pick<Logger, 'info' | 'warn' | 'error'>,
    private readonly failureCounter: { inc(labels: { readonly loop: string }, count?: number): void },
  ) {
    // Each running job adds a listener, and there may be a hundred, so Node's warning about a leak is disabled.
    setMaxListeners(0, this.stopping.signal);
  }

  get areStopping(): boolean {
    return this.stopping.signal.aborted;
  }

  /** Starts a job. Jobs with the same name share their failure and recovery in the log. */
  start(job: Job): void {
    this.failureCounter.inc({ loop: job.name }, 0);
    this.running.push(this.repeat(job));
  }

  onStop(cleanup: () => void): void {
    this.stopping.signal.addEventListener('abort', cleanup);
  }

  /** Stops all jobs and waits for them. Each finishes its current work and starts no more. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await Promise.all(this.running);
  }

  private async repeat({ name, work, rest }: Job): Promise<void> {
    const { signal } = this.stopping;
    let failures = 0;
    while (!signal.aborted) {
      try {
        const mayHaveMore = await work();
        failures = 0;
        if (this.failing.delete(name)) this.log.info({ loop: name }, 'the loop works again');
        if (!mayHaveMore) await rest(signal);
      } catch (error) {
        this.reportFailure(name, error);
        await pause(Math.min(FIRST_BACKOFF_MS * 2 ** failures, LONGEST_BACKOFF_MS), signal);
        failures += 1;
      }
    }
  }

  private reportFailure(name: string, error: unknown): void {
    this.failureCounter.inc({ loop: name });
    const fields = { loop: name, reason: reasonOf(error) };
    const failing = this.failing.get(name);
    if (failing === undefined) {
      this.failing.set(name, { since: performance.now(), isLogged: false });
      this.log.warn(fields, 'the loop failed and is retried until it works');
    } else if (!failing.isLogged && performance.now() - failing.since >= LASTING_MS) {
      failing.isLogged = true;
      this.log.error(fields, 'the loop still fails');
    }
  }
}

export function every(milliseconds: number): Job['rest'] {
  return (signal) => pause(milliseconds, signal);
}
