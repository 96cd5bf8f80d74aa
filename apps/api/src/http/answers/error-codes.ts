import { LIMIT_STATUSES, LimitExceeded } from '@adoption-store/admission';
import {
  DomainError,
  type DomainErrorKind,
  escapeInvisible,
  keptOf,
  type RequestErrorCode,
  requestErrors,
  textOf,
  type Wording,
} from '@adoption-store/domain';
import { TooManyAtOnce } from '@adoption-store/infrastructure/turns';
import { redactKeys } from '@adoption-store/telemetry';
import { FAULT_STATUSES, type HttpFault } from '@adoption-store/web/edge';

export const JSON_TYPE = 'application/json; charset=utf-8';

const statusOfKind: Readonly<Record<DomainErrorKind, number>> = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  gone: 410,
  precondition: 412,
  unavailable: 503,
};

const httpErrorStatuses = {
  ...FAULT_STATUSES,
  ...LIMIT_STATUSES,
  invalid_json: 400,
  unsupported_media_type: 400,
  gone: 410,
  too_many_at_once: 429,
  internal_error: 500,
} as const;

export type ErrorCode = RequestErrorCode | keyof typeof httpErrorStatuses;

/** The registry: every `code` of an Error body, with its status. */
export const errorStatuses: Readonly<Record<ErrorCode, number>> = {
  ...(Object.fromEntries(Object.entries(requestErrors).map(([code, { kind }]) => [code, statusOfKind[kind]])) as Record<
    RequestErrorCode,
    number
  >),
  ...httpErrorStatuses,
};

/** A request that breaks HTTP's rules, not the domain's. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  /** The part of the message that may be kept. */
  readonly kept: string | undefined;

  constructor(
    readonly code: keyof typeof httpErrorStatuses | 'invalid_parameter' | 'not_found',
    message: string | Wording,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(textOf(message));
    this.kept = keptOf(message);
  }
}

export function httpErrorOf({ code, wording, headers }: HttpFault): HttpError {
  return new HttpError(code, wording, headers);
}

/** Every error that may be shown to the API's caller. */
type ShownError = HttpError | LimitExceeded | TooManyAtOnce | (DomainError & { readonly code: RequestErrorCode });

/**
 * Whether the error may be shown to the API's caller. An account-management error must not, so it counts as a defect.
 */
export function isRefusal(error: unknown): error is ShownError {
  if (error instanceof DomainError) return error.code in requestErrors;
  return error instanceof HttpError || error instanceof LimitExceeded || error instanceof TooManyAtOnce;
}

/** A part of the request, bounded, with the characters escaped that can't be seen. */
export function shown(part: string, most = 100): string {
  return escapeInvisible(cut(part, most));
}

/** A name from the request, in quotes. */
export function quoted(name: string): string {
  return escapeInvisible(JSON.stringify(cut(name, 50)));
}

/** Without keys, because a careless client may have put one there, and shows its errors to others. */
function cut(text: string, most: number): string {
  const safe = redactKeys(text);
  return safe.length > most ? `${safe.slice(0, most)}…` : safe;
}

export interface ErrorBody {
  readonly code: ErrorCode;
  readonly message: string;
  readonly status: number;
}

export function errorBody(code: ErrorCode, message: string): ErrorBody {
  return { code, message, status: errorStatuses[code] };
}

export const INTERNAL_ERROR = errorBody('internal_error', 'an unexpected error happened; it has been recorded');
