import type { Call } from './call.js';
import { Events } from './events.js';
import type { components, operations } from './generated.js';
import type { CallOptions, ClientOptions, PostOptions, WriteOptions } from './options.js';
import { type Pages, pagesOf } from './pages.js';
import { type QueryOf, type Request, requestBy } from './request.js';
import { Transport } from './transport.js';
import { Webhooks } from './webhooks.js';

type Schemas = components['schemas'];
export type Pet = Schemas['Pet'];
export type NewPet = Schemas['NewPet'];
export type PetPatch = Schemas['PetPatch'];
export type PetStatus = Schemas['PetStatus'];
export type Category = Schemas['Category'];
export type NewCategory = Schemas['NewCategory'];
export type Order = Schemas['Order'];
export type NewOrder = Schemas['NewOrder'];
export type OrderStatus = Schemas['OrderStatus'];
export type Message = Schemas['Message'];
export type NewMessage = Schemas['NewMessage'];
export type RateLimit = Schemas['RateLimit'];
export type PetQuery = QueryOf<operations['listPets']>;
export type CategoryQuery = QueryOf<operations['listCategories']>;
export type OrderQuery = QueryOf<operations['listOrders']>;

/**
 * The client of the Animal Adoption Store API. Every int64 is an exact bigint in both directions. All calls of a client
 * share the account's limits: make one, and use it everywhere.
 */
export class AdoptionStore {
  /** What has happened in the store, oldest first. (Experimental.) */
  readonly events: Events;
  /** The receivers to which the API sends the events. (Experimental.) */
  readonly webhooks: Webhooks;
  /** Calls any operation of the description, also one that has no method here. */
  readonly request: Request;
  readonly #transport: Transport;

  /** @throws TypeError or RangeError that names the option and its rule. */
  constructor(options: ClientOptions = {}) {
    this.#transport = new Transport(options);
    this.request = requestBy(this.#transport);
    this.events = new Events(this.#transport);
    this.webhooks = new Webhooks(this.#transport, this.request);
  }

  /**
   * The animals, by id: `for await` iterates over all of them, `.page()` fetches one page. By id: `{ id: [1n, 2n] }`; by
   * category: `{ categoryId: [1n] }`.
   */
  pets(query: PetQuery = {}, options?: CallOptions): Pages<Pet> {
    return pagesOf(this.#transport, '/pets', query, options);
  }

  /** Adds an animal. Its status is `available` by default. */
  createPet(pet: NewPet, options?: PostOptions): Call<Pet> {
    return this.request('POST', '/pets', { ...options, body: pet });
  }

  /** Changes the given fields of an animal; the others stay. (Beta.) */
  changePet(petId: bigint, patch: PetPatch, options?: WriteOptions): Call<Pet> {
    return this.request('PATCH', '/pets/{petId}', { ...options, path: { petId }, body: patch });
  }

  /** Removes an animal. Its earlier orders can still be read. (Beta.) */
  withdrawPet(petId: bigint, options?: WriteOptions): Call<undefined> {
    return this.request('DELETE', '/pets/{petId}', { ...options, path: { petId } });
  }

  /** The categories, by id. (Beta.) */
  categories(query: CategoryQuery = {}, options?: CallOptions): Pages<Category> {
    return pagesOf(this.#transport, '/categories', query, options);
  }

  /** One category. (Beta.) */
  getCategory(categoryId: bigint, options?: CallOptions): Call<Category> {
    return this.request('GET', '/categories/{categoryId}', { ...options, path: { categoryId } });
  }

  /** Adds a category under an id that neither a category nor an animal has. (Beta.) */
  createCategory(category: NewCategory, options?: PostOptions): Call<Category> {
    return this.request('POST', '/categories', { ...options, body: category });
  }

  /** Gives the id this name, whether it has a name or not. (Beta.) */
  nameCategory(categoryId: bigint, category: NewCategory, options?: WriteOptions): Call<Category> {
    return this.request('PUT', '/categories/{categoryId}', { ...options, path: { categoryId }, body: category });
  }

  /** Removes a category, which no animal may have. (Beta.) */
  removeCategory(categoryId: bigint, options?: WriteOptions): Call<undefined> {
    return this.request('DELETE', '/categories/{categoryId}', { ...options, path: { categoryId } });
  }

  /** The account's orders, by id. (Beta.) */
  orders(query: OrderQuery = {}, options?: CallOptions): Pages<Order> {
    return pagesOf(this.#transport, '/store/orders', query, options);
  }

  /** Orders an available animal. The animal becomes `pending`. (Beta.) */
  placeOrder(order: NewOrder, options?: PostOptions): Call<Order> {
    return this.request('POST', '/store/orders', { ...options, body: order });
  }

  /** One order. (Beta.) */
  getOrder(orderId: bigint, options?: CallOptions): Call<Order> {
    return this.request('GET', '/store/orders/{orderId}', { ...options, path: { orderId } });
  }

  /** Completes an order. The animal becomes `sold`. (Beta.) */
  completeOrder(orderId: bigint, options?: PostOptions): Call<Order> {
    return this.request('POST', '/store/orders/{orderId}/complete', { ...options, path: { orderId } });
  }

  /** Cancels an order. The animal becomes `available` again. (Beta.) */
  cancelOrder(orderId: bigint, options?: PostOptions): Call<Order> {
    return this.request('POST', '/store/orders/{orderId}/cancel', { ...options, path: { orderId } });
  }

  /** Queues a message to the store. (Experimental.) */
  queueMessage(message: NewMessage, options?: PostOptions): Call<Message> {
    return this.request('POST', '/messages', { ...options, body: message });
  }

  /** One message, and whether it was sent. (Experimental.) */
  getMessage(messageId: string, options?: CallOptions): Call<Message> {
    return this.request('GET', '/messages/{messageId}', { ...options, path: { messageId } });
  }

  /** The caller's plan and remaining requests. This costs no quota. */
  getRateLimit(options?: CallOptions): Call<RateLimit> {
    return this.request('GET', '/rate_limit', options);
  }
}
