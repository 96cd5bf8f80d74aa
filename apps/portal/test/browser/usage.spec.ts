import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { bringAxe, CHROMIUM_ARGS, findChromium, findingsOf, until } from '@adoption-store/test-support';
import { type Browser, chromium, type Page } from 'playwright-core';
import { call, portal } from '../support/store.js';

const executablePath = findChromium();
if (executablePath === undefined) console.warn('SKIPPED: usage in a browser, for there is no Chromium here');

const WIDTHS = [
  { width: 360, height: 740 },
  { width: 1280, height: 900 },
];
const PICTURES = process.env['USAGE_PICTURES'];

(executablePath === undefined ? describe.skip : describe)('A person who looks at their usage', () => {
  let browser: Browser;
  let page: Page;
  let failedId = '';

  beforeAll(async () => {
    browser = await chromium.launch({ ...(executablePath && { executablePath }), args: CHROMIUM_ARGS });
    page = await browser.newPage({ baseURL: portal.origin });
    const person = await portal.signedUp();
    const cookies = [...person.cookies].map(([name, value]) => ({ name, value, url: portal.origin }));
    await page.context().addCookies(cookies);
    const till = await person.issueKey({ name: 'till' });
    const shop = await person.issueKey({ name: 'shop' });
    for (const key of [till, shop]) for (let sent = 0; sent < 3; sent += 1) await call('/v1/pets', key);
    const failed = [
      '/v1/pets?limit=0',
      '/v1/pets?limit=0',
      '/v1/pets?colour=red',
      '/v1/pet/7?colour=red',
      '/v1/pets/7123456',
    ];
    for (const path of failed) await call(path, till);
    failedId = (await call('/v1/pets?status=gone', shop)).headers.get('x-request-id') ?? '';
    await until(async () => (await person.get('/refusals')).text.includes(failedId));
    await until(async () => /<strong>\d+ requests<\/strong> admitted/.test((await person.get('/usage')).text));
  });
  afterAll(() => browser.close());

  /** Whether the reader sees it without scrolling. */
  const isSeen = (selector: string) =>
    page.evaluate<boolean>(
      `(({ top, bottom }) => top >= -1 && bottom <= innerHeight + 1)(document.querySelector('${selector}').getBoundingClientRect())`,
    );

  for (const viewport of WIDTHS)
    it(`sees after each choice what it changed, ${viewport.width} pixels wide`, async () => {
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

  it('narrows the failed requests to a code and a key', async () => {
    await page.goto('/refusals');
    await page.getByLabel('Code', { exact: true }).selectOption('not_found');
    await page.getByRole('button', { name: 'Find' }).click();
    await page.getByRole('link', { name: 'Show all' }).waitFor();
    expect(await page.locator('tbody tr').count()).toBe(2);
    expect(await page.getByLabel('Code', { exact: true }).inputValue()).toBe('not_found');
    await page.getByLabel('Key', { exact: true }).selectOption({ index: 2 });
    await page.getByRole('button', { name: 'Find' }).click();
    await page.waitForURL(/key=\d+/);
    expect(await page.getByLabel('Code', { exact: true }).inputValue()).toBe('not_found');
    await page.getByRole('link', { name: 'Show all' }).click();
    expect(await page.locator('tbody tr').count()).toBe(5);
  });

  it('has no page that axe complains of, or that scrolls sideways', async () => {
    for (const [look, viewport] of (['light', 'dark'] as const).map((each, index) => [each, WIDTHS[index]] as const)) {
      await page.emulateMedia({ colorScheme: look });
      if (viewport !== undefined) await page.setViewportSize(viewport);
      for (const path of ['/usage', '/refusals']) {
        await page.goto(path);
        if (PICTURES !== undefined) {
          const name = path.slice(1);
          await page.screenshot({ path: `${PICTURES}/${name}-${viewport?.width ?? 0}.png`, fullPage: true });
        }
        await bringAxe(page);
        expect({ path, look, findings: await findingsOf(page, 'all') }).toEqual({ path, look, findings: [] });
        expect(await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')).toBe(0);
      }
    }
  });
});
