import type { AnimalId, Fields } from '../animals/animal.js';
import type { Order } from '../orders/order.js';
import { isoTime, jsonText } from './json.js';

/** An order as its account sees it. A new field of orders is shown, or named here among those that aren't. */
export type OrderJson = Readonly<
  Omit<Order, 'accountId' | 'animalId' | 'createdAt' | 'updatedAt'> & {
    petId: AnimalId;
    createdAt: string;
    updatedAt: string;
  }
>;

export function orderJson({ id, animalId: petId, status, createdAt, updatedAt }: Order): OrderJson {
  return {
    id,
    petId,
    status,
    createdAt: isoTime(createdAt),
    updatedAt: isoTime(updatedAt),
  } satisfies Fields<OrderJson>;
}

export function orderJsonText(order: Order): string {
  return jsonText(orderJson(order));
}
