import { ApiError } from './api-error.js';
import { Call } from './call.js';
import type { components, operations } from './generated.js';
import type { CallOptions, PostOptions, WriteOptions } from './options.js';
import { Pages } from './pages.js';
import type { QueryOf } from './request.js';
import type { Transport } from './transport.js';

type Schemas = components['schemas'];
export type Pet = Schemas['Pet'];
export type NewPet = Schemas['NewPet'];
export type PetPatch = Schemas['PetPatch'];
export type PetStatus = Schemas['PetStatus'];
export type PetQuery = QueryOf<operations['listPets']>;

export class Pets {
  constructor(private readonly api: Transport) {}

  /**
   * The animals, by id: `for await` iterates over all of them, `.page()` fetches one page. By id: `{ id: [1n, 2n] }`; by
   * category: `{ categoryId: [1n] }`; by the beginning of the name, then ordered by name: `{ name: 'Lu' }`.
   *
   * @throws RangeError if a filter has more than 100 ids.
   */
  list(query: PetQuery = {}, options?: CallOptions): Pages<Pet> {
    return new Pages(this.api, { path: '/pets', query }, options);
  }

  /** One animal. Its response's `etag` is one for `change` and `remove`. */
  get(petId: bigint, options?: CallOptions): Call<Pet> {
    // The operation for one animal is deprecated.
    const page = this.api.request('GET', '/pets', { ...options, query: { id: [petId] } }).withResponse();
    const found = page.then(({ data: [pet], response }) => {
      // The entity tag is that of the page, which the API takes for the animal's.
      if (pet !== undefined) return { data: pet, response };
      const { requestId } = response;
      throw new ApiError({ code: 'not_found', message: `no animal has the id ${petId}`, status: 404, requestId });
    });
    return new Call(found);
  }

  /** Adds an animal. Its status is `available` by default. */
  create(pet: NewPet, options?: PostOptions): Call<Pet> {
    return this.api.request('POST', '/pets', { ...options, body: pet });
  }

  /** Changes the given fields of an animal; the others stay. (Beta.) */
  change(petId: bigint, patch: PetPatch, options?: WriteOptions): Call<Pet> {
    return this.api.request('PATCH', '/pets/{petId}', { ...options, path: { petId }, body: patch });
  }

  /** Withdraws an animal. Its earlier orders can still be read. (Beta.) */
  remove(petId: bigint, options?: WriteOptions): Call<undefined> {
    return this.api.request('DELETE', '/pets/{petId}', { ...options, path: { petId } });
  }
}

export type Category = Schemas['Category'];
export type NewCategory = Schemas['NewCategory'];
export type CategoryQuery = QueryOf<operations['listCategories']>;

export class Categories {
  constructor(private readonly api: Transport) {}

  /** The categories, by id. @throws RangeError if a filter has more than 100 ids. */
  list(query: CategoryQuery = {}, options?: CallOptions): Pages<Category> {
    return new Pages(this.api, { path: '/categories', query }, options);
  }

  get(categoryId: bigint, options?: CallOptions): Call<Category> {
    return this.api.request('GET', '/categories/{categoryId}', { ...options, path: { categoryId } });
  }

  /** Adds a category under an id that neither a category nor an animal has. */
  create(category: NewCategory, options?: PostOptions): Call<Category> {
    return this.api.request('POST', '/categories', { ...options, body: category });
  }

  /** Gives the id this name, whether it has one or not. */
  put(categoryId: bigint, category: NewCategory, options?: WriteOptions): Call<Category> {
    return this.api.request('PUT', '/categories/{categoryId}', { ...options, path: { categoryId }, body: category });
  }

  /** Removes a category, which no animal may have. */
  remove(categoryId: bigint, options?: WriteOptions): Call<undefined> {
    return this.api.request('DELETE', '/categories/{categoryId}', { ...options, path: { categoryId } });
  }
}

export type Order = Schemas['Order'];
export type NewOrder = Schemas['NewOrder'];
export type OrderStatus = Schemas['OrderStatus'];
export type OrderQuery = QueryOf<operations['listOrders']>;

export class Orders {
  constructor(private readonly api: Transport) {}

  /** The account's orders, by id. */
  list(query: OrderQuery = {}, options?: CallOptions): Pages<Order> {
    return new Pages(this.api, { path: '/store/orders', query }, options);
  }

  get(orderId: bigint, options?: CallOptions): Call<Order> {
    return this.api.request('GET', '/store/orders/{orderId}', { ...options, path: { orderId } });
  }

  /** Orders an available animal. The animal becomes `pending`. */
  create(order: NewOrder, options?: PostOptions): Call<Order> {
    return this.api.request('POST', '/store/orders', { ...options, body: order });
  }

  /** Completes an order. The animal becomes `sold`. Needs the scope `pets:manage` too. */
  complete(orderId: bigint, options?: PostOptions): Call<Order> {
    return this.api.request('POST', '/store/orders/{orderId}/complete', { ...options, path: { orderId } });
  }

  /** Cancels an order. The animal becomes `available` again. */
  cancel(orderId: bigint, options?: PostOptions): Call<Order> {
    return this.api.request('POST', '/store/orders/{orderId}/cancel', { ...options, path: { orderId } });
  }
}

export type Message = Schemas['Message'];
export type NewMessage = Schemas['NewMessage'];

export class Messages {
  constructor(private readonly api: Transport) {}

  /** One message, and whether it was sent. */
  get(messageId: string, options?: CallOptions): Call<Message> {
    return this.api.request('GET', '/messages/{messageId}', { ...options, path: { messageId } });
  }

  /** Queues a message to the store. */
  create(message: NewMessage, options?: PostOptions): Call<Message> {
    return this.api.request('POST', '/messages', { ...options, body: message });
  }
}

export type Webhook = Schemas['Webhook'];
export type WebhookWithSecret = Schemas['WebhookWithSecret'];
export type NewWebhook = Schemas['NewWebhook'];
export type WebhookPatch = Schemas['WebhookPatch'];
export type Delivery = Schemas['Delivery'];
export type DeliveryQuery = QueryOf<operations['listDeliveries']>;

export class Webhooks {
  constructor(private readonly api: Transport) {}

  /** All of the account's webhooks. */
  list(options?: CallOptions): Pages<Webhook> {
    return new Pages(this.api, { path: '/webhooks', kind: 'whole' }, options);
  }

  /** Has the events that happen from now on sent to a URL. Store the secret: it isn't shown again. */
  create(webhook: NewWebhook, options?: CallOptions): Call<WebhookWithSecret> {
    return this.api.request('POST', '/webhooks', { ...options, body: webhook });
  }

  get(webhookId: string, options?: CallOptions): Call<Webhook> {
    return this.api.request('GET', '/webhooks/{webhookId}', { ...options, path: { webhookId } });
  }

  /** Changes the given fields; null removes one. The others stay. */
  change(webhookId: string, patch: WebhookPatch, options?: WriteOptions): Call<Webhook> {
    return this.api.request('PATCH', '/webhooks/{webhookId}', { ...options, path: { webhookId }, body: patch });
  }

  remove(webhookId: string, options?: WriteOptions): Call<undefined> {
    return this.api.request('DELETE', '/webhooks/{webhookId}', { ...options, path: { webhookId } });
  }

  /** Gives it another secret. The former one also signs for 24 hours. */
  rotateSecret(webhookId: string, options?: WriteOptions): Call<WebhookWithSecret> {
    return this.api.request('POST', '/webhooks/{webhookId}/rotate-secret', { ...options, path: { webhookId } });
  }

  /** Queues a delivery of the type `webhook.ping`. */
  ping(webhookId: string, options?: PostOptions): Call<Delivery> {
    return this.api.request('POST', '/webhooks/{webhookId}/ping', { ...options, path: { webhookId } });
  }

  /** What was sent and will be, newest first. */
  deliveries(webhookId: string, query: DeliveryQuery = {}, options?: CallOptions): Pages<Delivery> {
    const path = '/webhooks/{webhookId}/deliveries';
    return new Pages(this.api, { path, query, parameters: { webhookId } }, options);
  }

  /** Queues a delivery again. */
  retry(webhookId: string, deliveryId: string, options?: PostOptions): Call<Delivery> {
    const path = { webhookId, deliveryId };
    return this.api.request('POST', '/webhooks/{webhookId}/deliveries/{deliveryId}/retry', { ...options, path });
  }

  /** Has the events since then sent that have failed or were never sent. Until that is done, the webhook says since when. */
  recover(webhookId: string, since: Date, options?: CallOptions): Call<Webhook> {
    const body = { since: since.toISOString() };
    return this.api.request('POST', '/webhooks/{webhookId}/recover', { ...options, path: { webhookId }, body });
  }
}
