import type { components } from './generated.js';

/**
 * The API's codes, and two of the client's own: `network_error` if no response came, `unexpected_response` if the
 * response isn't the API's, such as a proxy's page.
 */
export type ApiErrorCode = components['schemas']['ErrorCode'] | 'network_error' | 'unexpected_response';

interface Refusal {
  readonly code: ApiErrorCode;
  readonly message: string;
  readonly status: number;
  readonly requestId?: string | undefined;
  readonly retryAfter?: number | undefined;
  readonly cause?: unknown;
}

/** Every failure of a request except an abort, which rejects with the signal's own reason. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** The reason, for programs. New codes may be added; handle an unknown code by its status. */
  readonly code: ApiErrorCode;
  /** The HTTP status; 0 if no response came. */
  readonly status: number;
  /** The request's id. The operator can find the request in the log with it. */
  readonly requestId: string | undefined;
  /** Seconds after which the API accepts the request, if it said so. */
  readonly retryAfter: number | undefined;

  constructor({ code, message, status, requestId, retryAfter, cause }: Refusal) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.status = status;
    this.requestId = requestId;
    this.retryAfter = retryAfter;
  }
}
