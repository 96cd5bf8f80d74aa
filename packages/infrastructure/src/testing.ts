/** Internals for tests: the schema, and each adapter separately. */
export { Argon2PasswordHasher } from './accounts/argon2-password-hasher.js';
export { SmtpAccountMailSender } from './accounts/smtp-account-mail-sender.js';
export { TypeOrmAccountRepository } from './accounts/typeorm-account-repository.js';
export { TypeOrmApiKeyRepository } from './accounts/typeorm-api-key-repository.js';
export { CoalescingAnimalRepository } from './animals/coalescing-animal-repository.js';
export { TypeOrmAnimalRepository } from './animals/typeorm-animal-repository.js';
export { migrate, MIGRATION_LOCK } from './database/migrate.js';
export { DependencyMonitor } from './kernel/dependency-monitor.js';
export { SmtpMessageSender } from './messages/smtp-message-sender.js';
export { HttpWebhookSender } from './webhooks/http-webhook-sender.js';
export { TypeOrmOrderRepository } from './orders/typeorm-order-repository.js';
export { InProcessRequestCounter } from './limits/in-process-request-counter.js';
export { createRequestCounter, type CreatedRequestCounter } from './limits/create-request-counter.js';
export { PostgresCountsStore } from './limits/postgres-counts-store.js';
export { RedisRequestCounter } from './limits/redis-request-counter.js';
