import type { Ports } from '../application.js';
import { InMemoryAccountRepository } from './in-memory-account-repository.js';
import { InMemoryAnimalRepository } from './in-memory-animal-repository.js';
import { InMemoryApiKeyRepository } from './in-memory-api-key-repository.js';
import { InMemoryIdempotencyRecords } from './in-memory-idempotency-records.js';
import { InMemoryMessageQueue } from './in-memory-message-queue.js';
import { InMemoryMessageSender } from './in-memory-message-sender.js';
import { InMemoryOrderRepository } from './in-memory-order-repository.js';
import { InMemoryRequestCounter } from './in-memory-request-counter.js';
import { ManualClock } from './manual-clock.js';
import { PredictableCryptography } from './predictable-cryptography.js';

/** Every port, in memory: the whole application without a database. */
export function inMemoryPorts(): Ports & {
  readonly clock: ManualClock;
  readonly messageSender: InMemoryMessageSender;
} {
  const accounts = new InMemoryAccountRepository();
  const animals = new InMemoryAnimalRepository();
  const orders = new InMemoryOrderRepository(animals);
  const messages = new InMemoryMessageQueue(accounts);
  const idempotency = new InMemoryIdempotencyRecords(() => {
    const changed = [animals, orders, messages].map((each) => each.remember());
    return () => {
      for (const putBack of changed) putBack();
    };
  });
  return {
    animals,
    orders,
    messages,
    idempotency,
    messageSender: new InMemoryMessageSender(),
    accounts,
    requests: new InMemoryRequestCounter(),
    apiKeys: new InMemoryApiKeyRepository(accounts),
    clock: new ManualClock(),
    cryptography: new PredictableCryptography(),
  };
}
