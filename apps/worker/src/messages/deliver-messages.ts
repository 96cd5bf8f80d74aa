import type { MessageReport, DeliverMessages } from '@adoption-store/domain';
import type { Logger } from '@adoption-store/telemetry';
import { logAttempt, requestOf } from '../attempt-log.js';
import type { BackgroundJobs } from '../background-jobs.js';
import { deliverQueue } from '../deliveries/deliver-queue.js';
import type { WorkerMetrics } from '../metrics.js';

interface Options {
  readonly log: Logger;
  readonly metrics: Pick<WorkerMetrics, 'deliveries'>;
  /** Messages that are sent at the same time. */
  readonly concurrency: number;
}

export function deliverMessages(
  jobs: BackgroundJobs,
  useCase: DeliverMessages,
  { log, metrics, concurrency }: Options,
): void {
  const onAttempt = (attempt: MessageReport) => {
    metrics.deliveries.inc({ outcome: attempt.outcome });
    logAttempt(log, 'message', { ...requestOf(attempt), message: attempt.id }, attempt);
  };
  deliverQueue(jobs, {
    name: 'deliver messages',
    concurrency,
    deliver: async (isStopping, onMore) => useCase.execute({ onAttempt, isStopping, onMore }),
  });
}
