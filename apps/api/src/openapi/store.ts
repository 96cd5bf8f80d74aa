import { stabilityOf } from '../http/stability.js';
import { PLACED } from '../store/order.schema.js';
import { StoreOrdersController } from '../store/store-orders.controller.js';
import { refusals } from './errors.js';
import { type HeaderName, withHeaders } from './headers.js';
import { parameter } from './parameters.js';
import { type Described, json, schemaRef } from './schema.js';

const COMMON = { tags: ['Store'], 'x-stability': stabilityOf(StoreOrdersController) };
const ended = (status: string) => ({ ...PLACED, status, updatedAt: '2026-11-22T09:30:00.000Z' });

const order = (description: string, example: Described, ...headers: HeaderName[]): Described => ({
  description,
  headers: withHeaders('X-Stability', ...headers),
  content: json(schemaRef('Order'), { 'the order': example }),
});

const listOrders: Described = {
  operationId: 'listOrders',
  summary: 'List orders',
  description: "Lists the account's orders by their identifiers, ascending. Pages are as those of the animals.",
  ...COMMON,
  parameters: [
    parameter('Limit'),
    { name: 'status', in: 'query', description: 'Only orders with this status.', schema: schemaRef('OrderStatus') },
    parameter('Cursor'),
    parameter('RequestId'),
  ],
  responses: {
    200: {
      description: 'A page of orders.',
      headers: withHeaders('Link', 'X-Stability'),
      content: json({ type: 'array', items: schemaRef('Order') }, { page: [PLACED], 'nothing found': [] }),
    },
    ...refusals(),
  },
};

const placeOrder: Described = {
  operationId: 'placeOrder',
  summary: 'Place an order',
  description:
    'Orders an animal, which turns `pending`. However many ask for it at once, one order is placed; the others get ' +
    '409 `pet_not_available`. An account that has as many orders placed as it may, 100 unless the service is set ' +
    'otherwise, gets 409 `too_many_orders`.',
  ...COMMON,
  parameters: [parameter('IdempotencyKey'), parameter('RequestId')],
  requestBody: { required: true, content: json(schemaRef('NewOrder'), { 'an order': { petId: 1 } }) },
  responses: {
    201: order('The order has been placed.', PLACED, 'Location', 'Idempotent-Replayed'),
    ...refusals(404, 409),
  },
};

const getOrder: Described = {
  operationId: 'getOrder',
  summary: 'Get an order',
  description: "Gets one of the account's orders.",
  ...COMMON,
  parameters: [parameter('OrderId'), parameter('RequestId')],
  responses: { 200: order('The order.', PLACED), ...refusals(404) },
};

const endOrder = (operationId: string, summary: string, description: string, status: string): Described => ({
  operationId,
  summary,
  description,
  ...COMMON,
  parameters: [parameter('OrderId'), parameter('IdempotencyKey'), parameter('RequestId')],
  responses: { 200: order(`The order is ${status}.`, ended(status), 'Idempotent-Replayed'), ...refusals(404, 409) },
});

export const storePaths: Described = {
  '/store/orders': { get: listOrders, post: placeOrder },
  '/store/orders/{orderId}': { get: getOrder },
  '/store/orders/{orderId}/complete': {
    post: endOrder('completeOrder', 'Complete an order', 'The animal is adopted, and `sold`.', 'completed'),
  },
  '/store/orders/{orderId}/cancel': {
    post: endOrder('cancelOrder', 'Cancel an order', 'The animal is `available` again.', 'cancelled'),
  },
};
