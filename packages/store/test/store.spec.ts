import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readSettings, storeSettings } from '@adoption-store/config';
import { type Application, createApplication, later, MINUTE } from '@adoption-store/domain';
import { createDatabase } from '@adoption-store/test-support';
import { openStore, type Store } from '@adoption-store/store';

describe("An app that names none of the store's policies", () => {
  let store: Store;
  let app: Application;

  beforeAll(async () => {
    const { url } = await createDatabase();
    const settings = readSettings(storeSettings, {
      DATABASE_URL: url,
      CATEGORIES: 'strict',
      ORDER_LIMIT: '1',
      ORDER_TTL: '90m',
    });
    store = await openStore(settings, () => undefined);
    app = createApplication(store.ports, store.policy);
  });

  afterAll(() => store.close());

  it('refuses an animal of an unknown category in a strict store', async () => {
    await expect(app.addAnimal.execute({ name: 'Luna', categoryId: 9n })).rejects.toMatchObject({ kind: 'invalid' });
  });

  it("refuses an order beyond the store's limit, and knows when one expires", async () => {
    await app.nameCategory.execute({ id: 1n, name: 'dogs' });
    const account = await app.openAccount.execute({ email: 'ada@example.com' });
    const place = async (name: string) => {
      const animal = await app.addAnimal.execute({ name, categoryId: 1n });
      return app.placeOrder.execute({ accountId: account.id, animalId: animal.id });
    };
    const order = await place('Luna');
    expect((await app.getOrder.execute(order)).expiresAt).toBe(later(order.createdAt, 90 * MINUTE));
    await expect(place('Rex')).rejects.toMatchObject({ code: 'too_many_orders' });
  });
});
