import type { components, operations } from './generated.js';
import { Pages } from './pages.js';
import { type CallOptions, type ClientOptions, type PostOptions, Transport, type WriteMethod } from './transport.js';

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
export type PetQuery = NonNullable<operations['listPets']['parameters']['query']>;
export type CategoryQuery = NonNullable<operations['listCategories']['parameters']['query']>;
export type OrderQuery = NonNullable<operations['listOrders']['parameters']['query']>;

type QueryValue = string | number | bigint | readonly bigint[] | undefined;

/**
 * The client of the Animal Adoption Store API. Every int64 is an exact bigint in both directions. Requests that failed
 * with 429, 503 or a broken connection are retried; then the method rejects with an `ApiError`.
 */
export class AdoptionStore {
  readonly #transport: Transport;

  /** @throws TypeError if the address isn't https (or localhost), or the key isn't valid. */
  constructor(options: ClientOptions) {
    this.#transport = new Transport(options);
  }

  /**
   * The animals, by id: `for await` iterates over all of them, `.page()` fetches one page. By id: `{ id: [1n, 2n] }`; by
   * category: `{ categoryId: [1n] }`.
   */
  pets(query: PetQuery = {}, options?: CallOptions): Pages<Pet> {
    return this.#list('/pets', query, options);
  }

  /** Adds an animal. Its status is `available` by default. */
  createPet(pet: NewPet, options?: PostOptions): Promise<Pet> {
    return this.#post('/pets', pet, options);
  }

  /** Changes the given fields of an animal; the others stay. (Beta.) */
  changePet(petId: bigint, patch: PetPatch, options?: CallOptions): Promise<Pet> {
    return this.#write('PATCH', `/pets/${petId}`, patch, options) as Promise<Pet>;
  }

  /** Withdraws an animal for good. Its earlier orders stay readable. (Beta.) */
  async withdrawPet(petId: bigint, options?: CallOptions): Promise<void> {
    await this.#write('DELETE', `/pets/${petId}`, undefined, options);
  }

  /** The categories, by id: `for await` iterates over all of them, `.page()` fetches one page. (Beta.) */
  categories(query: CategoryQuery = {}, options?: CallOptions): Pages<Category> {
    return this.#list('/categories', query, options);
  }

  /** One category. (Beta.) */
  getCategory(categoryId: bigint, options?: CallOptions): Promise<Category> {
    return this.#get(`/categories/${categoryId}`, options);
  }

  /** Adds a category under an id that neither a category nor an animal has. (Beta.) */
  createCategory(category: NewCategory, options?: PostOptions): Promise<Category> {
    return this.#post('/categories', category, options);
  }

  /** Gives the id this name, whether it has a name or not. (Beta.) */
  nameCategory(categoryId: bigint, category: NewCategory, options?: CallOptions): Promise<Category> {
    return this.#write('PUT', `/categories/${categoryId}`, category, options) as Promise<Category>;
  }

  /** Removes a category, which no animal may have. (Beta.) */
  async removeCategory(categoryId: bigint, options?: CallOptions): Promise<void> {
    await this.#write('DELETE', `/categories/${categoryId}`, undefined, options);
  }

  /** The account's orders, by id: `for await` iterates over all of them, `.page()` fetches one page. (Beta.) */
  orders(query: OrderQuery = {}, options?: CallOptions): Pages<Order> {
    return this.#list('/store/orders', query, options);
  }

  /** Orders an available animal. The animal becomes `pending`. (Beta.) */
  placeOrder(order: NewOrder, options?: PostOptions): Promise<Order> {
    return this.#post('/store/orders', order, options);
  }

  /** One order. (Beta.) */
  getOrder(orderId: bigint, options?: CallOptions): Promise<Order> {
    return this.#get(`/store/orders/${orderId}`, options);
  }

  /** Completes an order. The animal becomes `sold`. (Beta.) */
  completeOrder(orderId: bigint, options?: PostOptions): Promise<Order> {
    return this.#post(`/store/orders/${orderId}/complete`, undefined, options);
  }

  /** Cancels an order. The animal becomes `available` again. (Beta.) */
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

  /** The caller's plan and remaining requests. This costs no quota. */
  getRateLimit(options?: CallOptions): Promise<RateLimit> {
    return this.#get('/rate_limit', options);
  }

  #list<Item>(path: string, query: Readonly<Record<string, QueryValue>>, options?: CallOptions): Pages<Item> {
    const url = this.#transport.at(path);
    for (const [name, value] of Object.entries(query))
      for (const each of [value].flat()) if (each !== undefined) url.searchParams.append(name, String(each));
    return new Pages(this.#transport, url, options);
  }

  // The API's tests check its answers against the description, so the client doesn't validate them again.
  async #get<Result>(path: string, options?: CallOptions): Promise<Result> {
    return (await this.#transport.get(this.#transport.at(path), options)).body as Result;
  }

  async #post<Result>(path: string, body: unknown, options?: PostOptions): Promise<Result> {
    return (await this.#transport.post(path, body, options)).body as Result;
  }

  async #write(method: WriteMethod, path: string, body: unknown, options?: CallOptions): Promise<unknown> {
    return (await this.#transport.write(method, path, body, options)).body;
  }
}
