export { ApiError, type ApiErrorCode, type ApiErrorKind } from './api-error.js';
export type { Answer, Call, ResponseInfo } from './call.js';
export type { Categories, Category, CategoryQuery, NewCategory } from './categories.js';
export { AdoptionStore, type RateLimit } from './client.js';
export type { Clock } from './clock.js';
export type {
  CatchUpOptions,
  EventQuery,
  Events,
  EventType,
  Following,
  FollowOptions,
  StoreEvent,
  UnknownEventType,
} from './events.js';
export type { Message, Messages, NewMessage } from './messages.js';
export type { CallOptions, ClientOptions, PostOptions, RequestInfo, TryInfo, WriteOptions } from './options.js';
export type { NewOrder, Order, OrderQuery, Orders, OrderStatus } from './orders.js';
export type { Page, Pages } from './pages.js';
export type { NewPet, Pet, PetPatch, PetQuery, Pets, PetStatus } from './pets.js';
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
