import { ANSWER_TTL, DEFAULT_PAGE_SIZE, HOUR, MAX_KEY_LENGTH, MAX_PAGE_SIZE } from '@adoption-store/domain';
import { type Described, ref } from './schema.js';

/** The parameters that more than one operation takes. */
export const parameters = {
  RequestId: parameterIn(
    'header',
    'X-Request-Id',
    'Names the request in the answer and in our logs: 1 to 64 letters, digits, `-` and `_`. Anything else is replaced.',
    { type: 'string' },
  ),
  IdempotencyKey: parameterIn(
    'header',
    'Idempotency-Key',
    `Makes the request happen once, however often it is sent: for ${ANSWER_TTL / HOUR} hours the same key and body get the first answer again.`,
    { type: 'string', minLength: 1, maxLength: MAX_KEY_LENGTH, examples: ['4f9c2a7e-adopt-luna'] },
  ),
  Limit: parameterIn('query', 'limit', 'How many to list at the most.', {
    type: 'integer',
    minimum: 1,
    maximum: MAX_PAGE_SIZE,
    default: DEFAULT_PAGE_SIZE,
  }),
  Cursor: parameterIn(
    'query',
    'cursor',
    "Where the page begins. Take it from the `Link` header of the page before, and don't look into it.",
    { type: 'string' },
  ),
  OrderId: parameterIn('path', 'orderId', 'Identifier of the order.', { type: 'integer', format: 'int64' }),
};

export function parameter(name: keyof typeof parameters): Described {
  return ref('parameters', name);
}

export function parameterIn(place: string, name: string, description: string, schema: Described): Described {
  return { name, in: place, required: place === 'path' ? true : undefined, description, schema };
}
