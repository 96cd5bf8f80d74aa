import type { accountErrors } from './accounts/account.js';
import { keyErrors, type keyManagementErrors } from './accounts/keys/api-key.js';
import { scopeErrors } from './accounts/scope.js';
import { animalErrors } from './animals/animal.js';
import { categoryErrors } from './categories/category.js';
import { eventErrors } from './events/event.js';
import { idempotencyErrors } from './idempotency/use-cases.js';
import { kernelErrors } from './kernel/errors.js';
import { messageErrors, type messageManagementErrors } from './messages/message.js';
import { orderErrors } from './orders/order.js';
import { webhookErrors } from './webhooks/webhook.js';

/** Every error code of the API. */
export const requestErrors = {
  ...kernelErrors,
  ...idempotencyErrors,
  ...keyErrors,
  ...scopeErrors,
  ...animalErrors,
  ...orderErrors,
  ...messageErrors,
  ...categoryErrors,
  ...webhookErrors,
  ...eventErrors,
};

export type RequestErrorCode = keyof typeof requestErrors;

/** Besides, the codes of account holders and operators. No operation of the API returns them. */
export type DomainErrorCode =
  | RequestErrorCode
  | keyof typeof accountErrors
  | keyof typeof keyManagementErrors
  | keyof typeof messageManagementErrors;
