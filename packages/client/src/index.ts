export { ApiError, type ApiErrorCode, type ApiErrorKind } from './api-error.js';
export type { Answer, Call, ResponseInfo } from './call.js';
export {
  AdoptionStore,
  type Category,
  type CategoryQuery,
  type Message,
  type NewCategory,
  type NewMessage,
  type NewOrder,
  type NewPet,
  type Order,
  type OrderQuery,
  type OrderStatus,
  type Pet,
  type PetPatch,
  type PetQuery,
  type PetStatus,
  type RateLimit,
} from './client.js';
export type { Clock } from './clock.js';
export type { EventQuery, Events, EventType, Following, FollowOptions, StoreEvent } from './events.js';
export type { CallOptions, ClientOptions, PostOptions, RequestInfo, TryInfo, WriteOptions } from './options.js';
export type { Page, Pages } from './pages.js';
export { type ReceivedWebhook, verifyWebhook, type WebhookEvent } from './verify-webhook.js';
export type {
  Delivery,
  DeliveryQuery,
  NewWebhook,
  Webhook,
  WebhookPatch,
  Webhooks,
  WebhookWithSecret,
} from './webhooks.js';
