import { execFileSync } from 'node:child_process';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type Browser, chromium, type Locator, type Page } from 'playwright-core';
import { API, createDatabase, findChromium, Running, type TestDatabase, until } from '@adoption-store/test-support';
import { runPortal, type RunningPortal } from '../support/portal-process.js';

const executablePath = findChromium();
if (executablePath === undefined) console.warn('SKIPPED: the way through the portal, for there is no Chromium here');

const EMAIL = 'dev@example.com';
const PASSWORD = 'three unrelated words';

(executablePath === undefined ? describe.skip : describe)(
  'A person with a keyboard, and without JavaScript, in the portal',
  () => {
    let database: TestDatabase;
    let api: Running;
    let portal: RunningPortal;
    let apiOrigin: string;
    let browser: Browser;
    let page: Page;
    let pages = 0;
    const keys: string[] = [];

    beforeAll(async () => {
      database = await createDatabase();
      const environment = { DATABASE_URL: database.url, HOST: '127.0.0.1', PORT: '0' };
      api = new Running(API, [], environment);
      const launched = chromium.launch({ ...(executablePath && { executablePath }), args: ['--no-sandbox'] });
      apiOrigin = (await api.prints(/Address {2}(\S+)\/v1/))[1] ?? '';
      portal = await runPortal(database.url, { PUBLIC_URL: apiOrigin });
      browser = await launched;
      page = await (await browser.newContext({ javaScriptEnabled: false })).newPage();
      page.on('domcontentloaded', () => (pages += 1));
    });

    afterAll(async () => {
      await browser.close();
      await Promise.all([api.stop(), portal.process.stop()]);
      await database.drop();
    });

    afterEach(() => {
      expect([api.errors, portal.process.errors]).toEqual(['', '']);
      // The log must not contain them either.
      for (const text of [...keys, PASSWORD]) expect(portal.process.stdout).not.toContain(text);
    });

    /** Moves the focus with the Tab key, as a person without a mouse would. */
    async function tabTo(target: Locator): Promise<void> {
      for (let presses = 0; presses < 60; presses += 1) {
        await page.keyboard.press('Tab');
        if ((await target.and(page.locator(':focus')).count()) === 1) return;
      }
      throw new Error(`the Tab key doesn't get to ${target.toString()}`);
    }

    const write = async (label: string, text: string): Promise<void> => {
      await tabTo(page.getByLabel(label));
      await page.keyboard.type(text);
    };

    /** Presses Enter at the focus, and waits for the next page. */
    const enter = async (heading: RegExp): Promise<void> => {
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { level: 1, name: heading }).waitFor();
    };

    const statusWith = async (key: string): Promise<number> =>
      (await fetch(`${apiOrigin}/v1/pets`, { headers: { authorization: `Bearer ${key}` } })).status;

    const keyShown = async (): Promise<string> => {
      const key = await page.locator('#key').innerText();
      expect(key).toMatch(/^aas_live_[0-9A-Za-z]{38}$/);
      keys.push(key);
      return key;
    };

    /** The figure of one meter. */
    const figure = (heading: string): Locator =>
      page
        .locator('.meter', { has: page.getByRole('heading', { name: heading }) })
        .locator('strong')
        .first();

    it('gets from sign-up to a first successful call in at most four pages', async () => {
      await page.goto(`${portal.origin}/sign-up`);
      await write('E-mail address', EMAIL);
      await write('Password', PASSWORD);
      await enter(/^Keys$/);
      await write('Name', 'shop website');
      await enter(/^Your new key$/);
      const key = await keyShown();
      const line = await page.locator('#try').innerText();
      expect(line).toContain(`'Authorization: Bearer ${key}'`);
      const answer = execFileSync('bash', ['-c', line.replace('curl', 'curl -sS')], { encoding: 'utf8' });
      expect(JSON.parse(answer)).toEqual([]);
      console.info(`pages from signing up to the first call: ${pages}`);
      expect(pages).toBeLessThanOrEqual(4);
    });

    it('never sees the key’s text again', async () => {
      await page.goto(`${portal.origin}/keys`);
      const [key = ''] = keys;
      expect(await page.content()).toContain(key.slice(-4));
      expect(await page.content()).not.toContain(key);
    });

    it('sees the call in the usage', async () => {
      await tabTo(page.getByRole('link', { name: 'Usage' }));
      await enter(/^Usage$/);
      await until(async () => {
        await page.reload();
        return (
          Number(await figure('Requests today').innerText()) >= 1 && (await page.locator('svg.bars').count()) === 2
        );
      });
      await page.getByText('The same as a table, by day').click();
      const today = page.getByRole('table', { name: 'Requests by day' }).locator('tbody tr').first();
      expect(await today.locator('td').allInnerTexts()).toEqual(['1', '0']);
    });

    it('rotates the key, and both work for a while', async () => {
      await page.goto(`${portal.origin}/keys`);
      await tabTo(page.getByRole('link', { name: 'Rotate “shop website”' }));
      await enter(/^Rotate “shop website”/);
      await tabTo(page.getByLabel('Hours that both keys work'));
      await enter(/^Your new key$/);
      const key = await keyShown();
      expect(await statusWith(key)).toBe(200);
      expect(await statusWith(keys[0] ?? '')).toBe(200);
    });

    it('revokes a key after a confirmation, and it is refused', async () => {
      const [old = '', key = ''] = keys;
      await page.goto(`${portal.origin}/keys`);
      await tabTo(page.getByRole('link', { name: `Revoke “shop website” (ending ${key.slice(-4)})` }));
      await enter(/^Revoke “shop website”/);
      expect(await statusWith(key)).toBe(200);
      await tabTo(page.getByRole('button', { name: 'Revoke the key' }));
      await enter(/^Keys$/);
      expect(await page.getByRole('status').first().innerText()).toMatch(/revoked/);
      await until(async () => (await statusWith(key)) === 401);
      expect(await statusWith(old)).toBe(200);
    });

    it('adds an animal to the catalogue', async () => {
      await page.goto(`${portal.origin}/catalogue`);
      await write('Name', 'Rex <b>');
      await write('Category number', '9223372036854775807');
      await enter(/^Catalogue$/);
      expect(await page.getByRole('row', { name: /Rex <b> New Available 9223372036854775807/ }).count()).toBe(1);
    });

    it('signs out, and in again', async () => {
      await tabTo(page.getByRole('button', { name: 'Sign out' }));
      await enter(/home/);
      await page.goto(`${portal.origin}/usage`);
      await write('E-mail address', EMAIL);
      await write('Password', PASSWORD);
      await enter(/^Usage$/);
    });
  },
);
