import type { AccountMailReport, DeliverAccountMails } from '@adoption-store/domain';
import type { Logger } from '@adoption-store/telemetry';
import { logAttempt } from '../attempt-log.js';
import type { BackgroundJobs } from '../background-jobs.js';
import { deliverQueue } from '../deliveries/deliver-queue.js';
import type { WorkerMetrics } from '../metrics.js';

/** Mails that are sent at the same time. */
const CONCURRENCY = 2;

interface Reports {
  readonly log: Logger;
  readonly metrics: Pick<WorkerMetrics, 'accountMails'>;
}

export function deliverAccountMails(
  jobs: BackgroundJobs,
  useCase: DeliverAccountMails,
  { log, metrics }: Reports,
): void {
  const onAttempt = (attempt: AccountMailReport) => {
    metrics.accountMails.inc({ kind: attempt.kind, outcome: attempt.outcome });
    // Never the address or the link.
    logAttempt(log, 'account mail', { mail: attempt.id, kind: attempt.kind }, attempt);
  };
  deliverQueue(jobs, {
    name: 'deliver account mails',
    concurrency: CONCURRENCY,
    deliver: async (isStopping, onMore) => useCase.execute({ onAttempt, isStopping, onMore }),
  });
}
