import { PLAN_NAMES } from '@adoption-store/domain';
import { refusals } from './errors.js';
import { withHeaders } from './headers.js';
import { parameter } from './parameters.js';
import { type Described, json, oneOf, schemaRef } from './schema.js';

const count = (minimum: number, description: string): Described => ({ type: 'integer', minimum, description });
const unixSeconds = (description: string): Described => count(0, `${description}, as a Unix timestamp in seconds.`);

const NOBODY_BANNED = {
  plan: 'pro',
  minute: { limit: 300, used: 1, remaining: 299, reset: 1_795_262_460 },
  day: { limit: 10_000, used: 1, remaining: 9_999, reset: 1_795_305_600 },
  ban: null,
};

export const rateLimitSchemas: Readonly<Record<string, Described>> = {
  RateLimit: {
    type: 'object',
    description: 'How the caller stands.',
    required: ['plan', 'minute', 'day', 'ban'],
    properties: {
      plan: oneOf(PLAN_NAMES, "The account's plan."),
      minute: schemaRef('RateLimitWindow'),
      day: schemaRef('RateLimitWindow'),
      ban: {
        description: 'Null where the key is not banned.',
        oneOf: [
          { type: 'null' },
          { type: 'object', required: ['until'], properties: { until: unixSeconds('When the ban ends') } },
        ],
      },
    },
    examples: [NOBODY_BANNED],
  },
  RateLimitWindow: {
    type: 'object',
    description: 'The current minute or day, in UTC.',
    required: ['limit', 'used', 'remaining', 'reset'],
    properties: {
      limit: count(1, 'Requests the plan allows.'),
      used: count(0, 'Requests admitted so far, of all keys of the account.'),
      remaining: count(0, 'Requests left.'),
      reset: unixSeconds('When it starts anew'),
    },
  },
};

export const rateLimitPaths: Described = {
  '/rate_limit': {
    get: {
      operationId: 'getRateLimit',
      summary: 'Get how you stand',
      description:
        'Tells the plan and what is left of it. It costs no quota, and answers also where none is left; ' +
        'a key may ask 60 times a minute.',
      tags: ['Limits'],
      parameters: [parameter('RequestId')],
      responses: {
        200: {
          description: 'How the caller stands.',
          headers: withHeaders(),
          content: json(schemaRef('RateLimit'), {
            'room left': NOBODY_BANNED,
            banned: { ...NOBODY_BANNED, ban: { until: 1_795_262_700 } },
          }),
        },
        ...refusals(),
      },
    },
  },
};
