import { ANSWER_TTL, DEFAULT_PAGE_SIZE, HOUR, MAX_KEY_LENGTH, MAX_PAGE_SIZE } from '@adoption-store/domain';
import { CURSOR, ENTITY_TAG } from './headers.js';
import { type Described, ref } from '../http/schema.js';

/** Parameters of more than one operation. */
export const parameters = {
  RequestId: parameterIn(
    'header',
    'X-Request-Id',
    'Identifies the request in the response and in our logs: 1 to 64 letters, digits, `-` and `_`. Any other value is replaced.',
    { type: 'string', examples: ['order-66'] },
  ),
  IdempotencyKey: parameterIn(
    'header',
    'Idempotency-Key',
    `The request runs once, however often it is sent: for ${ANSWER_TTL / HOUR} hours the same key and body get the first response again.`,
    { type: 'string', minLength: 1, maxLength: MAX_KEY_LENGTH, examples: ['4f9c2a7e-adopt-luna'] },
  ),
  IfNoneMatch: parameterIn(
    'header',
    'If-None-Match',
    'Entity tags of earlier responses (`ETag`). If the response would be one of them, it is 304 without a body.',
    { type: 'string', examples: [ENTITY_TAG] },
  ),
  IfNone: parameterIn(
    'header',
    'If-None-Match',
    'Only `*`: nothing is replaced. If there is such a resource already, the response is 412 and nothing changes.',
    { type: 'string', const: '*', examples: ['*'] },
  ),
  IfMatch: parameterIn(
    'header',
    'If-Match',
    'Entity tags of the resource (`ETag` of its GET or PATCH). If it has none of them any more, the response is 412 and nothing changes.',
    { type: 'string', examples: [ENTITY_TAG] },
  ),
  Limit: parameterIn('query', 'limit', 'The most items on the page.', {
    type: 'integer',
    minimum: 1,
    maximum: MAX_PAGE_SIZE,
    default: DEFAULT_PAGE_SIZE,
    examples: [DEFAULT_PAGE_SIZE],
  }),
  Cursor: parameterIn(
    'query',
    'cursor',
    "The position of the page. Use the `Link` header of the previous page; don't build or parse a cursor.",
    { type: 'string', examples: [CURSOR] },
  ),
  CategoryId: pathId('categoryId', 'Identifier of the category.'),
  OrderId: pathId('orderId', 'Identifier of the order.'),
};

export function parameter(name: keyof typeof parameters): Described {
  return ref('parameters', name);
}

/** An int64 in the path. */
export function pathId(name: string, description: string): Described {
  return parameterIn('path', name, description, { type: 'integer', format: 'int64', examples: [1] });
}

export function parameterIn(place: string, name: string, description: string, schema: Described): Described {
  return { name, in: place, required: place === 'path' ? true : undefined, description, schema };
}
