import { ANSWER_TTL, HOUR, MAX_KEY_LENGTH } from '@adoption-store/domain';
import { parameterIn } from '../http/schema.js';
import { ENTITY_TAG } from './headers.js';

/** The headers that operations take. */
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
};

export type HeaderParameter = keyof typeof headerParameters;
