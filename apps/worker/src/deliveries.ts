import {
  type AccountMailReport,
  type DeliverAccountMails,
  type DeliverMessages,
  type DeliverWebhooks,
  type DeliveryReport,
  type MessageReport,
  type NewMessage,
  QUICK_ROUND,
  reasonOf,
  SECOND,
  type WebhookReport,
} from '@adoption-store/domain';
import { type Logger, parseTraceparent } from '@adoption-store/telemetry';
import type { BackgroundJobs } from './background-jobs.js';
import type { Surroundings } from './jobs.js';
import { AutoResetEvent } from './waiting.js';

const MAILS_AT_ONCE = 2;
/** Receivers that are called at the same time. Many, because a round of one that hangs takes 15 s. */
const RECEIVERS_AT_ONCE = 48;
/** Additional ones, only for receivers whose last round was quick, so that they don't wait however many others hang. */
const QUICK_RECEIVERS_AT_ONCE = 16;

/** @param concurrency messages that are sent at the same time. */
export function deliverMessages(
  { jobs, log, metrics }: Surroundings,
  useCase: DeliverMessages,
  concurrency: number,
): void {
  const onAttempt = (attempt: MessageReport) => {
    metrics.deliveries.inc({ outcome: attempt.outcome });
    logAttempt(log, 'message', { ...requestOf(attempt), message: attempt.id }, attempt);
  };
  deliverQueue(jobs, 'deliver messages', concurrency, (isStopping, onMore) =>
    useCase.execute({ onAttempt, isStopping, onMore }),
  );
}

export function deliverAccountMails({ jobs, log, metrics }: Surroundings, useCase: DeliverAccountMails): void {
  const onAttempt = (attempt: AccountMailReport) => {
    metrics.accountMails.inc({ kind: attempt.kind, outcome: attempt.outcome });
    // Never the address or the link.
    logAttempt(log, 'account mail', { mail: attempt.id, kind: attempt.kind }, attempt);
  };
  deliverQueue(jobs, 'deliver account mails', MAILS_AT_ONCE, (isStopping, onMore) =>
    useCase.execute({ onAttempt, isStopping, onMore }),
  );
}

/** Calls the receivers of webhooks. The returned function says that a delivery may be due. */
export function deliverWebhooks({ jobs, log, metrics }: Surroundings, useCase: DeliverWebhooks): () => void {
  const onAttempt = (attempt: WebhookReport) => {
    metrics.webhookDeliveries.inc({ outcome: attempt.outcome });
    // Never the URL, whose path or query may be secret. A failure is the receiver's problem, so it is no warning.
    const fields = { webhook: attempt.webhookId, delivery: attempt.id, event: attempt.type };
    logAttempt(log, 'webhook delivery', fields, attempt, { sent: 'debug', postponed: 'info', failed: 'info' });
  };
  const wakeQuick = deliverQueue(jobs, 'deliver to quick webhooks', QUICK_RECEIVERS_AT_ONCE, (_isStopping, onMore) =>
    useCase.execute(onAttempt, onMore, QUICK_ROUND),
  );
  const wakeAny = deliverQueue(jobs, 'deliver webhooks', RECEIVERS_AT_ONCE, (_isStopping, onMore) =>
    useCase.execute(onAttempt, onMore),
  );
  return () => {
    wakeQuick();
    wakeAny();
  };
}

/** The ids of the request that queued the message, as the API logged them. An undefined property isn't logged. */
export function requestOf({ requestId, traceparent }: Pick<NewMessage, 'requestId' | 'traceparent'>) {
  return { request_id: requestId, trace_id: parseTraceparent(traceparent)?.traceId };
}

/**
 * Delivers queued items until the jobs are stopped. The returned function says that an item may be due.
 *
 * @param concurrency the number of jobs that deliver at the same time.
 * @param deliver delivers what is due, and calls `onMore` first if there may be more.
 */
function deliverQueue(
  jobs: BackgroundJobs,
  name: string,
  concurrency: number,
  deliver: (isStopping: () => boolean, onMore: () => void) => Promise<{ readonly mayHaveMore: boolean }>,
): () => void {
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

const LEVELS = { sent: 'info', dropped: 'info', postponed: 'warn', failed: 'error' } as const;

function logAttempt(
  log: Logger,
  item: string,
  fields: object,
  report: DeliveryReport<object>,
  levels: Partial<Record<keyof typeof LEVELS, 'debug' | 'info'>> = {},
): void {
  const { attempt, outcome } = report;
  const reason = 'reason' in report ? { reason: reasonOf(report.reason) } : {};
  log[levels[outcome] ?? LEVELS[outcome]]({ ...fields, attempt, outcome, ...reason }, `${item} ${outcome}`);
}
