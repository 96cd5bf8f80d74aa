export { ApiError, type ApiErrorCode, type ApiErrorKind } from './api-error.js';
export type { Answer, Call, ResponseInfo } from './call.js';
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
export type { CallOptions, ClientOptions, PostOptions, RequestInfo, TryInfo, WriteOptions } from './options.js';
export type { Page, Pages } from './pages.js';
export { type ReceivedWebhook, verifyWebhook, type WebhookEvent } from './verify-webhook.js';
// Only as types: a program gets them from an AdoptionStore.
export type * from './resources.js';
