import type { Call } from './call.js';
import type { components, operations } from './generated.js';
import type { CallOptions, PostOptions } from './options.js';
import { type Pages, pagesOf } from './pages.js';
import type { QueryOf, Request } from './request.js';
import type { Transport } from './transport.js';

type Schemas = components['schemas'];
export type Order = Schemas['Order'];
export type NewOrder = Schemas['NewOrder'];
export type OrderStatus = Schemas['OrderStatus'];
export type OrderQuery = QueryOf<operations['listOrders']>;

export class Orders {
  readonly #transport: Transport;
  readonly #request: Request;

  constructor(transport: Transport, request: Request) {
    this.#transport = transport;
    this.#request = request;
  }

  /** The account's orders, by id. */
  list(query: OrderQuery = {}, options?: CallOptions): Pages<Order> {
    return pagesOf(this.#transport, { path: '/store/orders', query }, options);
  }

  get(orderId: bigint, options?: CallOptions): Call<Order> {
    return this.#request('GET', '/store/orders/{orderId}', { ...options, path: { orderId } });
  }

  /** Orders an available animal. The animal becomes `pending`. */
  create(order: NewOrder, options?: PostOptions): Call<Order> {
    return this.#request('POST', '/store/orders', { ...options, body: order });
  }

  /** Completes an order. The animal becomes `sold`. Needs the scope `pets:manage` too. */
  complete(orderId: bigint, options?: PostOptions): Call<Order> {
    return this.#request('POST', '/store/orders/{orderId}/complete', { ...options, path: { orderId } });
  }

  /** Cancels an order. The animal becomes `available` again. */
  cancel(orderId: bigint, options?: PostOptions): Call<Order> {
    return this.#request('POST', '/store/orders/{orderId}/cancel', { ...options, path: { orderId } });
  }
}
