export * from './application.js';
export type { AdapterPolicy, StorePolicy } from './store-policy.js';
export * from './accounts/account.js';
export * from './accounts/address.js';
export * from './accounts/mails/account-mail.js';
export * from './accounts/mails/account-mail-queue.js';
export * from './accounts/mails/account-mail-sender.js';
export * from './accounts/mails/notice.js';
export * from './accounts/account-repository.js';
export * from './accounts/keys/api-key.js';
export * from './accounts/keys/api-key-repository.js';
export * from './accounts/keys/api-key-text.js';
export * from './accounts/attempt-counter.js';
export * from './accounts/keys/authenticate.js';
export { type AccountRequest, type Actor, type Authority } from './accounts/keys/authority.js';
export * from './accounts/deployment.js';
export type { CommonPasswords } from './accounts/sign-in/common-passwords.js';
export * from './accounts/sign-in/credential-repository.js';
export * from './accounts/sign-in/credentials.js';
export type { IssuedKey, IssueKeyInput } from './accounts/keys/issue-key.js';
export * from './accounts/keys/key-bans.js';
export {
  isWrongPassword,
  MAX_PASSWORD_LENGTH,
  MIN_PASSWORD_LENGTH,
  type Password,
} from './accounts/sign-in/password.js';
export * from './accounts/sign-in/password-hasher.js';
export * from './accounts/plan.js';
export * from './accounts/scope.js';
export * from './accounts/sign-in/use-cases.js';
export * from './accounts/mails/deliver-account-mails.js';
export * from './accounts/use-cases.js';
export * from './accounts/keys/use-cases.js';
export * from './animals/animal.js';
export * from './animals/animal-importer.js';
export * from './animals/animal-repository.js';
export * from './animals/import-animals.js';
export * from './animals/use-cases.js';
export * from './categories/category.js';
export * from './categories/category-repository.js';
export * from './categories/use-cases.js';
export { type DeliveryPolicy, type DeliveryReport, PermanentFailure } from './deliveries/deliver-batch.js';
export * from './deliveries/delivery-queue.js';
export * from './errors.js';
export * from './events/event.js';
export * from './events/event-feed.js';
export * from './events/use-cases.js';
export * from './idempotency/use-cases.js';
export * from './idempotency/idempotency-records.js';
export * from './kernel/branded.js';
export * from './kernel/clock.js';
export * from './kernel/condition.js';
export * from './kernel/cryptography.js';
export * from './kernel/domain-names.js';
export * from './kernel/errors.js';
export * from './kernel/int64.js';
export * from './kernel/reason-of.js';
export { escapeInvisible, escapeInvisibleInJson, hasVisible, INVISIBLE, nameKey, searchKey } from './kernel/text.js';
export type { Transaction } from './kernel/transaction.js';
export {
  DEFAULT_PAGE_SIZE,
  type ListPart,
  MAX_IDS,
  MAX_PAGE_SIZE,
  type Page,
  type PagePart,
  type PagePosition,
  type PageRequest,
} from './kernel/page.js';
export * from './messages/message.js';
export * from './messages/message-queue.js';
export * from './messages/message-sender.js';
export * from './messages/use-cases.js';
export * from './orders/order.js';
export * from './orders/order-repository.js';
export * from './orders/use-cases.js';
export { isoTime, type JsonFields, jsonText } from './published/json.js';
export { type MessageJson, messageJson, messageJsonText } from './published/message.js';
export { type OrderJson, orderJson, orderJsonText } from './published/order.js';
export { PET_JSON_FIELDS, type PetJson, petJson, petJsonText } from './published/pet.js';
export { webhookJson } from './webhooks/webhook-json.js';
export * from './purge-expired.js';
export * from './limits/failed-requests.js';
export * from './limits/quota.js';
export * from './limits/request-counter.js';
export * from './limits/request-records.js';
export * from './limits/get-usage.js';
export * from './limits/use-cases.js';
export * from './sessions/session.js';
export * from './sessions/session-repository.js';
export * from './sessions/use-cases.js';
export {
  DELIVERY_STATUSES,
  type DeliveryAttempt,
  type DeliveryId,
  type DeliveryOutcome,
  type DeliveryStatus,
  type DeliveryWithBody,
  deliveryBody,
  deliveryIdFrom,
  type DueDelivery,
  KEPT_ATTEMPTS,
  MOST_FAILING,
  PAUSES,
  PING,
  pingData,
  type Receiver,
  SLOW_WAIT,
  type Round,
  type RoundEnd,
  type WebhookDelivery,
} from './webhooks/delivery.js';
export * from './webhooks/follower.js';
export { ANSWER_WITHIN, QUICK_ROUND } from './webhooks/deliver-webhooks.js';
export * from './webhooks/use-cases.js';
export {
  decideSecretRotation,
  DELIVERY_SCOPES,
  MOST_PINGS,
  MOST_SECRETS,
  MOST_WEBHOOKS,
  newWebhookId,
  type NewWebhook,
  type OwnWebhook,
  SECRET_OVERLAP,
  type SecretRotation,
  type SecretRotationState,
  tooManyPings,
  tooManySecrets,
  tooManyWebhooks,
  type Webhook,
  WEBHOOK_STATUSES,
  type WebhookCommand,
  webhookDisabled,
  type WebhookHealth,
  webhookHealth,
  type WebhookHolder,
  type WebhookId,
  type WebhookState,
  type WebhookStatus,
  type WebhookWithFailures,
} from './webhooks/webhook.js';
export {
  MAX_DESCRIPTION_LENGTH,
  MAX_URL_LENGTH,
  webhookChange,
  type WebhookChangeInput,
  webhookFields,
  type WebhookInput,
} from './webhooks/webhook-fields.js';
export { type PastSecret, stillSigning, type WebhookSecrets } from './webhooks/webhook-secrets.js';
export * from './webhooks/webhook-queue.js';
export * from './webhooks/webhook-repository.js';
export * from './webhooks/webhook-sender.js';
