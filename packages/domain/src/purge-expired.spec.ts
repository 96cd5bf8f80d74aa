import { testPolicy } from './testing/in-memory-application.js';
import { expect, it, jest } from '@jest/globals';
import { createApplication } from './application.js';
import { DAY, HOUR, later } from './kernel/clock.js';
import { inMemoryPorts } from './testing/index.js';

const ports = inMemoryPorts();
const { purgeExpired } = createApplication(ports, testPolicy());
const now = ports.clock.now();
const ago = (time: number) => later(now, -time);
const { requestRecords, webhookQueue } = ports;

it.each([
  ['counts', jest.spyOn(ports.requests, 'purge'), [now]],
  ['answers', jest.spyOn(ports.idempotency, 'purge'), [ago(DAY)]],
  ['resets', jest.spyOn(ports.credentials, 'purgeLinks'), [now]],
  ['mails', jest.spyOn(ports.accountMails, 'purge'), [now]],
  ['attempts', jest.spyOn(ports.attempts, 'purge'), [now]],
  ['sessions', jest.spyOn(ports.sessions, 'purge'), [now]],
  ['usage', jest.spyOn(requestRecords, 'purgeUsage'), ['day', ago(400 * DAY)]],
  // Two hours longer than they are shown.
  ['hours', jest.spyOn(requestRecords, 'purgeUsage'), ['hour', ago(50 * HOUR)]],
  ['failedRequests', jest.spyOn(requestRecords, 'purgeFailedRequests'), [ago(7 * DAY)]],
  ['messages', jest.spyOn(ports.messages, 'purge'), [ago(90 * DAY)]],
  ['events', jest.spyOn(ports.events, 'purge'), [ago(30 * DAY)]],
  ['pings', jest.spyOn(webhookQueue, 'purgePings'), [ago(30 * DAY)]],
  ['deliveries', jest.spyOn(webhookQueue, 'purgeForgotten'), []],
  ['keys', jest.spyOn(ports.apiKeys, 'purge'), [ago(400 * DAY)]],
] as const)('%s are purged once their time is over', async (kind, purge, until) => {
  purge.mockResolvedValueOnce(7);
  expect(await purgeExpired.execute(kind)).toBe(7);
  expect(purge.mock.lastCall).toEqual(until);
});
