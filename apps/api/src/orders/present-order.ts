import type { Order } from '@adoption-store/domain';
import { isoTime } from '../http/schema.js';
import { orderSchemas, type PresentedOrder } from './order.schema.js';

const write = orderSchemas.serialiser('Order');
const writeAll = orderSchemas.listSerialiser('Order');

/** The JSON of an order: an Order. */
export function presentOrder(order: Order): string {
  return write(jsonOf(order));
}

export function presentOrders(orders: readonly Order[]): string {
  return writeAll(orders.map(jsonOf));
}

function jsonOf({ id, animalId, status, createdAt, updatedAt }: Order): PresentedOrder {
  return { id, petId: animalId, status, createdAt: isoTime(createdAt), updatedAt: isoTime(updatedAt) };
}
