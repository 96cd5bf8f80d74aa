export { ApiError, type ApiErrorCode } from './api-error.js';
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
export type { Page, Pages } from './pages.js';
export type { CallOptions, ClientOptions, PostOptions } from './transport.js';
