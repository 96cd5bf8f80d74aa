import {
  type AccountMailDelivery,
  type Delivery,
  type NewMessage,
  reasonOf,
  type WebhookAttempt,
} from '@adoption-store/domain';
import { type Logger, parseTraceparent } from '@adoption-store/telemetry';

const LEVELS = { sent: 'info', dropped: 'info', postponed: 'warn', failed: 'error' } as const;

/** Logs an attempt to send an item, with these fields. */
export function logAttempt(
  log: Logger,
  item: string,
  fields: object,
  delivery: Delivery | AccountMailDelivery | WebhookAttempt,
  levels: Partial<Record<Delivery['outcome'], 'debug' | 'info'>> = {},
): void {
  const { attempt, outcome } = delivery;
  const reason = 'reason' in delivery ? { reason: reasonOf(delivery.reason) } : {};
  log[levels[outcome] ?? LEVELS[outcome]]({ ...fields, attempt, outcome, ...reason }, `${item} ${outcome}`);
}

/** The ids of the request that queued the message, as the API logged them. An undefined property isn't logged. */
export function requestOf({ requestId, traceparent }: Pick<NewMessage, 'requestId' | 'traceparent'>) {
  return { request_id: requestId, trace_id: parseTraceparent(traceparent)?.traceId };
}
