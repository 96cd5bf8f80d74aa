import type { Verdict } from './quota.js';
import type { KeyRequester } from '../accounts/key-bans.js';
import type { RecordedRequest } from './request-records.js';
import type { LimitPorts } from './ports.js';

/** What is known of a request when it is answered. */
export interface AnsweredRequest extends Pick<RecordedRequest, 'isUse' | 'operation' | 'refusal'> {
  /** The verdict of the limits. Undefined if they weren't asked. */
  readonly verdict?: Verdict | undefined;
}

/** Records what a request has used, and why it was refused, so that the account's holder can see it. */
export class RecordRequest {
  constructor(private readonly ports: Pick<LimitPorts, 'requestRecords' | 'clock'>) {}

  /** Returns at once and never fails. */
  execute({ accountId, keyId }: KeyRequester, { verdict, isUse, operation, refusal }: AnsweredRequest): void {
    const isAdmitted = verdict === undefined ? undefined : verdict.outcome === 'admitted';
    this.ports.requestRecords.record({
      accountId,
      keyId,
      at: this.ports.clock.now(),
      isUse,
      isAdmitted,
      operation,
      refusal,
    });
  }
}
