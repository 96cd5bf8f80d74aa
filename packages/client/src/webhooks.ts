import type { Call } from './call.js';
import type { components, operations } from './generated.js';
import type { CallOptions, PostOptions, WriteOptions } from './options.js';
import { type Pages, pagesOf } from './pages.js';
import type { QueryOf, Request } from './request.js';
import type { Transport } from './transport.js';

type Schemas = components['schemas'];
export type Webhook = Schemas['Webhook'];
export type WebhookWithSecret = Schemas['WebhookWithSecret'];
export type NewWebhook = Schemas['NewWebhook'];
export type WebhookPatch = Schemas['WebhookPatch'];
export type Delivery = Schemas['Delivery'];
export type DeliveryQuery = QueryOf<operations['listDeliveries']>;

export class Webhooks {
  readonly #transport: Transport;
  readonly #request: Request;

  constructor(transport: Transport, request: Request) {
    this.#transport = transport;
    this.#request = request;
  }

  /** All of the account's webhooks. */
  list(options?: CallOptions): Pages<Webhook> {
    return pagesOf(this.#transport, { path: '/webhooks', kind: 'whole' }, options);
  }

  /** Has the events that happen from now on sent to a URL. Store the secret: it isn't shown again. */
  create(webhook: NewWebhook, options?: CallOptions): Call<WebhookWithSecret> {
    return this.#request('POST', '/webhooks', { ...options, body: webhook });
  }

  get(webhookId: string, options?: CallOptions): Call<Webhook> {
    return this.#request('GET', '/webhooks/{webhookId}', { ...options, path: { webhookId } });
  }

  /** Changes the given fields; null removes one. The others stay. */
  change(webhookId: string, patch: WebhookPatch, options?: WriteOptions): Call<Webhook> {
    return this.#request('PATCH', '/webhooks/{webhookId}', { ...options, path: { webhookId }, body: patch });
  }

  remove(webhookId: string, options?: WriteOptions): Call<undefined> {
    return this.#request('DELETE', '/webhooks/{webhookId}', { ...options, path: { webhookId } });
  }

  /** Gives it another secret. The former one also signs for 24 hours. */
  rotateSecret(webhookId: string, options?: WriteOptions): Call<WebhookWithSecret> {
    return this.#request('POST', '/webhooks/{webhookId}/rotate-secret', { ...options, path: { webhookId } });
  }

  /** Queues a delivery of the type `webhook.ping`. */
  ping(webhookId: string, options?: PostOptions): Call<Delivery> {
    return this.#request('POST', '/webhooks/{webhookId}/ping', { ...options, path: { webhookId } });
  }

  /** What was sent and will be, newest first. */
  deliveries(webhookId: string, query: DeliveryQuery = {}, options?: CallOptions): Pages<Delivery> {
    const path = '/webhooks/{webhookId}/deliveries';
    return pagesOf(this.#transport, { path, query, parameters: { webhookId } }, options);
  }

  /** Queues a delivery again. */
  retry(webhookId: string, deliveryId: string, options?: PostOptions): Call<Delivery> {
    const path = { webhookId, deliveryId };
    return this.#request('POST', '/webhooks/{webhookId}/deliveries/{deliveryId}/retry', { ...options, path });
  }

  /** Has the events since then sent that have failed or were never sent. Until that is done, the webhook says since when. */
  recover(webhookId: string, since: Date, options?: CallOptions): Call<Webhook> {
    const body = { since: since.toISOString() };
    return this.#request('POST', '/webhooks/{webhookId}/recover', { ...options, path: { webhookId }, body });
  }
}
