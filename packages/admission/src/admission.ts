import {
  type Application,
  type Caller,
  type Clock,
  DomainError,
  keyErrors,
  type Instant,
  type KeyRequester,
  type QuotaWindow,
  remainingIn,
  requireScopes,
  retryAfter,
  SECOND,
  shownWindow,
  type Verdict,
} from '@adoption-store/domain';
import { networkOf } from './network.js';
import { LimitExceeded } from './refusal.js';

type UseCases = Pick<Application, 'authenticate' | 'meterRequest' | 'recordRequest'>;

/** What a request has in its `Authorization` header. */
export interface Credentials {
  readonly authorization: string | undefined;
  /** Whether the header was sent several times. */
  readonly isRepeated: boolean;
}

export type LimitHeaders = Readonly<Record<string, string>>;

/** The consequences of a verdict for the response. */
export interface Judgement {
  readonly verdict: Verdict;
  /** `X-RateLimit-*`, and the headers of draft-ietf-httpapi-ratelimit-headers from the same decision. */
  readonly headers: LimitHeaders;
  /** Undefined if the request was admitted. */
  readonly refusal: LimitExceeded | undefined;
}

/** The error with which a request was answered. */
interface AnsweredError {
  readonly status: number;
  readonly code: string;
  /** The part of its message that may be kept. */
  readonly reason: string | undefined;
  readonly operation: string;
  readonly requestId: string;
}

/** A request when it is answered. */
export interface AnsweredRequest {
  readonly caller?: KeyRequester | undefined;
  /** The owner of the request's key, if the key is expired, revoked or disabled. */
  readonly unusableKey?: KeyRequester | undefined;
  /** Undefined if it spends no quota. */
  readonly verdict?: Verdict | undefined;
  /** The operation, if the caller may use it. */
  readonly used?: string | undefined;
  readonly error?: AnsweredError | undefined;
}

// The scheme is case-insensitive (RFC 9110 §11.1), then exactly one space and one token.
const BEARER = /^bearer [A-Za-z0-9\-._~+/]+={0,2}$/i;
const SCHEME_LENGTH = 'Bearer '.length;
const LONGEST_TOKEN = 256;

/**
 * The steps of admission, in their order: key, limits, scopes, and the record of the answer. They return without a
 * promise if they can, because a promise for each request costs a measurable part of the rate.
 */
export class Admission {
  /** @throws InsufficientScope */
  readonly requireScopes = requireScopes;

  /** @param onAddressVerdict called for each request that was counted against an address. */
  constructor(
    private readonly useCases: UseCases,
    private readonly clock: Clock,
    private readonly onAddressVerdict: (verdict: Verdict) => void = () => undefined,
  ) {}

  /** @throws DomainError of kind `unauthenticated`: count it with `countAddress`. Also as a rejection. */
  authenticate({ authorization, isRepeated }: Credentials): Caller | Promise<Caller> {
    if (authorization === undefined) {
      throw new DomainError(
        keyErrors.missing_api_key,
        'the Authorization header is missing, it must be "Bearer <API key>"',
      );
    }
    if (isRepeated) throw new DomainError(keyErrors.invalid_api_key, 'the Authorization header must be sent once');
    if (authorization.length > SCHEME_LENGTH + LONGEST_TOKEN || !BEARER.test(authorization)) {
      throw new DomainError(keyErrors.invalid_api_key, 'the Authorization header must be "Bearer <API key>"');
    }
    return this.useCases.authenticate.execute(authorization.slice(SCHEME_LENGTH));
  }

  /**
   * Counts the request. Its refusal is part of the judgement, not an exception.
   *
   * @param hasOwnBucket whether it spends no quota, and has a limit of its own.
   */
  meter(caller: Caller, hasOwnBucket = false): Judgement | Promise<Judgement> {
    const { meterRequest } = this.useCases;
    const verdict = hasOwnBucket ? meterRequest.countLimitsRequest(caller) : meterRequest.execute(caller);
    if (verdict instanceof Promise) return verdict.then((later) => judgementOf(later, this.clock.now()));
    return judgementOf(verdict, this.clock.now());
  }

  /** What `meter` would decide, without counting a request. */
  async peek(caller: Caller): Promise<Judgement> {
    return judgementOf(await this.useCases.meterRequest.peek(caller), this.clock.now());
  }

  /** Counts a request that is refused before its key was accepted, if its address isn't over its limit. */
  async countAddress(address: string): Promise<Judgement> {
    const verdict = await this.useCases.meterRequest.execute({ address: networkOf(address) });
    this.onAddressVerdict(verdict);
    return judgementOf(verdict, this.clock.now());
  }

  /** What `countAddress` would decide, without counting a request. */
  async peekAddress(address: string): Promise<Judgement> {
    const verdict = await this.useCases.meterRequest.peek({ address: networkOf(address) });
    return judgementOf(verdict, this.clock.now());
  }

  /** Records a request of a known account: the use of its key, its outcome and its failure. Never fails. */
  record({ caller, unusableKey, verdict, used, error }: AnsweredRequest): void {
    const owner = caller ?? unusableKey;
    if (owner === undefined) return;
    // An error of the server is no refusal: operators see it in the log.
    const isRefusal = error !== undefined && error.status < 500;
    const failedRequest = isRefusal ? error : undefined;
    this.useCases.recordRequest.execute(owner, {
      isUse: caller !== undefined,
      verdict,
      operation: used,
      failedRequest,
    });
  }
}

function judgementOf(verdict: Verdict, now: Instant): Judgement {
  const { outcome, minute, day } = verdict;
  const shown = shownWindow(verdict);
  const hasDay = day.limit !== Infinity;
  const headers = {
    'x-ratelimit-limit': String(shown.limit),
    'x-ratelimit-remaining': String(remainingIn(shown)),
    'x-ratelimit-reset': String(resetSeconds(shown)),
    'ratelimit-policy': `"minute";q=${minute.limit};w=60${hasDay ? `, "day";q=${day.limit};w=86400` : ''}`,
    ratelimit: `"minute";${left(minute, now)}${hasDay ? `, "day";${left(day, now)}` : ''}`,
  };
  const refusal = outcome === 'admitted' ? undefined : new LimitExceeded(outcome, retryAfter(verdict, now));
  return { verdict, headers, refusal };
}

/** When the window ends, in Unix seconds. */
export function resetSeconds({ resetsAt }: QuotaWindow): number {
  return Math.ceil(resetsAt / SECOND);
}

function left(window: QuotaWindow, now: Instant): string {
  return `r=${remainingIn(window)};t=${Math.max(0, Math.ceil((window.resetsAt - now) / SECOND))}`;
}
