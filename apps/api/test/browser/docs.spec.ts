import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EVENT_TYPES } from '@adoption-store/domain';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { readSamples } from '@adoption-store/web';
import { type Browser, chromium, type Locator, type Page } from 'playwright-core';
import { OPERATIONS } from '../../src/api.module.js';
import { errorStatuses } from '../../src/http/answers/error-codes.js';
import { descriptionOf } from '../../src/openapi/description.js';
import { useApi } from '../support/api.js';
import { bringAxe, BROKEN_WORDS, CHROMIUM_ARGS, findChromium, findingsOf } from '@adoption-store/test-support';

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

  const navigation = (on = page): Locator => on.getByRole('navigation', { name: 'This page' });

  /** What the page says about a key. */
  async function pasteKey(key = api.key): Promise<string> {
    await page.getByLabel('API key').fill(key);
    await page.getByRole('button', { name: 'Use key' }).click();
    const state = page.locator('#key-state[class]:not([class=""])');
    await state.waitFor();
    return state.innerText();
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
    const listed = (await navigation().locator('.group:not(.searched)').all()).map(async (group) => [
      await group.locator('span').first().innerText(),
      await group.getByRole('link').count(),
    ]);
    expect(await Promise.all(listed)).toEqual(await Promise.all(groups));
    const names = (await Promise.all(groups)).map(([name]) => name);
    expect(names).toEqual(['Pets', 'Categories', 'Store', 'Messages', 'Events', 'Webhooks', 'Limits']);
  });

  it('shows what a receiver of webhooks gets, by the types of events', async () => {
    const types = await page.locator('.webhooks .opblock-summary-path').allInnerTexts();
    expect(types).toEqual([...EVENT_TYPES, 'webhook.ping']);
  });

  it('marks deprecated operations and those that may still change', async () => {
    const markOf = (id: string) => operation(id).locator('.opblock-summary .tag').allInnerTexts();
    expect(await markOf('getPet')).toEqual(['deprecated, removed on 2030-12-05']);
    expect(await markOf('placeOrder')).toEqual(['beta']);
    expect(await markOf('queueMessage')).toEqual(['experimental']);
    expect(await markOf('listPets')).toEqual([]);
  });

  it('finds operations by words of their path, name and text, and opens the one that is chosen', async () => {
    const search = page.getByLabel('Search');
    await search.fill('order placeorder');
    const found = navigation().locator('.group').getByRole('link');
    expect(await found.allTextContents()).toEqual(['POST Place an order']);
    expect(await page.locator('#found').innerText()).toBe('1 found');
    await search.press('Enter');
    await operation('placeOrder').locator('.opblock-body').waitFor();
    expect(await found.getAttribute('aria-current')).toBe('true');
    expect(await page.evaluate('document.activeElement.closest(".opblock").id')).toBe('operations-Store-placeOrder');
    await search.fill('merge patch');
    expect(await found.allTextContents()).toEqual(['PATCH Change an animal', 'PATCH Change a webhook']);
    await search.fill('nosuchthing');
    expect(await found.count()).toBe(0);
    expect(await page.locator('#found').innerText()).toBe('0 found');
    await search.fill('');
    expect(await found.count()).toBe(29);
  });

  it.each([
    ['429', 'error-rate_limited', '429 rate_limited'],
    ['insufficient_scope', 'error-insufficient_scope', '403 insufficient_scope'],
    ['repeating', 'guide-repeating-a-request', 'Repeating a request'],
    ['signature', 'guide-receive-webhooks', 'Receive webhooks'],
    ['cursor', 'operations-Events-listEvents', 'GET List events'],
    ['pet.added', 'operations-webhooks-receivePetAdded', 'pet.added'],
    ['pets:manage', 'operations-Store-completeOrder', 'POST Complete an order'],
  ])('finds %s, and opens what it has found', async (words, id, name) => {
    await page.getByLabel('Search').fill(words);
    await navigation().getByRole('link', { name, exact: true }).click();
    await page.locator(`#${id}`).waitFor();
    // Its part of the page unfolds, and it is scrolled to.
    await page.waitForFunction(`document.getElementById('${id}').getBoundingClientRect().top < innerHeight`);
    expect(await page.evaluate(`document.getElementById('${id}').contains(document.activeElement)`)).toBe(true);
    await page.getByLabel('Search').fill('');
  });

  it('has an anchor for each heading of the guide, and a sentence for each code', async () => {
    const anchors = page.locator('#guide h2 > a');
    const headings = descriptionOf(OPERATIONS, []) as unknown as { info: { description: string } };
    const titles = [...headings.info.description.matchAll(/^## (.+)$/gm)].map(([, title]) => title);
    expect(await anchors.allTextContents()).toEqual([...titles, 'Servers', 'Receive webhooks']);
    const codes = await page.locator('#errors dt[id]').allTextContents();
    expect(codes.sort()).toEqual(Object.keys(errorStatuses).sort());
    for (const sentence of await page.locator('#errors dt[id] + dd').allTextContents())
      expect(sentence).toMatch(/ .*\.$/);
  });

  it('leads from an operation to all errors, and folds those of one operation', async () => {
    const block = operation('placeOrder');
    const own = block.locator('.responses-inner details');
    expect(await own.locator('> summary b').allTextContents()).toEqual(['403', '404', '409']);
    expect(await block.locator('.responses-inner details[open]').count()).toBe(0);
    await block.getByRole('link', { name: 'All errors' }).click();
    await page.locator('#errors[open]').waitFor();
  });

  it('says once that a parameter is required, in a colour of the page, as all that style sheets write', async () => {
    const name = operation('completeOrder').locator('[data-param-name=orderId] .parameter__name');
    expect(await name.innerText()).toBe('orderId');
    const pale = `[...document.querySelectorAll('*')].flatMap((each) => ['::before', '::after'].map((part) => {
      const [own, style] = [getComputedStyle(each), getComputedStyle(each, part)];
      const isWritten = /\\w|\\*|=/.test(style.content.replace(/^(none|normal|counter.*)$/, ''));
      return isWritten && (style.color !== own.color || style.opacity !== '1') ? each.className + part : '';
    })).filter(Boolean)`;
    expect(await page.evaluate(pale)).toEqual([]);
  });

  it('says whether a pasted key is valid and why not, and forgets it at a reload', async () => {
    expect(await pasteKey('aas_wrong')).toMatch(/^Not accepted: .*API key.*\.$/);
    // Chromium reports a response with 401 on the console.
    expect(complaints.splice(0)).toEqual([expect.stringContaining('401')]);
    expect(await pasteKey()).toMatch(/^Valid, plan \w+\.$/);
    expect(await page.evaluate('[localStorage.length, sessionStorage.length, document.cookie]')).toEqual([0, 0, '']);
    const field = page.getByLabel('API key');
    for (const [name, value] of Object.entries({ 'aria-describedby': 'key-hint', type: 'password' }))
      expect(await field.getAttribute(name)).toBe(value);
    await page.reload();
    await operation('listPets').waitFor();
    expect(await field.inputValue()).toBe('');
  });

  it.each([
    ['aas_\u200blive', 'an invisible character (U+200B)'],
    ['aas live', 'a blank (U+0020)'],
    ['aas_\u2028live', 'a line end (U+2028)'],
    ['ключ', 'a character that is not ASCII (U+043A)'],
  ])('names what is wrong with the pasted key %j, and sends nothing', async (key, what) => {
    const sent: string[] = [];
    const note = (request: { url(): string }) => sent.push(request.url());
    page.on('request', note);
    expect(await pasteKey(key)).toBe(`Not used: the key has ${what}, which no key has.`);
    page.off('request', note);
    expect(sent).toEqual([]);
  });

  it('sends no key before one is pasted', async () => {
    const events = operation('listEvents');
    await events.locator('.opblock-summary').click();
    const [request] = await Promise.all([page.waitForRequest(/\/v1\/events/), execute(events)]);
    expect(request.headers()).not.toHaveProperty('authorization');
    expect(complaints.splice(0)).toEqual([expect.stringContaining('401')]);
    await events.locator('.opblock-summary').click();
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
    const samples = operation('createPet').locator('.samples .fold');
    expect(await samples.locator('summary').allInnerTexts()).toEqual(['curl', 'TypeScript', 'Python']);
    await samples.first().locator('summary').click();
    const { source } = readSamples().get('createPet')?.[0] ?? {};
    expect(await samples.first().locator('code').innerText()).toBe(source);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await samples.first().getByRole('button', { name: 'Copy curl' }).click();
    await page.getByText('Copied').waitFor({ state: 'attached' });
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(source);
  });

  it('reads and writes an int64 exactly with the program in clients.md', async () => {
    const document = readFileSync(join(__dirname, '../../clients.md'), 'utf8');
    const program = /```js\n(.+?)```/s.exec(document)?.[1] ?? '';
    const given = `const text = '[{"id":9007199254740993}]'; const animal = { id: 9007199254740993n };`;
    const result = await page.evaluate(`(() => { ${given} ${program} return [String(animals[0].id), body]; })()`);
    expect(result).toEqual(['9007199254740993', '{"id":9007199254740993}']);
  });

  it('offers the words of a filter', async () => {
    const status = operation('listPets').locator('tr[data-param-name=status]');
    expect(await status.locator('option').allInnerTexts()).toEqual(['--', 'available', 'pending', 'sold']);
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
      expect(await findingsOf(page, colorScheme === 'light' ? 'all' : 'colours')).toEqual([]);
    },
  );

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

    it('says on the first screen what it is: the address, a first call, where a key comes from', async () => {
      const call = fresh.getByRole('region', { name: 'The first call' });
      for (const part of [call, fresh.getByText('Base URL'), fresh.getByText('gives out keys')]) {
        const { y = Infinity, height = 0 } = (await part.boundingBox()) ?? {};
        expect(y + height).toBeLessThan(viewport.height);
      }
      expect(await call.innerText()).toContain(`'${api.origin}/v1/pets?limit=2'`);
      expect(await fresh.evaluate('document.documentElement.scrollWidth')).toBe(viewport.width);
    });

    it('reads without scripts, without forms that do nothing', async () => {
      const plain = await browser.newPage({ viewport, javaScriptEnabled: false });
      await plain.goto(`${api.origin}/docs`);
      const main = plain.getByRole('main');
      for (const { route } of OPERATIONS)
        await main.getByRole('listitem').getByText(route.replace(' /v1', ' '), { exact: true }).first().waitFor();
      expect(await plain.locator(':is(input, button):visible').count()).toBe(0);
      expect((await main.boundingBox())?.width).toBeGreaterThan(Math.min(viewport.width, 62 * 16) - 70);
      await plain.getByText('Errors: each').click();
      await plain.locator('#error-rate_limited').waitFor();
      await plain.close();
    });

    it('takes at most 500 kB, compressed', async () => {
      const files = await fresh.evaluate<readonly { transferSize: number; decodedBodySize: number }[]>(
        'performance.getEntries().filter(({ transferSize }) => transferSize > 0).map((each) => each.toJSON())',
      );
      const sum = (of: 'transferSize' | 'decodedBodySize') => files.reduce((bytes, file) => bytes + file[of], 0);
      expect(sum('decodedBodySize')).toBeGreaterThan(1_500_000);
      expect(sum('transferSize')).toBeLessThan(500_000);
    });

    it('has no findings of axe before anything is opened', async () => {
      await bringAxe(fresh);
      expect(await findingsOf(fresh)).toEqual([]);
    });

    it('breaks no word and has nothing to scroll sideways with an operation, the guide and the errors open', async () => {
      if (viewport.width < 960) await fresh.getByText('Search this page').click();
      await navigation(fresh).getByRole('link', { name: 'Place an order' }).click();
      await fresh.locator('[id$="-placeOrder"] .opblock-body').waitFor();
      await fresh.evaluate("for (const each of document.querySelectorAll('main details')) each.open = true");
      expect(await fresh.evaluate(BROKEN_WORDS)).toEqual([]);
      expect(await fresh.evaluate('document.documentElement.scrollWidth')).toBe(viewport.width);
    });
  });

  // Written on request only: it is a file of the repository.
  if (process.env['PICTURES'] !== undefined)
    it('is in the README’s picture', async () => {
      const fresh = await browser.newPage({ viewport: { width: 1280, height: 900 }, colorScheme: 'light' });
      await fresh.goto(`${api.origin}/docs`);
      await fresh.locator('.opblock').last().waitFor();
      const path = join(__dirname, '../../docs/reference.png');
      expect((await fresh.screenshot({ path })).length).toBeLessThan(150_000);
    });
});
