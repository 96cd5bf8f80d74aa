import { describe, expect, it } from '@jest/globals';
import { MINUTE } from '@adoption-store/domain';
import { usePortal, type Visitor } from './support/portal-visitor.js';

const portal = usePortal();

const accountOf = async ({ email }: { readonly email: string }) => {
  const account = (await portal.application.listAccounts.execute()).find((each) => each.email === email);
  if (account === undefined) throw new Error('nobody has signed up');
  return account.id;
};

/** All texts that match, along the links to the next page, and the number of pages. */
async function walk(visitor: Visitor, path: string, pattern: RegExp) {
  const found: string[] = [];
  let pages = 0;
  for (let next: string | undefined = path; next !== undefined; pages += 1) {
    const { text } = await visitor.get(next);
    found.push(...[...text.matchAll(pattern)].map(([, each = '']) => each));
    next = /href="([^"]+)" rel="next"/.exec(text)?.[1]?.replaceAll('&amp;', '&');
  }
  return { found, pages };
}

describe('the orders', () => {
  const ROW = /<th scope="row">(\d+)<\/th>/g;

  it('are the account’s own, newest first, by status, page by page', async () => {
    const [visitor, other] = [await portal.signedUp(), await portal.signedUp()];
    const [accountId, stranger] = [await accountOf(visitor), await accountOf(other)];
    const { addAnimal, placeOrder, cancelOrder } = portal.application;
    const ids: string[] = [];
    for (let index = 0; index < 45; index += 1) {
      const { id: animalId } = await addAnimal.execute({ name: `Animal ${index} <b>`, categoryId: 1n });
      const { id } = await placeOrder.execute({ accountId: index === 7 ? stranger : accountId, animalId });
      if (index !== 7) ids.unshift(String(id));
      if (index === 8) await cancelOrder.execute({ accountId, id });
    }
    expect(await walk(visitor, '/orders', ROW)).toEqual({ found: ids, pages: 3 });
    expect((await walk(visitor, '/orders?status=cancelled', ROW)).found).toEqual([ids[36]]);
    expect((await walk(other, '/orders', ROW)).found).toHaveLength(1);
    const { text } = await visitor.get('/orders');
    expect(text).toContain('<bdi dir="auto">Animal 44 &lt;b&gt;</bdi>');
    expect(text).toContain('<a href="/orders" aria-current="page">');
    expect((await visitor.get('/orders?status=lost')).status).toBe(422);
  });

  it('say of an animal that was withdrawn that it was', async () => {
    const visitor = await portal.signedUp();
    const accountId = await accountOf(visitor);
    const { addAnimal, placeOrder, cancelOrder, withdrawAnimal } = portal.application;
    const { id: animalId } = await addAnimal.execute({ name: 'Luna', categoryId: 1n });
    const { id } = await placeOrder.execute({ accountId, animalId });
    await cancelOrder.execute({ accountId, id });
    await withdrawAnimal.execute({ id: animalId });
    expect((await visitor.get('/orders')).text).toContain(`Withdrawn <small>${animalId}</small>`);
  });
});

describe('the messages', () => {
  it('are the account’s own, newest first, page by page, each with its text', async () => {
    const [visitor, other] = [await portal.signedUp(), await portal.signedUp()];
    const [accountId, stranger] = [await accountOf(visitor), await accountOf(other)];
    const { queueMessage } = portal.application;
    const ids: string[] = [];
    for (let index = 0; index < 45; index += 1) {
      if (index % 3 === 0) portal.clock.advance(MINUTE);
      ids.push((await queueMessage.execute({ accountId, text: `message ${index} <b>` })).id);
    }
    const { id: theirs } = await queueMessage.execute({ accountId: stranger, text: 'a secret' });
    const { found, pages } = await walk(visitor, '/messages', /<a href="\/messages\/(msg_\w+)">/g);
    expect(pages).toBe(3);
    expect([...found].sort()).toEqual([...ids].sort());
    // Three were written at each time.
    expect(new Set(found.slice(0, 3))).toEqual(new Set(ids.slice(-3)));
    const page = await visitor.get(`/messages/${ids[3]}`);
    expect(page.text).toContain('<p class="message" dir="auto">message 3 &lt;b&gt;</p>');
    for (const path of [`/messages/${theirs}`, '/messages/msg_unknown', '/messages/%00']) {
      expect([path, (await visitor.get(path)).status]).toEqual([path, 404]);
    }
    expect((await visitor.get('/messages')).text).not.toContain('a secret');
  });
});
