import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type Browser, chromium, type Locator, type Page } from 'playwright-core';
import { useApi } from '../support/api.js';
import { findChromium } from '@adoption-store/test-support';

const executablePath = findChromium();
if (executablePath === undefined) console.warn('SKIPPED: the page at /docs, for there is no Chromium on this machine');

(executablePath === undefined ? describe.skip : describe)('the page at /docs, in a browser,', () => {
  const api = useApi();
  let browser: Browser;
  let page: Page;
  const origins = new Set<string>();
  const complaints: string[] = [];

  beforeAll(async () => {
    browser = await chromium.launch({ ...(executablePath && { executablePath }), args: ['--no-sandbox'] });
    page = await browser.newPage();
    page.on('request', (request) => {
      const url = new URL(request.url());
      if (url.protocol !== 'data:') origins.add(url.origin);
    });
    // Chromium also reports violations of the Content-Security-Policy on the console.
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    await page.goto(`${api.origin}/docs`);
    await operation('listPets').waitFor();
  });

  afterAll(() => browser.close());

  afterEach(() => {
    expect([...origins]).toEqual([api.origin]);
    expect(complaints).toEqual([]);
  });

  const operation = (id: string): Locator => page.locator(`[id$="-${id}"].opblock`);

  async function pasteKey(): Promise<void> {
    await page.locator('.auth-wrapper .authorize').first().click();
    await page.locator('.auth-container input').fill(api.key);
    await page.locator('.auth-btn-wrapper .authorize').click();
    await page.locator('.auth-btn-wrapper .btn-done').click();
  }

  /** The status and body of the response that the page shows. */
  async function execute(block: Locator): Promise<{ status: string; body: string }> {
    await block.locator('.execute').click();
    const answer = block.locator('.live-responses-table');
    const status = (await answer.locator('.response-col_status').last().innerText()).trim();
    return { status, body: await answer.locator('.highlight-code').first().innerText() };
  }

  it('shows the operations in their groups', async () => {
    const sections = await page.locator('.opblock-tag-section').all();
    const groups = sections.map(async (section) => [
      await section.locator('.opblock-tag a').first().innerText(),
      await section.locator('.opblock').count(),
    ]);
    expect(await Promise.all(groups)).toEqual([
      ['Pets', 5],
      ['Categories', 5],
      ['Store', 5],
      ['Messages', 2],
      ['Limits', 1],
    ]);
  });

  it('marks deprecated operations and those that may still change', async () => {
    const markOf = (id: string) => operation(id).locator('.mark').allInnerTexts();
    expect(await markOf('getPet')).toEqual(['deprecated, removed on 2030-12-05']);
    expect(await markOf('placeOrder')).toEqual(['beta']);
    expect(await markOf('queueMessage')).toEqual(['experimental']);
    expect(await markOf('listPets')).toEqual([]);
  });

  it('calls the API with a pasted key, and shows an int64 to its last digit', async () => {
    await pasteKey();
    const add = operation('createPet');
    await add.locator('.opblock-summary').click();
    await add.locator('textarea.body-param__text').fill('{"name":"Luna","categoryId":9223372036854775807}');
    const added = await execute(add);
    expect(added.status).toMatch(/^201/);
    expect(added.body).toContain('"categoryId": 9223372036854775807');

    const list = operation('listPets');
    await list.locator('.opblock-summary').click();
    const listed = await execute(list);
    expect(listed.status).toMatch(/^200/);
    expect(listed.body).toContain('"name": "Luna"');
    expect(listed.body).toContain('"categoryId": 9223372036854775807');
  });
});
