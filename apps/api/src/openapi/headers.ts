import { ANSWER_TTL, HOUR, MAX_KEY_LENGTH } from '@adoption-store/domain';
import { EXAMPLE_CURSOR } from '../http/operations/pages.js';
import { type Described, ref, parameterIn } from '../http/operations/schema.js';

const ENTITY_TAG = '"5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef"';

const always = (description: string, schema: Described): Described => ({ description, required: true, schema });
const integer = (minimum: number, example: number): Described => ({ type: 'integer', minimum, examples: [example] });
const text = (example: string, more: Described = {}): Described => ({ type: 'string', ...more, examples: [example] });

const common = {
  'X-Request-Id': always(
    "The client's own, where it sent one that is fit to be one, or a new one. Quote it when you ask for help.",
    text('order-66', { pattern: '^[A-Za-z0-9_-]{1,64}$' }),
  ),
  'X-RateLimit-Limit': always(
    'The limit of the window with the fewest requests left, the minute or the day.',
    integer(1, 300),
  ),
  'X-RateLimit-Remaining': always('Requests left in that window.', integer(0, 299)),
  'X-RateLimit-Reset': always('When that window resets, as a Unix timestamp in seconds.', integer(0, 1_795_262_460)),
  'RateLimit-Policy': always(
    'Both windows: requests allowed (`q`) and length in seconds (`w`), as in draft-ietf-httpapi-ratelimit-headers.',
    text('"minute";q=300;w=60, "day";q=10000;w=86400'),
  ),
  RateLimit: always(
    'Both windows: requests left (`r`) and seconds until the reset (`t`).',
    text('"minute";r=299;t=42, "day";r=9999;t=43242'),
  ),
};

/** Every header of the API's responses, except HTTP's own. */
export const headers = {
  ...common,
  'Retry-After': always('Seconds to wait. A request after that time is accepted.', integer(1, 42)),
  'WWW-Authenticate': always(
    'How to authenticate, or the scopes that are missing (RFC 6750).',
    text('Bearer realm="animal-adoption-store"', {
      pattern:
        '^Bearer (realm="[^"]+"(, error="invalid_token")?|error="insufficient_scope", scope="[a-z]+:[a-z]+( [a-z]+:[a-z]+)*")$',
    }),
  ),
  Location: always(
    'Absolute URL of the new resource.',
    text('https://api.adoption-store.example/v1/pets/1', { format: 'uri' }),
  ),
  Link: {
    description:
      'Absolute URL of the next page (`rel="next"`). Absent on the last page, except of events, which are never complete.',
    schema: text(`<https://api.adoption-store.example/v1/pets?limit=2&cursor=${EXAMPLE_CURSOR}>; rel="next"`, {
      pattern: '^<[^>]+>; rel="next"$',
    }),
  },
  ETag: always(
    'Identifies the content of the response: the same content has the same tag. Send it in `If-None-Match` or `If-Match`.',
    text(ENTITY_TAG, { pattern: '^"[^"]+"$' }),
  ),
  'Idempotent-Replayed': {
    description:
      'Present if this is the stored response to an earlier request with the same Idempotency-Key; nothing was done again.',
    schema: text('true', { const: 'true' }),
  },
  'X-Stability': {
    description:
      'The stability of an operation that may still change, `beta` or `experimental`. Absent for a stable one.',
    schema: text('beta'),
  },
};

export type HeaderName = keyof typeof headers;

/** The headers of a response: the common ones, and the given ones. */
export function withHeaders(...names: readonly HeaderName[]): Described {
  return Object.fromEntries([...Object.keys(common), ...names].map((name) => [name, ref('headers', name)]));
}

/** The headers that operations take. Tools send examples as they are, so only a value that always works is one. */
export const headerParameters = {
  RequestId: parameterIn(
    'header',
    'X-Request-Id',
    'Identifies the request in the response and in our logs: 1 to 64 letters, digits, `-` and `_`. Any other value is replaced.',
    { type: 'string', examples: ['order-66'] },
  ),
  IdempotencyKey: parameterIn(
    'header',
    'Idempotency-Key',
    `The request runs once, however often it is sent: for ${ANSWER_TTL / HOUR} hours the same key and body get the first response again. It is compared byte for byte, quotes included, and has at most ${MAX_KEY_LENGTH} bytes.`,
    { type: 'string', minLength: 1, maxLength: MAX_KEY_LENGTH },
  ),
  IfNoneMatch: parameterIn(
    'header',
    'If-None-Match',
    'Entity tags (`ETag`), or `*` for any. If the resource has one of them, a GET is 304 without a body; any other request is 412 and nothing changes.',
    { type: 'string' },
  ),
  IfMatch: parameterIn(
    'header',
    'If-Match',
    'Entity tags (`ETag`), or `*` for any. If the resource has none of them any more, the response is 412 and nothing changes. An animal has its own and that of its page, `GET /pets?id=1`.',
    { type: 'string' },
  ),
};

export type HeaderParameter = keyof typeof headerParameters;
