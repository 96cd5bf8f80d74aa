import { SECOND } from '@adoption-store/domain';
import type { BackgroundJobs } from '../background-jobs.js';
import { AutoResetEvent } from '../waiting.js';

interface Delivery {
  /** The name of the queue's jobs. */
  readonly name: string;
  /** The number of jobs that deliver at the same time. */
  readonly concurrency: number;
  /** Delivers what is due, and calls `onMore` first if there may be more. */
  readonly deliver: (isStopping: () => boolean, onMore: () => void) => Promise<{ readonly mayHaveMore: boolean }>;
}

/** Delivers queued items until the jobs are stopped. The returned function says that an item may be due. */
export function deliverQueue(jobs: BackgroundJobs, { name, concurrency, deliver }: Delivery): () => void {
  const mayBeDue = new AutoResetEvent();
  const wakeOne = () => {
    mayBeDue.set();
  };
  const job = {
    name,
    // If there may be more, it wakes another job, so that more jobs work as long as there is work.
    work: async () => (await deliver(() => jobs.areStopping, wakeOne)).mayHaveMore,
    rest: (signal: AbortSignal) => mayBeDue.wait(signal),
  };
  for (let started = 0; started < concurrency; started += 1) jobs.start(job);
  // An item may have been queued, a postponed one may be due again, or the claim of a killed worker may have expired.
  const timer = setInterval(wakeOne, SECOND);
  jobs.onStop(() => {
    clearInterval(timer);
  });
  return wakeOne;
}
