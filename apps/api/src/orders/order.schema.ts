import {
  OPEN_ORDER_STATUSES,
  type Order,
  ORDER_STATUSES,
  type OrderJson,
  orderJson as publishedOrder,
} from '@adoption-store/domain';
import { pathId } from '../http/operations/path-parameter.js';
import { ResourceSchemas } from '../http/operations/resource-schemas.js';
import { type Described, exampleOf, int64, object, oneOf, openSet, time } from '../http/operations/schema.js';

export const OrderId = pathId({ name: 'orderId', description: 'Identifier of the order.', component: 'OrderId' });

/** Of the animal 2, because the example of DELETE /v1/pets/{petId} withdraws the first. */
export const NEW_ORDER = { petId: 2 };

export const PLACED = {
  id: 1,
  petId: NEW_ORDER.petId,
  status: 'placed',
  createdAt: '2026-11-21T12:00:00.000Z',
  updatedAt: '2026-11-21T12:00:00.000Z',
};

/** `updatedAt` is the time at which the order ended. */
export const ENDED = { ...PLACED, updatedAt: '2026-11-22T09:30:00.000Z' };

const OPEN = OPEN_ORDER_STATUSES.map((status) => `\`${status}\``).join(' and ');

const order = {
  id: int64('Unique identifier, assigned by the service.', 1),
  petId: int64('Identifier of the ordered animal.', NEW_ORDER.petId),
  status: openSet(ORDER_STATUSES, `The progress of the order. All except ${OPEN} are final.`),
  createdAt: time('When the order was placed.'),
  updatedAt: time('When its status last changed.'),
} satisfies Record<keyof OrderJson, Described>;

export const orderSchemas = new ResourceSchemas({
  Order: object('An order for one animal.', order, PLACED),
  NewOrder: object(
    'An order to place.',
    { petId: int64('Identifier of an available animal.', NEW_ORDER.petId) },
    NEW_ORDER,
  ),
  OrderStatus: oneOf(ORDER_STATUSES, 'The statuses of orders.'),
});

export const orderJson = exampleOf('Order', 'the order');

export class NewOrderBody {
  @orderSchemas.field('NewOrder')
  readonly petId!: bigint;
}

const write = orderSchemas.serialiser('Order');
const writeAll = orderSchemas.listSerialiser('Order');

export function presentOrder(order: Order): string {
  return write(publishedOrder(order));
}

export function presentOrders(orders: readonly Order[]): string {
  return writeAll(orders.map(publishedOrder));
}
