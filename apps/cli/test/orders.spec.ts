import { testPolicy } from '@adoption-store/domain/testing';
import { type AccountId, type Application, createApplication } from '@adoption-store/domain';
import { openInfrastructure } from '@adoption-store/infrastructure';
import { ask, createDatabase, type TestDatabase } from '@adoption-store/test-support';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { orderCommands } from '../src/orders/order-commands.js';
import { call } from './support/commands.js';

const HEADS = ['ID', 'ACCOUNT', 'ANIMAL', 'STATUS'];

let database: TestDatabase;
let application: Application;
let close: () => Promise<void>;
beforeAll(async () => {
  database = await createDatabase();
  const store = await openInfrastructure({ policy: testPolicy(), databaseUrl: database.url, poolSize: 2 });
  application = createApplication(store.ports, testPolicy());
  close = store.close;
});
afterAll(async () => {
  await close();
  await database.drop();
});

const orders = (...args: readonly string[]) => call(orderCommands, args, { DATABASE_URL: database.url });

async function listed(...args: readonly string[]) {
  const { code, stdout } = await orders('list', ...args);
  expect(code).toBe(0);
  const lines = stdout.trimEnd().split('\n');
  return lines.map((line) => line.split(/ {2,}/).slice(0, HEADS.length));
}

/** Places an order of a new account for a new animal. */
async function place(email: string) {
  const { id: accountId } = await application.openAccount.execute({ email });
  const { id: animalId } = await application.addAnimal.execute({ name: 'Luna', categoryId: 1n });
  const { id } = await application.placeOrder.execute({ accountId, animalId });
  const row = (status: string) => [String(id), email, String(animalId), status];
  const animalStatus = async () => (await application.getAnimal.execute(animalId)).status;
  return { id: String(id), accountId, row, animalStatus };
}

const eventsOf = async (accountId: AccountId) =>
  (await application.listEvents.execute({ accountId, types: ['order.completed', 'order.cancelled'] })).events;

it('orders lists, completes and cancels those of every account, closed or not, which gets the events, and says why not another', async () => {
  const [sold, freed] = [await place('one@example.com'), await place('two@example.com')];
  await ask(database.url, `UPDATE accounts SET closed_at = now() WHERE id = ${freed.accountId}`);
  expect(await listed('--placed')).toEqual([HEADS, sold.row('placed'), freed.row('placed')]);
  expect(await orders('complete', '4711', sold.id)).toEqual({
    code: 1,
    stdout: `order ${sold.id} is completed\n`,
    stderr: 'no order has the id 4711\n',
  });
  expect(await orders('cancel', freed.id, sold.id)).toEqual({
    code: 1,
    stdout: `order ${freed.id} is cancelled\n`,
    stderr: `the order ${sold.id} is completed already\n`,
  });
  expect(await listed('--placed')).toEqual([HEADS]);
  expect(await listed()).toEqual([HEADS, sold.row('completed'), freed.row('cancelled')]);
  expect([await sold.animalStatus(), await freed.animalStatus()]).toEqual(['sold', 'available']);
  expect(await eventsOf(sold.accountId)).toMatchObject([{ type: 'order.completed' }]);
  expect(await eventsOf(freed.accountId)).toMatchObject([{ type: 'order.cancelled' }]);
});
