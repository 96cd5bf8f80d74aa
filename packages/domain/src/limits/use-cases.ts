import type { AccountId } from '../accounts/account.js';
import type { Caller } from '../accounts/keys/authenticate.js';
import type { ApiKeyId, KeyRequester } from '../accounts/keys/api-key.js';
import type { LimitOptions, LimitPorts } from './ports.js';
import type { Verdict } from './quota.js';
import type { CountedRequest } from './request-counter.js';
import { keptReason, type FailedRequest, type ShownFailedRequests } from './failed-requests.js';
import type { RecordedRequest } from './request-records.js';

export { GetUsage } from './get-usage.js';

/** How often a key may ask for its limits in a minute. */
export const LIMITS_REQUESTS_PER_MINUTE = 60;

/** The sender of a request: an authenticated caller, or an address without a valid key. */
export type Source = Caller | { readonly address: string };

/** Counts a request against its account's plan or its address, and decides whether it is admitted. */
export class MeterRequest {
  constructor(
    private readonly ports: Pick<LimitPorts, 'requests' | 'clock'>,
    private readonly options: LimitOptions,
  ) {}

  /** A refusal is a verdict, not an exception. */
  execute(source: Source): Verdict | Promise<Verdict> {
    return this.ports.requests.count(this.requestOf(source));
  }

  /**
   * Counts a request for the key's limits. It has a bucket of its own: it costs no quota, and a banned key may send it.
   */
  async countLimitsRequest({ keyId }: Caller): Promise<Verdict> {
    const requester = { address: `rate_limit of key ${keyId}` };
    const limits = { perMinute: LIMITS_REQUESTS_PER_MINUTE, perDay: Infinity };
    return this.ports.requests.count({ requester, limits, now: this.ports.clock.now() });
  }

  /** The verdict that a request would get now, without counting one. */
  async peek(source: Source): Promise<Verdict> {
    return this.ports.requests.peek(this.requestOf(source));
  }

  private requestOf(source: Source): CountedRequest {
    const now = this.ports.clock.now();
    if ('address' in source)
      return { requester: source, limits: { perMinute: this.options.addressLimit, perDay: Infinity }, now };
    return { requester: source, limits: source.plan, now };
  }
}

/** What is known of a request when it is answered. */
export interface AnsweredRequest extends Pick<RecordedRequest, 'isUse' | 'operation' | 'failedRequest'> {
  /** The verdict of the limits. Undefined if they weren't asked. */
  readonly verdict?: Verdict | undefined;
}

/** Records what a request has used, and why it was refused, so that the account's holder can see it. */
export class RecordRequest {
  constructor(private readonly ports: Pick<LimitPorts, 'requestRecords' | 'clock'>) {}

  /** Returns at once and never fails. */
  execute({ accountId, keyId }: KeyRequester, { verdict, isUse, operation, failedRequest }: AnsweredRequest): void {
    const isAdmitted = verdict === undefined ? undefined : verdict.outcome === 'admitted';
    this.ports.requestRecords.record({
      accountId,
      keyId,
      at: this.ports.clock.now(),
      isUse,
      isAdmitted,
      operation,
      failedRequest: failedRequest && shortened(failedRequest),
    });
  }
}

function shortened({ operation, status, code, reason, requestId }: FailedRequest): FailedRequest {
  return { operation, status, code, reason: keptReason(reason), requestId };
}

export interface ListFailedRequestsInput {
  readonly accountId: AccountId;
  /** Only those with the request of exactly this id. */
  readonly requestId?: string | undefined;
  readonly code?: string | undefined;
  readonly keyId?: ApiKeyId | undefined;
}

export interface FailedRequestList {
  /** The latest first. */
  readonly failedRequests: readonly ShownFailedRequests[];
  /** All that can be asked for: the account's failed requests without any filter. */
  readonly all: readonly ShownFailedRequests[];
}

/** The account's last failed requests, and those of them that are asked for. */
export class ListFailedRequests {
  constructor(private readonly ports: Pick<LimitPorts, 'requestRecords'>) {}

  async execute({ accountId, requestId, code, keyId }: ListFailedRequestsInput): Promise<FailedRequestList> {
    const all = await this.ports.requestRecords.listFailedRequests(accountId);
    const failedRequests = all.filter(
      (each) =>
        (requestId === undefined || each.requestIds.includes(requestId)) &&
        (code === undefined || each.code === code) &&
        (keyId === undefined || each.keyId === keyId),
    );
    return { failedRequests, all };
  }
}
