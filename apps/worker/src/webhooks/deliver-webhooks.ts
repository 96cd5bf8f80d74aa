import { type DeliverWebhooks, QUICK_ROUND, type WebhookReport } from '@adoption-store/domain';
import type { Logger } from '@adoption-store/telemetry';
import { logAttempt } from '../attempt-log.js';
import type { BackgroundJobs } from '../background-jobs.js';
import { deliverQueue } from '../deliveries/deliver-queue.js';
import type { WorkerMetrics } from '../metrics.js';

/** Receivers that are called at the same time. Many, because a round of one that hangs takes 15 s. */
const CONCURRENCY = 48;
/** Additional ones, only for receivers whose last round was quick, so that they don't wait however many others hang. */
const QUICK_CONCURRENCY = 16;

interface Reports {
  readonly log: Logger;
  readonly metrics: Pick<WorkerMetrics, 'webhookDeliveries'>;
}

/** Calls the receivers of webhooks. The returned function says that a delivery may be due. */
export function deliverWebhooks(jobs: BackgroundJobs, useCase: DeliverWebhooks, { log, metrics }: Reports): () => void {
  const onAttempt = (attempt: WebhookReport) => {
    metrics.webhookDeliveries.inc({ outcome: attempt.outcome });
    // Never the URL, whose path or query may be secret. A failure is the receiver's problem, so it is no warning.
    const fields = { webhook: attempt.webhookId, delivery: attempt.id, event: attempt.type };
    logAttempt(log, 'webhook delivery', fields, attempt, { sent: 'debug', postponed: 'info', failed: 'info' });
  };
  const wakeQuick = deliverQueue(jobs, {
    name: 'deliver to quick webhooks',
    concurrency: QUICK_CONCURRENCY,
    deliver: async (_isStopping, onMore) => useCase.execute(onAttempt, onMore, QUICK_ROUND),
  });
  const wakeAny = deliverQueue(jobs, {
    name: 'deliver webhooks',
    concurrency: CONCURRENCY,
    deliver: async (_isStopping, onMore) => useCase.execute(onAttempt, onMore),
  });
  return () => {
    wakeQuick();
    wakeAny();
  };
}
