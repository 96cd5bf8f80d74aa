import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { CategoryPolicy } from '../categories/category.js';
import { InMemoryAccountMailSender } from './in-memory-account-mail-sender.js';
import { InMemoryMessageSender } from './in-memory-message-sender.js';
import { inMemoryPorts } from './in-memory-ports.js';
import { InMemoryRequestCounter } from './in-memory-request-counter.js';
import { PredictableCryptography } from './predictable-cryptography.js';
import { accountMailQueueSuite } from './suites/account-mail-queue.js';
import { accountMailSenderSuite } from './suites/account-mail-sender.js';
import { accountRepositorySuite } from './suites/account-repository.js';
import { animalImporterSuite } from './suites/animal-importer.js';
import { animalRepositorySuite } from './suites/animal-repository.js';
import { apiKeyRepositorySuite } from './suites/api-key-repository.js';
import { attemptCounterSuite } from './suites/attempt-counter.js';
import { categoryRepositorySuite } from './suites/category-repository.js';
import { credentialRepositorySuite } from './suites/credential-repository.js';
import type { TestFramework } from './suites/framework.js';
import { idempotencyRecordsSuite } from './suites/idempotency-records.js';
import { messageQueueSuite } from './suites/message-queue.js';
import { messageSenderSuite } from './suites/message-sender.js';
import { orderRepositorySuite } from './suites/order-repository.js';
import { passwordHasherSuite } from './suites/password-hasher.js';
import { requestCounterSuite } from './suites/request-counter.js';
import { sessionRepositorySuite } from './suites/session-repository.js';
import { requestRecordsSuite } from './suites/request-records.js';

const draws = new PredictableCryptography(jest.getSeed());
const framework: TestFramework = {
  describe,
  it,
  beforeAll,
  beforeEach,
  afterEach,
  afterAll,
  expect,
  random: () => draws.randomBytes(4).reduce((sum, byte) => 256 * sum + byte, 0) / 2 ** 32,
  // In memory everything happens at once.
  until: async (isTrue) => {
    expect(await isTrue()).toBe(true);
  },
};
const close = () => Promise.resolve();
const open = () => {
  const ports = inMemoryPorts();
  const letPass = (milliseconds: number) => {
    ports.clock.advance(milliseconds);
  };
  return Promise.resolve({ ports, letPass, close });
};

const openWith = (categories: CategoryPolicy = 'open') =>
  Promise.resolve({ ports: inMemoryPorts({ categories }), close });

accountMailQueueSuite(framework, 'in memory', open);
accountRepositorySuite(framework, 'in memory', open);
animalImporterSuite(framework, 'in memory', openWith);
animalRepositorySuite(framework, 'in memory', open);
apiKeyRepositorySuite(framework, 'in memory', open);
attemptCounterSuite(framework, 'in memory', open);
categoryRepositorySuite(framework, 'in memory', openWith);
credentialRepositorySuite(framework, 'in memory', open);
idempotencyRecordsSuite(framework, 'in memory', open);
messageQueueSuite(framework, 'in memory', open);
orderRepositorySuite(framework, 'in memory', open);
passwordHasherSuite(framework, 'in memory', open);
sessionRepositorySuite(framework, 'in memory', open);
requestRecordsSuite(framework, 'in memory', open);
requestCounterSuite(framework, 'in memory', (policy) =>
  Promise.resolve({ ports: { requests: new InMemoryRequestCounter(policy) }, close }),
);

messageSenderSuite(framework, 'in memory', () => {
  const sender = new InMemoryMessageSender();
  return Promise.resolve({
    sender,
    received: () => sender.delivered.map(({ id, from, text }) => ({ id, from, text })),
    refuseMessages: (areRefused) => {
      sender.failure = areRefused ? new Error('refused') : undefined;
    },
    close,
  });
});

accountMailSenderSuite(framework, 'in memory', () => {
  const sender = new InMemoryAccountMailSender();
  return Promise.resolve({
    sender,
    received: () => sender.delivered.map(({ email, kind, token }) => ({ email, kind, token })),
    refuseMails: (areRefused) => {
      sender.failure = areRefused ? new Error('refused') : undefined;
    },
    close,
  });
});
