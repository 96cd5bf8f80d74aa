import { ANSWER_TTL, HOUR, MAX_KEY_LENGTH } from '@adoption-store/domain';
import { parameterIn } from '../http/operations/schema.js';

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
