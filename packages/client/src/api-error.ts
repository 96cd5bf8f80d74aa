import { TimedOut } from './clock.js';
import type { components } from './generated.js';

/** Codes of the client's own, besides the API's. */
type ClientCode =
  /** No complete response came. */
  | 'network_error'
  /** One try, or the whole call, took too long. */
  | 'timeout'
  /** The caller's signal ended the call. `cause` is its reason. */
  | 'aborted'
  /** The request was not sent: the limits would keep it waiting for longer than `maxWait`. */
  | 'wait_too_long'
  /** The response isn't one of the API's, such as a proxy's page or a redirect. */
  | 'unexpected_response'
  /** The response is larger than any answer of the API. Reading stopped. */
  | 'response_too_large';

/** The reason, for programs. The API may add codes, so any string is allowed. */
export type ApiErrorCode = components['schemas']['ErrorCode'] | ClientCode | (string & {});

/** The kind of the failure. Every code is of one kind. */
export type ApiErrorKind =
  | 'aborted'
  | 'authentication'
  | 'conflict'
  | 'invalid_request'
  | 'network'
  | 'not_found'
  | 'permission'
  | 'precondition'
  | 'rate_limit'
  | 'server'
  | 'timeout'
  | 'unexpected_response';

/** By the client's own codes, and by status. */
const KINDS: ReadonlyMap<ApiErrorCode | number, ApiErrorKind> = new Map<ClientCode | number, ApiErrorKind>([
  ['network_error', 'network'],
  ['timeout', 'timeout'],
  ['aborted', 'aborted'],
  ['wait_too_long', 'rate_limit'],
  ['unexpected_response', 'unexpected_response'],
  ['response_too_large', 'unexpected_response'],
  [401, 'authentication'],
  [403, 'permission'],
  [404, 'not_found'],
  [409, 'conflict'],
  [410, 'not_found'],
  [412, 'precondition'],
  [429, 'rate_limit'],
]);

/** What a caller needs to repeat the request that failed. */
export type FailedRequest = Partial<Pick<ApiError, 'idempotencyKey' | 'page'>>;

type Failure = Pick<ApiError, 'code' | 'message' | 'status'> &
  Partial<Pick<ApiError, 'requestId' | 'etag' | 'retryAfter' | 'cause'>> &
  FailedRequest;

/** Every failure of a call. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  declare readonly code: ApiErrorCode;
  declare readonly kind: ApiErrorKind;
  /** The HTTP status; 0 if no response came. */
  declare readonly status: number;
  /** The request's id. The operator can find the request in the log with it. */
  declare readonly requestId: string | undefined;
  /** The current entity tag of the resource, if its condition failed. */
  declare readonly etag: string | undefined;
  /** What `fetch` said, or the reason of the caller's signal. */
  declare readonly cause: unknown;
  /** Seconds after which the API accepts the request, if that is known. */
  declare readonly retryAfter: number | undefined;
  /** The Idempotency-Key of a POST. The same POST with this key doesn't happen a second time. */
  declare readonly idempotencyKey: string | undefined;
  /** Address of the page of a list that failed. `from(page)` goes on there. */
  declare readonly page: string | undefined;

  constructor({ code, message, status, requestId, etag, retryAfter, idempotencyKey, page, cause }: Failure) {
    super(message, cause === undefined ? undefined : { cause });
    // A Map, because a server can send any code, such as `constructor`.
    const kind = KINDS.get(code) ?? KINDS.get(status) ?? (status < 500 ? 'invalid_request' : 'server');
    Object.assign(this, { code, kind, status, requestId, etag, retryAfter, idempotencyKey, page });
  }
}

type SentRequest = FailedRequest & { readonly url: URL };

/** The error of a request that was ended: by its caller, or because it took too long. */
export function endOf(request: SentRequest, reason: unknown): ApiError {
  const failure =
    reason instanceof TimedOut
      ? { code: 'timeout', message: `not finished after ${reason.milliseconds} ms` }
      : { code: 'aborted', message: 'aborted by the caller', cause: reason };
  return new ApiError({ ...request, ...failure, status: 0 });
}

/** `fetch` rejects with a TypeError for a lost connection and for a wrong call alike. Only the latter has such a message. */
const WRONG_CALL =
  /Illegal invocation|does not implement interface|Can only call|is not (?:a function|a constructor|an object|defined|implemented)|(?:Cannot read|can't access) propert/;

/**
 * The error of a lost connection. Its message has the environment's own words, but never the key.
 *
 * @throws `error` itself if it isn't the connection's.
 */
export function lossOf(request: SentRequest, error: unknown, key: string): ApiError {
  const { message = '', cause } = (error ?? {}) as Partial<Error>;
  if (WRONG_CALL.test(message)) throw error;
  const { hostname, port, protocol } = request.url;
  const place = `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`;
  // Node.js has the reason in the cause. Browsers don't say it.
  const { code, message: reason = message } = (cause ?? {}) as { readonly code?: unknown; readonly message?: string };
  const loss =
    code === 'ECONNREFUSED'
      ? `${place} refused the connection`
      : `the connection to ${place} failed before the end${reason && `: ${reason}`}`;
  const shown = loss.replaceAll(key, '…');
  return new ApiError({ ...request, code: 'network_error', message: shown, status: 0, cause: error });
}
