import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { MINUTE } from '@adoption-store/domain';
import { bringAxe, CHROMIUM_ARGS, findChromium, findingsOf, until } from '@adoption-store/test-support';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { usePortal } from '../support/portal.js';
import { PASSWORD } from '../support/portal-visitor.js';

const executablePath = findChromium();
if (executablePath === undefined) console.warn('SKIPPED: interruptions in a browser, for there is no Chromium here');

(executablePath === undefined ? describe.skip : describe)('A person whose work is interrupted', () => {
  let browser: Browser;
  // Before the portal's own end, which would wait for a connection that the browser has opened and not used.
  afterAll(() => browser.close());
  const portal = usePortal();
  let context: BrowserContext;
  let people = 0;

  beforeAll(async () => {
    browser = await chromium.launch({ ...(executablePath && { executablePath }), args: CHROMIUM_ARGS });
  });
  afterEach(() => context.close());

  /** A page of a person who has just signed up, whose scripts have the portal's time. */
  async function signUp(): Promise<{ readonly page: Page; readonly email: string }> {
    context = await browser.newContext({ baseURL: portal.origin });
    await context.clock.install({ time: portal.clock.now() });
    const page = await context.newPage();
    const email = `browser-${(people += 1)}@example.com`;
    await page.goto('/sign-up');
    await page.getByLabel('E-mail address').fill(email);
    await page.getByRole('button', { name: 'Send the link' }).click();
    await arrive(page, 'Check your e-mail');
    await page.goto(`/finish-sign-up#${await portal.tokenMailedTo(email, 'sign-up')}`);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Create the account' }).click();
    await arrive(page, 'Keys');
    return { page, email };
  }

  /** Time passes for the portal and for the scripts of all pages of that browser. */
  async function pass(page: Page, time: number): Promise<void> {
    portal.clock.advance(time);
    await page.clock.runFor(time);
  }

  const arrive = (page: Page, heading: string) => page.getByRole('heading', { level: 1, name: heading }).waitFor();

  const signIn = async (page: Page, email: string) => {
    await page.getByLabel('E-mail address').fill(email);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('main').getByRole('button', { name: 'Sign in' }).click();
  };

  const fillAnimal = async (page: Page) => {
    await page.goto('/catalogue');
    await page.getByLabel('Name', { exact: true }).fill('Bella');
    await page.getByRole('combobox', { name: 'Category' }).and(page.locator('input')).fill('7');
  };

  /** Checks the page in both colour schemes, and at 320 pixels. */
  async function look(page: Page): Promise<void> {
    await bringAxe(page);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await findingsOf(page, colorScheme === 'light' ? 'all' : 'colours')).toEqual([]);
    }
    await page.setViewportSize({ width: 320, height: 640 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320);
  }

  const animals = () => portal.application.listAnimals.execute({ limit: 100 });
  const over = (page: Page) => page.getByRole('dialog', { name: 'You have been signed out' });
  const warning = (page: Page) => page.getByRole('dialog', { name: 'You will be signed out soon' });

  it('is warned two minutes before the end, and stays signed in by the keyboard', async () => {
    const { page } = await signUp();
    await fillAnimal(page);
    await pass(page, 28 * MINUTE - 1_000);
    expect(await warning(page).count()).toBe(0);
    await pass(page, 2_000);
    await warning(page).waitFor();
    await look(page);
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Stay signed in');
    await page.keyboard.press('Enter');
    await warning(page).waitFor({ state: 'hidden' });
    expect(await page.evaluate('document.activeElement.name')).toBe('categoryId');
    await pass(page, 27 * MINUTE);
    expect(await warning(page).count()).toBe(0);
    await page.getByRole('button', { name: 'Add it' }).click();
    await page.getByText('The animal is in the catalogue.').waitFor();
  });

  it('by a cookie that is gone is told so before filling in a form', async () => {
    const { page } = await signUp();
    await page.goto('/catalogue');
    await context.clearCookies();
    await pass(page, 2 * MINUTE);
    await page.getByLabel('Name', { exact: true }).focus();
    await over(page).waitFor();
  });

  it('is warned above the form too, and loses nothing by signing in in another tab', async () => {
    const { page, email } = await signUp();
    await fillAnimal(page);
    const soon = page.getByText(/^You will be signed out at \d.*Send this form before/).first();
    await pass(page, 28 * MINUTE - 1_000);
    expect(await soon.isVisible()).toBe(false);
    await pass(page, 2_000);
    await warning(page).getByRole('button', { name: 'Close' }).click();
    expect(await soon.isVisible()).toBe(true);
    await look(page);
    await pass(page, 2 * MINUTE);
    await over(page).getByRole('button', { name: 'Close' }).click();
    expect(await soon.isVisible()).toBe(false);
    const link = page.getByRole('link', { name: 'Sign in in another tab' }).first();
    await look(page);
    const [tab] = await Promise.all([context.waitForEvent('page'), link.click()]);
    await signIn(tab, email);
    await arrive(tab, 'Keys');
    await link.waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Add it' }).click();
    await page.getByText('The animal is in the catalogue.').waitFor();
  });

  it('is told at once of signing out in another tab, and of somebody else who signs in there', async () => {
    const { email: other } = await signUp();
    await context.close();
    const { page } = await signUp();
    await fillAnimal(page);
    const tab = await context.newPage();
    await tab.goto('/plan');
    await tab.getByRole('button', { name: 'Sign out' }).click();
    await over(page).waitFor();
    await tab.goto('/sign-in');
    await signIn(tab, other);
    await arrive(tab, 'Keys');
    await over(page).waitFor();
    await over(page).getByRole('button', { name: 'Close' }).click();
    await page.getByRole('link', { name: 'Sign in in another tab' }).first().waitFor();
  });

  it('is warned in one tab only while another one is not in use', async () => {
    const { page } = await signUp();
    const other = await context.newPage();
    await other.goto('/plan');
    await pass(page, 20 * MINUTE);
    await other.reload();
    await pass(page, 9 * MINUTE);
    expect(await warning(page).count()).toBe(0);
    await pass(page, 19 * MINUTE + 1_000);
    await Promise.all([warning(page).waitFor(), warning(other).waitFor()]);
    await warning(page).getByRole('button', { name: 'Stay signed in' }).click();
    for (const tab of [page, other]) await warning(tab).waitFor({ state: 'hidden' });
  });

  it('is told that nothing extends the twelve hours', async () => {
    const { page } = await signUp();
    for (let spell = 0; spell < 28; spell += 1) {
      portal.clock.advance(25 * MINUTE);
      await page.goto('/plan');
    }
    await page.clock.setSystemTime(portal.clock.now());
    await page.reload();
    // Of the twelve hours, twenty minutes are left.
    await pass(page, 19 * MINUTE);
    await warning(page).waitFor();
    expect(await warning(page).innerText()).toContain('after 12 hours everybody has to sign in again');
    expect(await page.getByRole('button', { name: 'Stay signed in' }).count()).toBe(0);
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Close');
  });

  it('by a lost database sees a page with its style, which comes back by itself', async () => {
    const { page } = await signUp();
    portal.loseDatabase();
    const answer = await page.goto('/plan');
    expect(answer?.status()).toBe(503);
    await arrive(page, 'Temporarily unavailable');
    expect(await page.evaluate('document.styleSheets[1].cssRules.length')).toBeGreaterThan(100);
    expect(await page.getByRole('main').getByRole('link', { name: 'Try again' }).getAttribute('href')).toBe('/plan');
    await look(page);
    await page.clock.runFor(6_000);
    await portal.regainDatabase();
    await until(async () => {
      await page.clock.runFor(5_000);
      return (await page.getByRole('heading', { level: 1 }).innerText()) === 'Plan';
    });
  });

  it('by a lost database is told that a form may not be saved, and opens its page again', async () => {
    const { page } = await signUp();
    await fillAnimal(page);
    const before = await animals();
    portal.loseDatabase();
    await page.getByRole('button', { name: 'Add it' }).click();
    await page.getByText('Your form may not be saved.').waitFor();
    await portal.regainDatabase();
    await page.getByRole('link', { name: 'Open its page' }).click();
    await page.getByRole('button', { name: 'Add it' }).waitFor();
    expect(await animals()).toEqual(before);
  });
});
