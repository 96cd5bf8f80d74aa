import type { AccountId } from '../accounts/account.js';
import type { KeyRequester } from '../accounts/key-bans.js';
import type { LimitPorts } from './ports.js';
import type { Verdict } from './quota.js';
import type { RecordedRequest, ShownRefusal } from './request-records.js';

export { MeterRequest } from './meter-request.js';
export { ShowUsage } from './show-usage.js';

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

/** The form of a request's id. */
const REQUEST_ID = /^[A-Za-z0-9_-]{1,64}$/;

export interface ShowRefusalsInput {
  readonly accountId: AccountId;
  /** Only the request with exactly this id. */
  readonly requestId?: string | undefined;
}

/** The account's last refused requests, the latest first. */
export class ShowRefusals {
  constructor(private readonly ports: Pick<LimitPorts, 'requestRecords'>) {}

  async execute({ accountId, requestId }: ShowRefusalsInput): Promise<readonly ShownRefusal[]> {
    if (requestId !== undefined && !REQUEST_ID.test(requestId)) return [];
    return this.ports.requestRecords.listRefusals(accountId, requestId);
  }
}
