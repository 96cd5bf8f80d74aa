import type { Clock } from '../kernel/clock.js';
import type { Refusal, RefusalLog } from './refusal-log.js';
import type { KeyRequester } from './request-counter.js';

export type RefusedRequest = Omit<Refusal, 'at' | 'keyId'>;

/** Records a refused request, so that the account's people can find out why it was refused. */
export class RecordRefusal {
  constructor(
    private readonly refusals: RefusalLog,
    private readonly clock: Clock,
  ) {}

  /** Returns at once and never fails. */
  execute({ accountId, keyId }: KeyRequester, { operation, code, requestId }: RefusedRequest): void {
    this.refusals.record(accountId, { at: this.clock.now(), keyId, operation, code, requestId });
  }
}
