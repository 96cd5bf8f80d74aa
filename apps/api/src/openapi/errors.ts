import { LimitExceeded } from '@adoption-store/admission';
import {
  categoryInUse,
  categoryNameTaken,
  cursorExpired,
  DEFAULT_MESSAGE_LIMIT,
  DEFAULT_ORDER_LIMIT,
  InsufficientScope,
  instant,
  MAX_PAGE_SIZE,
  PreconditionFailed,
  tooManyMessages,
  tooManyOrders,
  tooManyPings,
  tooManySecrets,
  tooManyWebhooks,
  webhookDisabled,
} from '@adoption-store/domain';
import { TooManyAtOnce } from '@adoption-store/infrastructure/turns';
import { REFUSAL_MEANINGS } from '@adoption-store/web';
import { MAX_TARGET_LENGTH } from '@adoption-store/web/edge';
import { type ErrorCode, errorStatuses } from '../http/answers/error-codes.js';
import { MAX_BODY_BYTES } from '../http/operations/request-body.js';

import { headers as described, type HeaderName, withHeaders } from './headers.js';
import { type Described, json, object, openSet, ref, schemaRef } from '../http/operations/schema.js';

/** An example of each code's message. The compiler requires one for each code. */
const MEANINGS: Readonly<Record<ErrorCode, string>> = {
  invalid_parameter: `limit must be an integer from 1 to ${MAX_PAGE_SIZE}, given once`,
  idempotency_key_reused: 'this Idempotency-Key was used for another request',
  idempotency_key_in_use: 'another request with this Idempotency-Key is in progress, try again',
  missing_api_key: 'the Authorization header is missing, it must be "Bearer <API key>"',
  invalid_api_key: 'the Authorization header must be "Bearer <API key>"',
  expired_api_key: 'the API key has expired',
  revoked_api_key: 'the API key has been revoked',
  disabled_api_key: 'the API key is disabled',
  insufficient_scope: new InsufficientScope('API key', ['pets:manage']).message,
  not_found: 'there is no such animal',
  pet_not_available: 'the animal is not available',
  order_final: 'the order is already completed',
  order_in_progress: "an order for the animal 1 is placed, so its status can't be changed",
  invalid_transition: "status can't be changed from sold to available",
  precondition_failed: new PreconditionFailed('If-Match', undefined).message,
  too_many_orders: tooManyOrders(DEFAULT_ORDER_LIMIT).message,
  too_many_messages: tooManyMessages(DEFAULT_MESSAGE_LIMIT).message,
  category_name_taken: categoryNameTaken('Cats').message,
  category_in_use: categoryInUse(1n).message,
  too_many_webhooks: tooManyWebhooks().message,
  too_many_pings: tooManyPings().message,
  too_many_secrets: tooManySecrets(instant(Date.UTC(2026, 10, 22, 12))).message,
  webhook_disabled: webhookDisabled().message,
  cursor_expired: cursorExpired().message,
  service_unavailable: 'the service is not available just now, try again',
  bad_request: 'the request is not valid HTTP/1.1',
  invalid_json: 'the body is not JSON: unexpected end at position 1',
  unsupported_media_type: 'the Content-Type header must be application/json, in UTF-8',
  method_not_allowed: 'DELETE is not allowed here, only GET, HEAD, OPTIONS, POST',
  request_timeout: 'the request was not complete in time',
  gone: 'GET /v1/pets/{petId} has been removed, use GET /v1/pets?id={petId}',
  payload_too_large: `the body must be at most ${MAX_BODY_BYTES} bytes`,
  uri_too_long: `the URL must be at most ${MAX_TARGET_LENGTH} characters`,
  expectation_failed: 'the Expect header may only be 100-continue',
  rate_limited: new LimitExceeded('rate_limited', 42).message,
  daily_quota_exceeded: new LimitExceeded('daily_quota_exceeded', 43_242).message,
  key_banned: new LimitExceeded('key_banned', 300).message,
  too_many_at_once: new TooManyAtOnce().message,
  headers_too_large: 'the headers are too large',
  internal_error: 'an unexpected error happened; it has been recorded',
};

const CODES = Object.keys(errorStatuses).sort() as ErrorCode[];

export const errorSchemas: Readonly<Record<string, Described>> = {
  Error: object(
    'The body of every error.',
    {
      code: schemaRef('ErrorCode'),
      message: {
        type: 'string',
        minLength: 1,
        description: 'The error, for people. It names the field and the rule.',
        examples: [MEANINGS.not_found],
      },
      status: {
        type: 'integer',
        minimum: 400,
        maximum: 599,
        description: 'The HTTP status code.',
        examples: [errorStatuses.not_found],
      },
    },
    bodyOf('not_found'),
  ),
  ErrorCode: openSet(CODES, 'The error, for programs. Handle an unknown code by its status.'),
};

function bodyOf(code: ErrorCode): Described {
  return { code, message: MEANINGS[code], status: errorStatuses[code] };
}

/** The errors by status: component name, description, and headers of their own. */
const REFUSALS = {
  400: ['BadRequest', 'The request breaks a rule of HTTP, of JSON or of this operation.'],
  401: [
    'Unauthorized',
    'The API key is missing or invalid, or the header is not `Authorization: Bearer <API key>`.',
    'WWW-Authenticate',
  ],
  403: ['Forbidden', 'The API key or its account lacks a scope of the operation.', 'WWW-Authenticate'],
  404: ['NotFound', 'There is no such resource, or it is not yours.', 'Idempotent-Replayed'],
  408: ['RequestTimeout', 'The request did not arrive in time.'],
  409: [
    'Conflict',
    'The state of the resource, or of a request with the same key, does not allow it.',
    'Idempotent-Replayed',
  ],
  410: ['Gone', 'The operation has been removed, or the cursor is of events that are no longer kept or were undone.'],
  412: [
    'PreconditionFailed',
    'The resource has no entity tag that `If-Match` names, or has one that `If-None-Match` names. Nothing has changed.',
  ],
  413: ['PayloadTooLarge', 'The body is too large.'],
  414: ['UriTooLong', 'The URL is too long.'],
  417: ['ExpectationFailed', 'The Expect header is not supported.'],
  429: [
    'TooManyRequests',
    'A limit of the plan is exceeded, the key is banned because it continued to send, or the account has too many requests under way.',
    'Retry-After',
  ],
  431: ['HeadersTooLarge', 'The headers are too large.'],
  500: ['InternalError', 'A defect of the service. It has been logged.'],
  503: ['ServiceUnavailable', 'A dependency of the service is down.', 'Retry-After'],
} as const satisfies Readonly<Record<number, readonly [name: string, description: string, ...HeaderName[]]>>;

export type ErrorStatus = keyof typeof REFUSALS;

/** Every error, for people: by status, with the meaning of each code. */
export const errorList = [...new Set(Object.values(errorStatuses))].sort().map((status) => ({
  status,
  description: status in REFUSALS ? REFUSALS[status as ErrorStatus][1] : 'The path has no such method.',
  codes: CODES.filter((code) => errorStatuses[code] === status).map((code) => ({
    code,
    meaning: REFUSAL_MEANINGS[code] ?? MEANINGS[code],
  })),
}));

const ALWAYS: readonly ErrorStatus[] = [400, 401, 408, 413, 414, 417, 429, 431, 500, 503];

/** Headers that a response of the status may lack. */
const SOMETIMES: Readonly<Partial<Record<ErrorStatus, Described>>> = {
  // Of the conflicts, only one ends by itself: that with a request in progress with the same Idempotency-Key.
  409: {
    'Retry-After': {
      ...described['Retry-After'],
      description: 'Seconds to wait after `idempotency_key_in_use`. Absent with other codes.',
      required: false,
    },
  },
  412: {
    ETag: {
      ...described.ETag,
      description: 'The current entity tag. Absent if there is no such resource.',
      required: false,
    },
  },
};

/** The error response with this status. `own` has more headers. */
export function refusal(status: ErrorStatus, own: Described = {}): Described {
  const [, description, ...headers] = REFUSALS[status];
  const codes = CODES.filter((code) => errorStatuses[code] === status);
  return {
    description,
    headers: { ...withHeaders(...headers, 'X-Stability'), ...SOMETIMES[status], ...own },
    // The same schema for all, so that generated clients have one class of errors. The examples show this status's codes.
    content: json('Error', Object.fromEntries(codes.map((code) => [code, bodyOf(code)]))),
  };
}

export const errorResponses: Readonly<Record<string, Described>> = Object.fromEntries(
  (Object.keys(REFUSALS).map(Number) as ErrorStatus[]).map((status) => [REFUSALS[status][0], refusal(status)]),
);

/** The errors of an operation: those of every operation, and the given ones. */
export function refusals(...own: readonly ErrorStatus[]): Described {
  return Object.fromEntries([...ALWAYS, ...own].map((status) => [status, ref('responses', REFUSALS[status][0])]));
}
