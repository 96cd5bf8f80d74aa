import type { Ports } from '../application.js';
import { DEFAULT_BAN_POLICY } from '../limits/quota.js';
import type { AdapterPolicy } from '../store-policy.js';
import { InMemoryAccountMailQueue } from './in-memory-account-mail-queue.js';
import { InMemoryAccountMailSender } from './in-memory-account-mail-sender.js';
import { InMemoryAccountRepository } from './in-memory-account-repository.js';
import { InMemoryAnimalImporter } from './in-memory-animal-importer.js';
import { InMemoryAnimalRepository } from './in-memory-animal-repository.js';
import { InMemoryApiKeyRepository } from './in-memory-api-key-repository.js';
import { InMemoryAttemptCounter } from './in-memory-attempt-counter.js';
import { InMemoryCategoryRepository } from './in-memory-category-repository.js';
import { InMemoryCommonPasswords } from './in-memory-common-passwords.js';
import { InMemoryDeployment } from './in-memory-deployment.js';
import { InMemoryCredentialRepository } from './in-memory-credential-repository.js';
import { InMemoryEventFeed } from './in-memory-event-feed.js';
import { InMemoryIdempotencyRecords } from './in-memory-idempotency-records.js';
import { InMemoryMessageQueue } from './in-memory-message-queue.js';
import { InMemoryMessageSender } from './in-memory-message-sender.js';
import { InMemoryOrderRepository } from './in-memory-order-repository.js';
import { InMemoryRequestCounter } from './in-memory-request-counter.js';
import { InMemoryRequestRecords } from './in-memory-request-records.js';
import { InMemorySessionRepository } from './in-memory-session-repository.js';
import { InMemoryWebhookQueue } from './in-memory-webhook-queue.js';
import { InMemoryWebhookRepository } from './in-memory-webhook-repository.js';
import { InMemoryWebhookSender } from './in-memory-webhook-sender.js';
import { ManualClock } from './manual-clock.js';
import { PredictableCryptography } from './predictable-cryptography.js';
import { predictableDomainToAscii } from './predictable-domain-to-ascii.js';
import { PredictablePasswordHasher } from './predictable-password-hasher.js';

/** Every port, in memory: the whole application without a database. */
export function inMemoryPorts(policy: Partial<AdapterPolicy> = {}): Ports & {
  readonly clock: ManualClock;
  readonly accounts: InMemoryAccountRepository;
  readonly events: InMemoryEventFeed;
  readonly messageSender: InMemoryMessageSender;
  readonly passwordHasher: PredictablePasswordHasher;
  readonly accountMailSender: InMemoryAccountMailSender;
  readonly webhookDeliveries: InMemoryWebhookQueue;
  readonly webhookQueue: InMemoryWebhookQueue;
  readonly webhooks: InMemoryWebhookRepository;
  readonly webhookSender: InMemoryWebhookSender;
} {
  const clock = new ManualClock();
  const accounts = new InMemoryAccountRepository();
  const accountMails = new InMemoryAccountMailQueue(accounts, clock);
  const events = new InMemoryEventFeed(clock);
  const apiKeys = new InMemoryApiKeyRepository(accounts, accountMails);
  const webhooks = new InMemoryWebhookRepository(accounts, apiKeys, events, clock);
  const webhookQueue = new InMemoryWebhookQueue(accounts, webhooks, events, accountMails, clock);
  const animals = new InMemoryAnimalRepository(events);
  const categories = new InMemoryCategoryRepository(animals, policy.categories ?? 'open');
  const orders = new InMemoryOrderRepository(accounts, animals, events);
  const messages = new InMemoryMessageQueue(accounts, events, clock);
  const requestRecords = new InMemoryRequestRecords(accounts, apiKeys);
  const idempotency = new InMemoryIdempotencyRecords(() => {
    const changed = [accountMails, animals, apiKeys, categories, orders, messages, events, webhooks].map((each) =>
      each.remember(),
    );
    return () => {
      for (const putBack of changed) putBack();
    };
  });
  return {
    animals,
    categories,
    animalImporter: new InMemoryAnimalImporter(animals),
    orders,
    messages,
    events,
    idempotency,
    messageSender: new InMemoryMessageSender(),
    accounts,
    deployment: new InMemoryDeployment(),
    apiKeys,
    credentials: new InMemoryCredentialRepository(accounts, apiKeys, accountMails, requestRecords, webhooks),
    attempts: new InMemoryAttemptCounter(clock),
    sessions: new InMemorySessionRepository(accounts),
    passwordHasher: new PredictablePasswordHasher(),
    commonPasswords: new InMemoryCommonPasswords(),
    accountMails,
    accountMailSender: new InMemoryAccountMailSender(),
    webhooks,
    webhookDeliveries: webhookQueue,
    webhookQueue,
    webhookSender: new InMemoryWebhookSender(),
    requests: new InMemoryRequestCounter(policy.bans ?? DEFAULT_BAN_POLICY),
    requestRecords,
    clock,
    cryptography: new PredictableCryptography(),
    domainToAscii: predictableDomainToAscii,
  };
}
