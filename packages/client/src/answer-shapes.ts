// Made by generate-shapes.js of apps/api/openapi.json; npm run generate -w @adoption-store/client makes it anew.

/** Types of values: [Pet] is a list, [Pet, null] may be null. Properties that may be missing are left out. */
export type Shape =
  | 'int64'
  | 'integer'
  | 'number'
  | 'string'
  | 'boolean'
  | readonly [item: Shape]
  | readonly [value: Shape, orNull: null]
  | { readonly [property: string]: Shape };

const Pet = { id: 'int64', name: 'string', categoryId: 'int64', status: 'string' } as const;
const Category = { id: 'int64', name: 'string' } as const;
const Order = { id: 'int64', petId: 'int64', status: 'string', createdAt: 'string', updatedAt: 'string' } as const;
const Message = { id: 'string', message: 'string', status: 'string', createdAt: 'string' } as const;
const RateLimitWindow = { limit: 'integer', used: 'integer', remaining: 'integer', reset: 'integer' } as const;
const RateLimit = { plan: 'string', minute: RateLimitWindow, day: RateLimitWindow, ban: [{ until: 'integer' }, null] } as const;

/** The result of each operation; null if it has none. */
export const answers: Readonly<Record<string, Shape | null>> = {
  'GET /pets': [Pet],
  'POST /pets': Pet,
  'GET /pets/{petId}': Pet,
  'PATCH /pets/{petId}': Pet,
  'DELETE /pets/{petId}': null,
  'GET /categories': [Category],
  'POST /categories': Category,
  'GET /categories/{categoryId}': Category,
  'PUT /categories/{categoryId}': Category,
  'DELETE /categories/{categoryId}': null,
  'GET /store/orders': [Order],
  'POST /store/orders': Order,
  'GET /store/orders/{orderId}': Order,
  'POST /store/orders/{orderId}/complete': Order,
  'POST /store/orders/{orderId}/cancel': Order,
  'POST /messages': Message,
  'GET /messages/{messageId}': Message,
  'GET /rate_limit': RateLimit,
};
