import { PLAN_NAMES } from '@adoption-store/domain';
import { type Described, object, openSet, schemaRef } from '../http/operations/schema.js';

const count = (minimum: number, description: string, example: number): Described => ({
  type: 'integer',
  minimum,
  description,
  examples: [example],
});
const unixSeconds = (description: string): Described =>
  count(0, `${description}, as a Unix timestamp in seconds.`, 1_795_262_460);

export const NOBODY_BANNED = {
  plan: 'pro',
  minute: { limit: 300, used: 1, remaining: 299, reset: 1_795_262_460 },
  day: { limit: 10_000, used: 1, remaining: 9_999, reset: 1_795_305_600 },
  ban: null,
};

export const rateLimitSchemas: Readonly<Record<string, Described>> = {
  RateLimit: object(
    'The plan and limits of the caller.',
    {
      plan: openSet(PLAN_NAMES, "The account's plan."),
      minute: schemaRef('RateLimitWindow'),
      day: schemaRef('RateLimitWindow'),
      ban: {
        description: 'Null if the key is not banned.',
        oneOf: [
          { type: 'null' },
          { type: 'object', required: ['until'], properties: { until: unixSeconds('When the ban ends') } },
        ],
      },
    },
    NOBODY_BANNED,
  ),
  RateLimitWindow: object(
    'The current minute or day, in UTC.',
    {
      limit: count(1, 'Requests the plan allows.', 300),
      used: count(0, 'Requests admitted so far, of all keys of the account.', 1),
      remaining: count(0, 'Requests left.', 299),
      reset: unixSeconds('When the window resets'),
    },
    NOBODY_BANNED.minute,
  ),
};
