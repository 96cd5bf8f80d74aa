import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CHROMIUM_ARGS, findChromium } from '@adoption-store/test-support';
import { type Browser, chromium, type Page } from 'playwright-core';
import { addAnimal, make, newCategoryId, portal } from '../support/store.js';

const executablePath = findChromium();
if (executablePath === undefined) console.warn('SKIPPED: the portal’s tasks, for there is no Chromium on this machine');
const suite = executablePath === undefined ? describe.skip : describe;

suite('What people do every day in the portal, without scripts,', () => {
  let browser: Browser;
  let page: Page;
  let clicks = 0;

  beforeAll(async () => {
    if (executablePath === undefined) return;
    browser = await chromium.launch({ executablePath, args: CHROMIUM_ARGS });
    page = await (await browser.newContext({ javaScriptEnabled: false })).newPage();
    const person = await portal.signedUp();
    await page.context().addCookies([...person.cookies].map(([name, value]) => ({ name, value, url: portal.origin })));
    const animal = await addAnimal('Willow the Brave', newCategoryId());
    await make('/v1/store/orders', `{"petId": ${animal}}`, await person.issueKey({ name: 'till' }));
    await person.fillIn('/webhooks', { url: 'https://shop.example.com/events', access: 'full' });
  });

  afterAll(() => browser.close());

  /** Begins a task at a page. */
  async function begin(path: string): Promise<void> {
    await page.goto(portal.origin + path);
    clicks = 0;
  }

  async function click(role: 'link' | 'button', name: string | RegExp): Promise<void> {
    await page.getByRole(role, { name }).first().click();
    clicks += 1;
  }

  it('an order is followed in two clicks, from any page of the store, and cancelled in one more', async () => {
    await begin('/catalogue');
    await click('link', 'Orders');
    await click('link', /^\d+$/);
    expect([clicks, await page.locator('dl').innerText()]).toEqual([
      2,
      expect.stringMatching(/Willow the Brave[^]*in 2 days/),
    ]);
    await click('button', 'Cancel the order');
    await page.getByText('The order is cancelled.').waitFor();
    await page.getByText('which is final').waitFor();
  });

  it('a webhook is edited, and another one added, in one click from their list', async () => {
    await begin('/webhooks');
    await click('link', /^Edit https:\/\/shop/);
    expect([clicks, await page.getByLabel('URL').inputValue()]).toEqual([1, 'https://shop.example.com/events']);
    await begin('/webhooks');
    await click('link', 'Add a webhook');
    expect([clicks, new URL(page.url()).hash]).toEqual([1, '#add']);
  });

  it.each([
    ['Its usage', 'Usage'],
    ['Its failed requests', /requests$/],
  ])('a key’s page leads to %s in one click', async (link, heading) => {
    await begin('/keys');
    await click('link', /^till/);
    await click('link', link);
    await page.getByRole('heading', { level: 1, name: heading }).waitFor();
    expect([clicks, new URL(page.url()).searchParams.get('key')]).toEqual([2, expect.stringMatching(/^\d+$/)]);
  });
});
