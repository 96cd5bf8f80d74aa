import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { createDatabase, SmtpSink, type TestDatabase } from '@adoption-store/test-support';
import { DependencyMonitor } from '../src/kernel/dependency-monitor.js';
import { SmtpMessageSender } from '../src/messages/smtp-message-sender.js';
import { openInfrastructure } from '../src/open-infrastructure.js';

let database: TestDatabase;
let sink: SmtpSink;
beforeAll(async () => {
  database = await createDatabase();
  sink = await SmtpSink.open();
});
afterAll(async () => {
  await sink.close();
  await database.drop();
});

it('reports no lost dependency when it closes its own connections', async () => {
  const delivery = { smtpUrl: sink.url, from: 'store@example.com', to: 'ada@example.com' };
  const { close } = await openInfrastructure({ databaseUrl: database.url, poolSize: 2, delivery });
  const endOfReports = jest.spyOn(DependencyMonitor.prototype, 'close');
  const endOfSender = jest.spyOn(SmtpMessageSender.prototype, 'close');
  await close();
  const [reports = 0, sender = 0] = [endOfReports, endOfSender].map(({ mock }) => mock.invocationCallOrder[0]);
  expect(sender).toBeGreaterThan(reports);
  expect(reports).toBeGreaterThan(0);
});
