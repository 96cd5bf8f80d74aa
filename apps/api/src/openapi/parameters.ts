import { DEFAULT_PAGE_SIZE, MAX_KEY_LENGTH, MAX_PAGE_SIZE } from '@adoption-store/domain';
import { idempotencyKeyParameter, requestIdParameter } from './headers.js';
import { type Described, ref } from './schema.js';

/** The parameters that more than one operation takes. */
export const parameters = {
  RequestId: requestIdParameter,
  IdempotencyKey: idempotencyKeyParameter(MAX_KEY_LENGTH),
  Limit: {
    name: 'limit',
    in: 'query',
    description: 'How many to list at the most.',
    schema: { type: 'integer', minimum: 1, maximum: MAX_PAGE_SIZE, default: DEFAULT_PAGE_SIZE },
  },
  Cursor: {
    name: 'cursor',
    in: 'query',
    description: "Where the page begins. Take it from the `Link` header of the page before, and don't look into it.",
    schema: { type: 'string' },
  },
  OrderId: {
    name: 'orderId',
    in: 'path',
    required: true,
    description: 'Identifier of the order.',
    schema: { type: 'integer', format: 'int64' },
  },
} as const satisfies Readonly<Record<string, Described>>;

export function parameter(name: keyof typeof parameters): Described {
  return ref('parameters', name);
}
