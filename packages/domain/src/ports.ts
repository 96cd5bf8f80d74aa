import type { AccountMailQueue } from './accounts/account-mail-queue.js';
import type { AccountMailSender } from './accounts/account-mail-sender.js';
import type { AccountRepository } from './accounts/account-repository.js';
import type { ApiKeyRepository } from './accounts/api-key-repository.js';
import type { AttemptCounter } from './accounts/attempt-counter.js';
import type { CredentialRepository } from './accounts/credential-repository.js';
import type { PasswordHasher } from './accounts/password-hasher.js';
import type { AnimalImporter } from './animals/animal-importer.js';
import type { AnimalRepository } from './animals/animal-repository.js';
import type { CategoryRepository } from './categories/category-repository.js';
import type { IdempotencyRecords } from './idempotency/idempotency-records.js';
import type { Clock } from './kernel/clock.js';
import type { Cryptography } from './kernel/cryptography.js';
import type { MessageQueue } from './messages/message-queue.js';
import type { MessageSender } from './messages/message-sender.js';
import type { OrderRepository } from './orders/order-repository.js';
import type { RequestCounter } from './limits/request-counter.js';
import type { RequestRecords } from './limits/request-records.js';
import type { SessionRepository } from './sessions/session-repository.js';

/** The ports that the domain needs. */
export interface Ports {
  readonly animals: AnimalRepository;
  readonly categories: CategoryRepository;
  readonly animalImporter: AnimalImporter;
  readonly orders: OrderRepository;
  readonly messages: MessageQueue;
  readonly messageSender: MessageSender;
  readonly accounts: AccountRepository;
  readonly apiKeys: ApiKeyRepository;
  readonly credentials: CredentialRepository;
  readonly attempts: AttemptCounter;
  readonly sessions: SessionRepository;
  readonly passwordHasher: PasswordHasher;
  readonly accountMails: AccountMailQueue;
  readonly accountMailSender: AccountMailSender;
  readonly requests: RequestCounter;
  readonly requestRecords: RequestRecords;
  readonly idempotency: IdempotencyRecords;
  readonly clock: Clock;
  readonly cryptography: Cryptography;
}
