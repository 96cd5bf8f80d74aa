import type { Ports } from '../application.js';
import { InMemoryAccountRepository } from './in-memory-account-repository.js';
import { InMemoryAnimalRepository } from './in-memory-animal-repository.js';
import { InMemoryApiKeyRepository } from './in-memory-api-key-repository.js';
import { InMemoryRequestCounter } from './in-memory-request-counter.js';
import { ManualClock } from './manual-clock.js';
import { PredictableCryptography } from './predictable-cryptography.js';

/** Every port, in memory: the whole application without a database. */
export function inMemoryPorts(): Ports & { readonly clock: ManualClock } {
  const accounts = new InMemoryAccountRepository();
  return {
    animals: new InMemoryAnimalRepository(),
    accounts,
    requests: new InMemoryRequestCounter(),
    apiKeys: new InMemoryApiKeyRepository(accounts),
    clock: new ManualClock(),
    cryptography: new PredictableCryptography(),
  };
}
