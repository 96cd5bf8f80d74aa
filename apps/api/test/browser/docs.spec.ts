import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EVENT_TYPES } from '@adoption-store/domain';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { readSamples } from '@adoption-store/web';
import { type Browser, chromium, type Locator, type Page } from 'playwright-core';
import { useApi } from '../support/api.js';
import { bringAxe, CHROMIUM_ARGS, findChromium, findingsOf } from '@adoption-store/test-support';

const executablePath = findChromium();
if (executablePath === undefined) console.warn('SKIPPED: the page at /docs, for there is no Chromium on this machine');

(executablePath === undefined ? describe.skip : describe)('the page at /docs, in a browser,', () => {
  let browser: Browser;
  // Before the API's own end, which would wait for a connection that the browser has opened and not used.
  afterAll(() => browser.close());
  const api = useApi();
  let page: Page;
  const origins = new Set<string>();
  const complaints: string[] = [];

  beforeAll(async () => {
    browser = await chromium.launch({ ...(executablePath && { executablePath }), args: CHROMIUM_ARGS });
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

  afterEach(() => {
    expect([...origins]).toEqual([api.origin]);
    expect(complaints).toEqual([]);
  });

  const operation = (id: string): Locator => page.locator(`[id$="-${id}"].opblock`);

  async function pasteKey(): Promise<void> {
    await page.getByLabel('API key').fill(api.key);
    await page.getByRole('button', { name: 'Use key' }).click();
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
      ['Events', 1],
      ['Webhooks', 10],
      ['Limits', 1],
    ]);
  });

  it('shows what a receiver of webhooks gets, by the types of events', async () => {
    const types = await page.locator('.webhooks .opblock-summary-path').allInnerTexts();
    expect(types).toEqual([...EVENT_TYPES, 'webhook.ping']);
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

  it('shows how programs call an operation', async () => {
    const samples = operation('createPet').locator('.sample');
    expect(await samples.locator('summary').allInnerTexts()).toEqual(['curl', 'TypeScript', 'Python']);
    await samples.first().locator('summary').click();
    const { source } = readSamples().get('createPet')?.[0] ?? {};
    expect(await samples.first().locator('code').innerText()).toBe(source);
  });

  it('reads and writes an int64 exactly with the program in clients.md', async () => {
    const document = readFileSync(join(__dirname, '../../clients.md'), 'utf8');
    const program = /```js\n(.+?)```/s.exec(document)?.[1] ?? '';
    const given = `const text = '[{"id":9007199254740993}]'; const animal = { id: 9007199254740993n };`;
    const result = await page.evaluate(`(() => { ${given} ${program} return [String(animals[0].id), body]; })()`);
    expect(result).toEqual(['9007199254740993', '{"id":9007199254740993}']);
  });

  it('shows the command of a request without the key', async () => {
    const command = await operation('listPets').locator('.curl').innerText();
    expect(command).toContain('Authorization: Bearer YOUR_API_KEY');
    expect(await page.locator('body').innerText()).not.toContain(api.key);
  });

  it.each(['light', 'dark'] as const)(
    'has no findings of axe in the %s scheme with operations open',
    async (colorScheme) => {
      await page.emulateMedia({ colorScheme });
      // The two that were executed, and a deprecated one. Axe would need half a minute for all.
      const deprecated = operation('getPet');
      if (!(await deprecated.locator('.opblock-body').isVisible()))
        await deprecated.locator('.opblock-summary-control').click();
      await page.evaluate("for (const each of document.querySelectorAll('.opblock details')) each.open = true");
      await bringAxe(page);
      expect(await findingsOf(page)).toEqual([]);
    },
  );

  it('takes the key in a password field, which no form sends', async () => {
    const field = page.getByLabel('API key');
    expect(await field.getAttribute('type')).toBe('password');
    expect(await field.getAttribute('name')).toBe('key');
    expect(page.url()).not.toContain(api.key);
  });

  describe.each([
    ['wide', { width: 1280, height: 900 }],
    ['narrow', { width: 360, height: 740 }],
  ])('on a %s screen', (_screen, viewport) => {
    let fresh: Page;

    beforeAll(async () => {
      fresh = await browser.newPage({ viewport });
      await fresh.goto(`${api.origin}/docs`);
      await fresh.locator('.opblock').last().waitFor();
    });

    it('has its first operation on the first screen, and nothing to scroll sideways', async () => {
      const { y = Infinity, height = 0 } = (await fresh.locator('.opblock').first().boundingBox()) ?? {};
      expect(y + height).toBeLessThan(viewport.height);
      expect(await fresh.evaluate('document.documentElement.scrollWidth')).toBe(viewport.width);
    });

    it('has no findings of axe before anything is opened', async () => {
      await bringAxe(fresh);
      expect(await findingsOf(fresh)).toEqual([]);
    });

    it('takes at most 500 kB, compressed', async () => {
      const files = await fresh.evaluate<readonly { transferSize: number; decodedBodySize: number }[]>(
        'performance.getEntries().filter(({ transferSize }) => transferSize > 0).map((each) => each.toJSON())',
      );
      const sum = (of: 'transferSize' | 'decodedBodySize') => files.reduce((bytes, file) => bytes + file[of], 0);
      expect(sum('decodedBodySize')).toBeGreaterThan(1_500_000);
      expect(sum('transferSize')).toBeLessThan(500_000);
    });
  });
});
