import { SECOND } from '@adoption-store/domain';
import type { BackgroundJobs } from '../background-jobs.js';
import { AutoResetEvent } from '../waiting.js';

interface Delivery<Attempt> {
  /** The name of its jobs. */
  readonly name: string;
  /** Number of batches that are delivered at the same time. */
  readonly concurrency: number;
  /** Delivers a batch, and calls `onMore` first if there may be more. */
  readonly deliverBatch: {
    execute(
      onAttempt: (attempt: Attempt) => void,
      isStopping: () => boolean,
      onMore: () => void,
    ): Promise<{ readonly mayHaveMore: boolean }>;
    watch(onQueued: () => void): () => Promise<void>;
  };
  readonly onAttempt: (attempt: Attempt) => void;
}

/** Delivers queued items until the jobs are stopped. */
export function deliverQueue<Attempt>(
  jobs: BackgroundJobs,
  { name, concurrency, deliverBatch, onAttempt }: Delivery<Attempt>,
): void {
  const mayBeDue = new AutoResetEvent();
  const wakeOne = () => {
    mayBeDue.set();
  };
  const job = {
    name,
    // If there may be more, it wakes another job, so that as many work as there is work for.
    work: async () => (await deliverBatch.execute(onAttempt, () => jobs.areStopping, wakeOne)).mayHaveMore,
    rest: (signal: AbortSignal) => mayBeDue.wait(signal),
  };
  for (let started = 0; started < concurrency; started += 1) jobs.start(job);
  const unwatch = deliverBatch.watch(wakeOne);
  // No notification arrives when a postponed item is due again, or when a killed worker's claim expires.
  const timer = setInterval(wakeOne, SECOND);
  jobs.onStop(() => {
    clearInterval(timer);
    return unwatch();
  });
}
