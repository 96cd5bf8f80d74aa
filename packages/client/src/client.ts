import type { Call } from './call.js';
import { Categories, Messages, Orders, Pets, Webhooks } from './resources.js';
import { Events } from './events.js';
import type { components } from './generated.js';
import type { CallOptions, ClientOptions } from './options.js';
import type { Request } from './request.js';
import { Transport } from './transport.js';

export type RateLimit = components['schemas']['RateLimit'];

/**
 * The client of the Animal Adoption Store API. Every int64 is an exact bigint in both directions. All calls of a client
 * share the account's limits: make one, and use it everywhere.
 */
export class AdoptionStore {
  readonly pets: Pets;
  /** The names of the animals' categories. (Beta.) */
  readonly categories: Categories;
  /** The account's orders of animals. (Beta.) */
  readonly orders: Orders;
  /** The account's messages to the store. (Experimental.) */
  readonly messages: Messages;
  /** What has happened in the store, oldest first. (Experimental.) */
  readonly events: Events;
  /** The receivers to which the API sends the events. (Experimental.) */
  readonly webhooks: Webhooks;
  /** Calls any operation of the description, also one that has no method here. */
  readonly request: Request;

  /** @throws TypeError or RangeError that names the option and its rule. */
  constructor(options: ClientOptions = {}) {
    const transport = new Transport(options);
    this.request = transport.request;
    this.pets = new Pets(transport);
    this.categories = new Categories(transport);
    this.orders = new Orders(transport);
    this.messages = new Messages(transport);
    this.events = new Events(transport);
    this.webhooks = new Webhooks(transport);
  }

  /** The caller's plan and remaining requests. This costs no quota. */
  getRateLimit(options?: CallOptions): Call<RateLimit> {
    return this.request('GET', '/rate_limit', options);
  }
}
