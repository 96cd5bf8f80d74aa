import type { Clock } from '../kernel/clock.js';
import type { Verdict } from './quota.js';
import type { KeyRequester } from './request-counter.js';
import type { RecordedRequest, RequestRecords } from './request-records.js';

/** What is known of a request when it is answered. */
export interface AnsweredRequest extends Pick<RecordedRequest, 'isUse' | 'operation' | 'refusal'> {
  /** The verdict of the limits. Undefined if they weren't asked. */
  readonly verdict?: Verdict | undefined;
}

/** Records what a request has used, and why it was refused, so that the account's people can see it. */
export class RecordRequest {
  constructor(
    private readonly records: RequestRecords,
    private readonly clock: Clock,
  ) {}

  /** Returns at once and never fails. */
  execute({ accountId, keyId }: KeyRequester, { verdict, isUse, operation, refusal }: AnsweredRequest): void {
    const isAdmitted = verdict === undefined ? undefined : verdict.outcome === 'admitted';
    this.records.record({ accountId, keyId, at: this.clock.now(), isUse, isAdmitted, operation, refusal });
  }
}
