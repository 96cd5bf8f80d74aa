import type { Order } from '@adoption-store/domain';
import { isoTime } from '../http/iso-time.js';

/** Order (contract.md, "Store") as its JSON is. */
export const orderSchema = {
  type: 'object',
  required: ['id', 'petId', 'status', 'createdAt', 'updatedAt'],
  properties: {
    id: { type: 'integer' },
    petId: { type: 'integer' },
    status: { type: 'string' },
    createdAt: { type: 'string', format: 'date-time' },
    updatedAt: { type: 'string', format: 'date-time' },
  },
} as const;

/** What clients see of an order: an Order, as JSON. */
export function presentOrder({ id, animalId, status, createdAt, updatedAt }: Order): string {
  const times = `"createdAt":"${isoTime(createdAt)}","updatedAt":"${isoTime(updatedAt)}"`;
  return `{"id":${id},"petId":${animalId},"status":"${status}",${times}}`;
}

export function presentOrders(orders: readonly Order[]): string {
  return `[${orders.map(presentOrder).join(',')}]`;
}
