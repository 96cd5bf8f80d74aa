import { type AnimalId, type Order, ORDER_STATUSES } from '@adoption-store/domain';
import { pathId } from '../http/path-parameter.js';
import { ResourceSchemas } from '../http/resource-schemas.js';
import { type Described, exampleOf, int64, object, oneOf, openSet, time } from '../http/schema.js';

export interface PresentedOrder extends Pick<Order, 'id' | 'status'> {
  readonly petId: AnimalId;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export const OrderId = pathId({ name: 'orderId', description: 'Identifier of the order.', component: 'OrderId' });

export const PLACED = {
  id: 1,
  petId: 1,
  status: 'placed',
  createdAt: '2026-11-21T12:00:00.000Z',
  updatedAt: '2026-11-21T12:00:00.000Z',
};

/** With the time of its end. */
export const ENDED = { ...PLACED, updatedAt: '2026-11-22T09:30:00.000Z' };

const order = {
  id: int64('Unique identifier, assigned by the service.', 1),
  petId: int64('Identifier of the ordered animal.', 1),
  status: openSet(ORDER_STATUSES, 'The progress of the order. All except `placed` are final.'),
  createdAt: time('When the order was placed.'),
  updatedAt: time('When its status last changed.'),
} satisfies Record<keyof PresentedOrder, Described>;

/** The schema of Order. */
export const orderSchemas = new ResourceSchemas({
  Order: object('An order for one animal.', order, PLACED),
  NewOrder: object('An order to place.', { petId: int64('Identifier of an available animal.', 1) }, { petId: 1 }),
  OrderStatus: oneOf(ORDER_STATUSES, 'The statuses of orders.'),
});

export const orderJson = exampleOf('Order', 'the order');
