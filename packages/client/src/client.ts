import type { components, operations } from './generated.js';
import { Pages } from './pages.js';
import { type CallOptions, type ClientOptions, type PostOptions, Transport } from './transport.js';

type Schemas = components['schemas'];
export type Pet = Schemas['Pet'];
export type NewPet = Schemas['NewPet'];
export type PetStatus = Schemas['PetStatus'];
export type Order = Schemas['Order'];
export type NewOrder = Schemas['NewOrder'];
export type OrderStatus = Schemas['OrderStatus'];
export type Message = Schemas['Message'];
export type NewMessage = Schemas['NewMessage'];
export type RateLimit = Schemas['RateLimit'];
export type PetQuery = NonNullable<operations['listPets']['parameters']['query']>;
export type OrderQuery = NonNullable<operations['listOrders']['parameters']['query']>;

type QueryValue = string | number | bigint | readonly bigint[] | undefined;

/**
 * The Animal Adoption Store API. Every int64 is a bigint, exact both ways. Each method rejects with an `ApiError`, after
 * trying again what may pass: 429, 503 and a broken connection.
 */
export class AdoptionStore {
  readonly #transport: Transport;

  /** @throws TypeError where the address isn't https (or localhost), or the key can't be one. */
  constructor(options: ClientOptions) {
    this.#transport = new Transport(options);
  }

  /** The animals, by id: `for await` walks all of them, `.page()` fetches one page. Of some ids: `{ id: [1n, 2n] }`. */
  pets(query: PetQuery = {}, options?: CallOptions): Pages<Pet> {
    return this.#list('/pets', query, options);
  }

  /** Adds an animal, `available` unless said otherwise. */
  createPet(pet: NewPet, options?: PostOptions): Promise<Pet> {
    return this.#post('/pets', pet, options);
  }

  /** The account's orders, by id: `for await` walks all of them, `.page()` fetches one page. (Beta.) */
  orders(query: OrderQuery = {}, options?: CallOptions): Pages<Order> {
    return this.#list('/store/orders', query, options);
  }

  /** Orders an available animal, which turns `pending`. (Beta.) */
  placeOrder(order: NewOrder, options?: PostOptions): Promise<Order> {
    return this.#post('/store/orders', order, options);
  }

  /** One order. (Beta.) */
  getOrder(orderId: bigint, options?: CallOptions): Promise<Order> {
    return this.#get(`/store/orders/${orderId}`, options);
  }

  /** Completes an order: its animal is adopted, and `sold`. (Beta.) */
  completeOrder(orderId: bigint, options?: PostOptions): Promise<Order> {
    return this.#post(`/store/orders/${orderId}/complete`, undefined, options);
  }

  /** Cancels an order: its animal is `available` again. (Beta.) */
  cancelOrder(orderId: bigint, options?: PostOptions): Promise<Order> {
    return this.#post(`/store/orders/${orderId}/cancel`, undefined, options);
  }

  /** Queues a message to the store. (Experimental.) */
  queueMessage(message: NewMessage, options?: PostOptions): Promise<Message> {
    return this.#post('/messages', message, options);
  }

  /** One message, and whether it was sent. (Experimental.) */
  getMessage(messageId: string, options?: CallOptions): Promise<Message> {
    return this.#get(`/messages/${encodeURIComponent(messageId)}`, options);
  }

  /** How the caller stands; asking costs no quota. */
  getRateLimit(options?: CallOptions): Promise<RateLimit> {
    return this.#get('/rate_limit', options);
  }

  #list<Item>(path: string, query: Readonly<Record<string, QueryValue>>, options?: CallOptions): Pages<Item> {
    const url = this.#transport.at(path);
    for (const [name, value] of Object.entries(query))
      for (const each of [value].flat()) if (each !== undefined) url.searchParams.append(name, String(each));
    return new Pages(this.#transport, url, options);
  }

  // The API's own tests hold its answers to the description, so its word is taken for their type.
  async #get<Result>(path: string, options?: CallOptions): Promise<Result> {
    return (await this.#transport.get(this.#transport.at(path), options)).body as Result;
  }

  async #post<Result>(path: string, body: unknown, options?: PostOptions): Promise<Result> {
    return (await this.#transport.post(path, body, options)).body as Result;
  }
}
