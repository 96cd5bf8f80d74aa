import { type DeliveryReport, type NewMessage, reasonOf } from '@adoption-store/domain';
import { type Logger, parseTraceparent } from '@adoption-store/telemetry';

const LEVELS = { sent: 'info', dropped: 'info', postponed: 'warn', failed: 'error' } as const;

/** Logs a delivery attempt, with these fields. */
export function logAttempt(
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

/**
 * The ids of the request that queued the message, as the API logged them. A property that is undefined isn't logged.
 */
export function requestOf({ requestId, traceparent }: Pick<NewMessage, 'requestId' | 'traceparent'>) {
  return { request_id: requestId, trace_id: parseTraceparent(traceparent)?.traceId };
}
