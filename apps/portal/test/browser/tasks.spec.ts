import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CHROMIUM_ARGS, findChromium, until } from '@adoption-store/test-support';
import { type Browser, chromium, type Page } from 'playwright-core';
import type { Person } from '../support/portal-visitor.js';
import { addAnimal, call, make, newCategoryId, portal } from '../support/store.js';

const executablePath = findChromium();
if (executablePath === undefined) console.warn('SKIPPED: the portal’s tasks, for there is no Chromium on this machine');
const suite = executablePath === undefined ? describe.skip : describe;

let browser: Browser;
beforeAll(async () => {
  if (executablePath !== undefined) browser = await chromium.launch({ executablePath, args: CHROMIUM_ARGS });
});
afterAll(async () => {
  if (executablePath !== undefined) await browser.close();
});

/** A page of somebody who has just signed up. */
async function openPage(options: Parameters<Browser['newPage']>[0] = {}): Promise<{ page: Page; person: Person }> {
  const page = await browser.newPage({ baseURL: portal.origin, ...options });
  const person = await portal.signedUp();
  await page.context().addCookies([...person.cookies].map(([name, value]) => ({ name, value, url: portal.origin })));
  return { page, person };
}

suite('What people do every day in the portal, without scripts,', () => {
  let page: Page;
  let clicks = 0;

  beforeAll(async () => {
    const opened = await openPage({ javaScriptEnabled: false });
    const { person } = opened;
    ({ page } = opened);
    const animal = await addAnimal('Willow the Brave', newCategoryId());
    await make('/v1/store/orders', `{"petId": ${animal}}`, await person.issueKey({ name: 'till' }));
    await person.fillIn('/webhooks', { url: 'https://shop.example.com/events', access: 'full' });
  });

  /** Begins a task at a page. */
  async function begin(path: string): Promise<void> {
    await page.goto(path);
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

suite('A person who looks at their usage', () => {
  let page: Page;
  let failedId = '';

  beforeAll(async () => {
    const opened = await openPage();
    const { person } = opened;
    ({ page } = opened);
    const till = await person.issueKey({ name: 'till' });
    const shop = await person.issueKey({ name: 'shop' });
    for (const key of [till, shop]) for (let sent = 0; sent < 3; sent += 1) await call('/v1/pets', key);
    for (const path of ['pets?limit=0', 'pets?limit=0', 'pet/7?colour=red', 'pets/7123456'])
      await call(`/v1/${path}`, till);
    failedId = (await call('/v1/pets?status=gone', shop)).headers.get('x-request-id') ?? '';
    await until(async () => (await person.get('/refusals')).text.includes(failedId));
    await until(async () => /<strong>\d+ requests<\/strong> admitted/.test((await person.get('/usage')).text));
  });

  /** Whether the reader sees it without scrolling. */
  const isSeen = (selector: string) =>
    page.evaluate<boolean>(
      `(({ top, bottom }) => top >= -1 && bottom <= innerHeight + 1)(document.querySelector('${selector}').getBoundingClientRect())`,
    );

  it.each([
    { width: 360, height: 740 },
    { width: 1280, height: 900 },
  ])('sees after each choice what it changed, $width pixels wide', async (viewport) => {
    await page.setViewportSize(viewport);
    await page.goto('/usage');
    await page.getByRole('link', { name: '7 days' }).click();
    await page.waitForURL(/range=7\+days#requests$/);
    await until(() => isSeen('#requests'));
    await page.getByLabel('Key', { exact: true }).selectOption({ index: 1 });
    await page.getByRole('button', { name: 'Show' }).click();
    await page.waitForURL(/key=\d+.*#requests$/);
    expect(page.url()).toContain('range=7+days');
    await until(() => isSeen('#requests'));
    await until(() => isSeen('.legend'));
  });

  it('finds why a request failed by two clicks: by its id, or among the last ones', async () => {
    await page.goto('/keys');
    await page.getByRole('link', { name: 'Usage', exact: true }).click();
    await page.getByLabel('Request id').fill(failedId);
    await page.getByRole('button', { name: 'Find' }).click();
    const row = page.getByRole('row').filter({ hasText: failedId });
    await row.getByText('status must be one of available, pending, sold, given once').waitFor();
    await page.goto('/keys');
    await page.getByRole('link', { name: 'Usage', exact: true }).click();
    await page.getByRole('link', { name: 'The last failed requests' }).click();
    await page.getByText('there is nothing at GET /v1/pet/7').waitFor();
    await page.getByText('no animal has the id 7123456').waitFor();
    await page.getByText('2 times').waitFor();
    expect(await page.getByRole('main').innerText()).not.toContain('colour');
  });
});
