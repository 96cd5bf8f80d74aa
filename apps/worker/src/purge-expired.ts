import { type Clock, HOUR, PURGED_KINDS, type PurgeExpired, SECOND } from '@adoption-store/domain';
import { type BackgroundJobs, every } from './background-jobs.js';
import type { WorkerMetrics } from './metrics.js';

interface Options {
  readonly metrics: Pick<WorkerMetrics, 'purged' | 'purgeCompleted'>;
  readonly clock: Clock;
  /** Throws if this machine's clock is wrong. */
  readonly checkClock: () => Promise<void>;
}

/** Deletes expired records, each kind in a job of its own. */
export function purgeExpired(
  jobs: BackgroundJobs,
  useCase: PurgeExpired,
  { metrics, clock, checkClock }: Options,
): void {
  for (const kind of PURGED_KINDS) {
    metrics.purged.inc({ kind }, 0);
    const isUpToDate = () => {
      metrics.purgeCompleted.set({ kind }, clock.now() / SECOND);
    };
    isUpToDate();
    jobs.start({
      name: `purge ${kind}`,
      async work() {
        // A clock that is ahead would delete rows that are still needed.
        await checkClock();
        metrics.purged.inc({ kind }, await useCase.execute(kind));
        isUpToDate();
        return false;
      },
      rest: every(HOUR),
    });
  }
}
