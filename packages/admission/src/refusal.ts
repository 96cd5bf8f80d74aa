import { DomainError, InsufficientScope, type Outcome } from '@adoption-store/domain';

type Exceeded = Exclude<Outcome, 'admitted'>;

/** The codes of requests over a limit, with their status. */
export const LIMIT_STATUSES = {
  rate_limited: 429,
  daily_quota_exceeded: 429,
  key_banned: 429,
} as const satisfies Record<Exceeded, number>;

const MESSAGES: Readonly<Record<Exceeded, string>> = {
  rate_limited: 'too many requests in this minute',
  daily_quota_exceeded: 'too many requests today',
  key_banned: 'the API key is banned for a while, because it kept sending after 429s',
};

/** The request is over a limit, or its key is banned. */
export class LimitExceeded extends Error {
  override readonly name = 'LimitExceeded';
  /** The part of the message that may be kept: without the seconds, so that equal errors are counted together. */
  readonly kept: string;

  /** @param seconds after which it has room again. */
  constructor(
    readonly code: Exceeded,
    readonly seconds: number,
  ) {
    super(`${MESSAGES[code]}; try again in ${seconds} s`);
    this.kept = MESSAGES[code];
  }
}

/** RFC 6750 §3. */
const CHALLENGE = 'Bearer realm="animal-adoption-store"';
const UNAVAILABLE_SECONDS = '1';

/**
 * The headers that an error adds to its response.
 *
 * @param wasSent whether the request has credentials.
 */
export function refusalHeaders(error: unknown, wasSent: boolean): Readonly<Record<string, string>> {
  if (error instanceof LimitExceeded) return { 'retry-after': String(error.seconds) };
  if (error instanceof InsufficientScope) {
    return { 'www-authenticate': `Bearer error="insufficient_scope", scope="${error.scopes.join(' ')}"` };
  }
  if (!(error instanceof DomainError)) return {};
  if (error.kind === 'unauthenticated') {
    return { 'www-authenticate': wasSent ? `${CHALLENGE}, error="invalid_token"` : CHALLENGE };
  }
  return error.kind === 'unavailable' ? { 'retry-after': UNAVAILABLE_SECONDS } : {};
}

/** The status of an error of admission. Undefined if it is another one, which is a defect. */
export function statusOf(error: LimitExceeded | DomainError): number | undefined {
  if (error instanceof LimitExceeded) return LIMIT_STATUSES[error.code];
  if (error.kind === 'unauthenticated') return 401;
  if (error.kind === 'forbidden') return 403;
  return error.kind === 'unavailable' ? 503 : undefined;
}
