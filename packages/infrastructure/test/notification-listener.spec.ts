import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { ask, createDatabase, DatabaseGate, type TestDatabase, until } from '@adoption-store/test-support';
import { NotificationListener } from '../src/database/notification-listener.js';

let database: TestDatabase;
let gate: DatabaseGate;
let listener: NotificationListener;
const heard: (string | undefined)[] = [];

beforeEach(async () => {
  database = await createDatabase();
  gate = await DatabaseGate.open(database.url);
  heard.length = 0;
  listener = new NotificationListener({ connectionString: gate.url }, 'news', (payload) => heard.push(payload), 100);
  listener.start();
  await until(() => heard.length > 0);
});
afterEach(async () => {
  await listener.close();
  gate.shut();
  await database.drop();
});

const notify = (payload: string) => ask(database.url, `NOTIFY news, '${payload}'`);

it('a listener reports each notification, and that it begins', async () => {
  await notify('Luna');
  await until(() => heard.length > 1);
  expect(heard).toEqual([undefined, 'Luna']);
});

it('a listener whose server has vanished connects again, and reports the gap', async () => {
  gate.abandon();
  await notify('lost');
  await until(() => heard.length > 1);
  await notify('Milo');
  await until(() => heard.length > 2);
  expect(heard).toEqual([undefined, undefined, 'Milo']);
});
