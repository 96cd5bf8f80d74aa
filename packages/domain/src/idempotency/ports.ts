import type { SystemPorts } from '../kernel/ports.js';
import type { IdempotencyRecords } from './idempotency-records.js';

export interface IdempotencyPorts extends SystemPorts {
  readonly idempotency: IdempotencyRecords;
}
