import { ANSWER_TTL, HOUR } from '@adoption-store/domain';
import { type Described, ref } from './schema.js';

const integer = (minimum: number, example: number): Described => ({ type: 'integer', minimum, examples: [example] });
const text = (example: string, more: Described = {}): Described => ({ type: 'string', ...more, examples: [example] });

interface Header {
  readonly description: string;
  readonly required?: boolean;
  readonly schema: Described;
}

/** Every header that an answer of the API can have, but for HTTP's own. */
export const headers = {
  'X-Request-Id': {
    description:
      "The client's own, where it sent one that is fit to be one, or a new one. Quote it when you ask for help.",
    required: true,
    schema: text('order-66', { pattern: '^[A-Za-z0-9_-]{1,64}$' }),
  },
  'X-RateLimit-Limit': {
    description: 'Requests that the window with the fewest left allows. That is the minute or the day.',
    required: true,
    schema: integer(1, 300),
  },
  'X-RateLimit-Remaining': {
    description: 'Requests left in that window.',
    required: true,
    schema: integer(0, 299),
  },
  'X-RateLimit-Reset': {
    description: 'When that window starts anew, as a Unix timestamp in seconds.',
    required: true,
    schema: integer(0, 1_795_262_460),
  },
  'RateLimit-Policy': {
    description:
      'Both windows: requests allowed (`q`) and length in seconds (`w`), as in draft-ietf-httpapi-ratelimit-headers.',
    required: true,
    schema: text('"minute";q=300;w=60, "day";q=10000;w=86400'),
  },
  RateLimit: {
    description: 'Both windows: requests left (`r`) and seconds until it starts anew (`t`).',
    required: true,
    schema: text('"minute";r=299;t=42, "day";r=9999;t=43242'),
  },
  'Retry-After': {
    description: 'Seconds to wait. A request that is sent after them passes.',
    required: true,
    schema: integer(1, 42),
  },
  'WWW-Authenticate': {
    description: 'How to authenticate (RFC 6750).',
    required: true,
    schema: text('Bearer realm="animal-adoption-store"', { pattern: '^Bearer realm="' }),
  },
  Location: {
    description: 'Absolute URL of the new resource.',
    required: true,
    schema: text('https://api.adoption-store.example/v1/pets/1', { format: 'uri' }),
  },
  Link: {
    description: 'Absolute URL of the next page (`rel="next"`). Absent on the last page.',
    schema: text('<https://api.adoption-store.example/v1/pets?limit=2&cursor=cGV0czoyOjFx>; rel="next"', {
      pattern: '^<[^>]+>; rel="next"$',
    }),
  },
  'Idempotent-Replayed': {
    description:
      'That this is the answer of an earlier request with the same Idempotency-Key; nothing has been done again.',
    schema: { type: 'string', const: 'true' },
  },
  'X-Stability': {
    description: 'That the operation is not settled yet, and how far from it. Absent where it is settled.',
    schema: { type: 'string', enum: ['beta', 'experimental'] },
  },
} as const satisfies Readonly<Record<string, Header>>;

export type HeaderName = keyof typeof headers;

/** On every answer. */
const COMMON: readonly HeaderName[] = [
  'X-Request-Id',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit-Policy',
  'RateLimit',
];

/** The headers of an answer: those of every answer, and these. */
export function withHeaders(...names: readonly HeaderName[]): Described {
  return Object.fromEntries([...COMMON, ...names].map((name) => [name, ref('headers', name)]));
}

/** What a client may send with every request. */
export const requestIdParameter: Described = {
  name: 'X-Request-Id',
  in: 'header',
  description:
    'Names the request in the answer and in our logs: 1 to 64 letters, digits, `-` and `_`. Anything else is replaced.',
  schema: { type: 'string' },
};

export const idempotencyKeyParameter = (maxLength: number): Described => ({
  name: 'Idempotency-Key',
  in: 'header',
  description: `Makes the request happen once, however often it is sent: for ${ANSWER_TTL / HOUR} hours the same key and body get the first answer again.`,
  schema: { type: 'string', minLength: 1, maxLength, examples: ['4f9c2a7e-adopt-luna'] },
});
