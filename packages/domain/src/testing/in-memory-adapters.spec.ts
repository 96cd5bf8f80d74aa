import * as globals from '@jest/globals';
import type { CategoryPolicy } from '../categories/category.js';
import { PLANS } from '../accounts/plan.js';
import * as testing from './index.js';

const draws = new testing.PredictableCryptography(globals.jest.getSeed());
const framework: testing.TestFramework = {
  ...globals,
  random: () => draws.randomBytes(4).reduce((sum, byte) => 256 * sum + byte, 0) / 2 ** 32,
  // In memory everything happens at once.
  until: async (isTrue) => {
    globals.expect(await isTrue()).toBe(true);
  },
};
const close = () => Promise.resolve();
const open = () => {
  const ports = testing.inMemoryPorts();
  const letPass = (milliseconds: number) => {
    ports.clock.advance(milliseconds);
  };
  const addOlder = async (email: string) => {
    const account = { email, plan: PLANS.free, scopes: undefined, createdAt: ports.clock.now() };
    ports.accounts.add({ ...account, credentialVersion: 0, provenAt: undefined }, undefined);
  };
  return Promise.resolve({ ports, letPass, addOlder, close });
};

const openWith = (categories: CategoryPolicy = 'open') =>
  Promise.resolve({ ports: testing.inMemoryPorts({ categories }), close });

for (const suite of [
  testing.accountMailQueueSuite,
  testing.accountRepositorySuite,
  testing.apiKeyRepositorySuite,
  testing.attemptCounterSuite,
  testing.commonPasswordsSuite,
  testing.credentialRepositorySuite,
  testing.deploymentSuite,
  testing.eventFeedSuite,
  testing.idempotencyRecordsSuite,
  testing.messageQueueSuite,
  testing.orderRepositorySuite,
  testing.sessionRepositorySuite,
  testing.requestRecordsSuite,
  testing.webhookQueueSuite,
  testing.webhookRepositorySuite,
])
  suite(framework, 'in memory', open);
for (const suite of [testing.animalImporterSuite, testing.categoryRepositorySuite])
  suite(framework, 'in memory', openWith);
testing.animalRepositorySuite(framework, 'in memory', async () => testing.openedAnimals(await open()));
testing.passwordHasherSuite(framework, 'in memory', async () => {
  const { ports } = await open();
  const old = new testing.PredictablePasswordHasher();
  old.generation = 0;
  return { ports, outdatedHashOf: (password) => old.hash(password), close };
});
testing.domainToAsciiSuite(framework, 'in memory', testing.predictableDomainToAscii);
testing.requestCounterSuite(framework, 'in memory', (policy) =>
  Promise.resolve({ ports: { requests: new testing.InMemoryRequestCounter(policy) }, close }),
);

testing.messageSenderSuite(framework, 'in memory', () => {
  const sender = new testing.InMemoryMessageSender();
  return Promise.resolve({
    sender,
    received: () => sender.delivered.map(({ id, from, text }) => ({ id, from, text })),
    refuseMessages: (areRefused) => {
      sender.failure = areRefused ? new Error('refused') : undefined;
    },
    close,
  });
});

testing.accountMailSenderSuite(framework, 'in memory', () => {
  const sender = new testing.InMemoryAccountMailSender();
  return Promise.resolve({
    sender,
    received: () => sender.delivered.map(({ email, kind, token }) => ({ email, kind, token })),
    refuseMails: (areRefused) => {
      sender.failure = areRefused ? new Error('refused') : undefined;
    },
    close,
  });
});
