import type { Order } from '@adoption-store/domain';
import { isoTime } from '../http/iso-time.js';
import { type JsonSchema, serialiser } from '../http/serialiser.js';

/** Order (contract.md, "Store") as its JSON is. */
const orderSchema: JsonSchema = {
  type: 'object',
  required: ['id', 'petId', 'status', 'createdAt', 'updatedAt'],
  properties: {
    id: { type: 'integer' },
    petId: { type: 'integer' },
    status: { type: 'string' },
    createdAt: { type: 'string', format: 'date-time' },
    updatedAt: { type: 'string', format: 'date-time' },
  },
};

const write = serialiser(orderSchema);
const writeAll = serialiser({ type: 'array', items: orderSchema });

/** What clients see of an order: an Order, as JSON. */
export function presentOrder(order: Order): string {
  return write(jsonOf(order));
}

export function presentOrders(orders: readonly Order[]): string {
  return writeAll(orders.map(jsonOf));
}

function jsonOf({ id, animalId, status, createdAt, updatedAt }: Order): object {
  return { id, petId: animalId, status, createdAt: isoTime(createdAt), updatedAt: isoTime(updatedAt) };
}
