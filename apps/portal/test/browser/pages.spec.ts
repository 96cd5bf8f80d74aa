import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { DAY, EVENT_TYPES, HOUR } from '@adoption-store/domain';
import { bringAxe, BROKEN_WORDS, CHROMIUM_ARGS, findChromium, findingsOf, until } from '@adoption-store/test-support';
import { type Browser, chromium, type Locator, type Page } from 'playwright-core';
import { usePortal } from '../support/portal.js';
import { type Fields, PASSWORD, type Person } from '../support/portal-visitor.js';
import { addAnimal, call, make, nameCategory, newCategoryId, portal } from '../support/store.js';

const executablePath = findChromium();
if (executablePath === undefined) console.warn('SKIPPED: the portal’s pages, for there is no Chromium on this machine');
const suite = executablePath === undefined ? describe.skip : describe;

const MOST_BYTES = 55_000;
const MOST_PICTURE_BYTES = 150_000;

/** A phone, 200 % on a desktop, a tablet, the last width with cards and the first with tables, a desktop. */
const WIDTHS = [320, 360, 640, 768, 899, 900, 1280];

/** How many rows the header's links and buttons are in. */
const HEADER_ROWS = `[...document.querySelectorAll('header :is(a, button)')]
  .map((each) => each.getBoundingClientRect())
  .sort((one, other) => one.top - other.top)
  .reduce(({ rows, end }, { top, bottom }) => ({ rows: rows + (top >= end), end: Math.max(end, bottom) }), { rows: 0, end: 0 })
  .rows`;
const LOOKS = (['light', 'dark'] as const).flatMap((colorScheme) =>
  [
    { width: 375, height: 800 },
    { width: 1280, height: 900 },
  ].map((viewport) => ({ colorScheme, viewport })),
);

let browser: Browser;

beforeAll(async () => {
  if (executablePath !== undefined) browser = await chromium.launch({ executablePath, args: CHROMIUM_ARGS });
});
afterAll(async () => {
  if (executablePath !== undefined) await browser.close();
});

suite('Each page of the portal, in a browser,', () => {
  let visitor: Page;
  let member: Page;
  let person: Person;
  const category = newCategoryId();
  const address = `${String(category).padEnd(64, 'a')}@examples.com`;
  /** The ids of what was made for the pages, and the text of the last key. */
  const made = {
    key: '',
    banned: '',
    text: '',
    animal: '',
    order: '',
    message: '',
    refused: '',
    webhook: '',
    delivery: '',
  };
  const complaints: string[] = [];

  beforeAll(async () => {
    // Each has its own browser context.
    [visitor, member] = await Promise.all([browser.newPage(), browser.newPage({ timezoneId: 'Asia/Kolkata' })]);
    for (const page of [visitor, member]) {
      // Chromium also reports violations of the Content-Security-Policy on the console.
      page.on('console', (message) => {
        // A refused form is answered with 422, a missing page with 404.
        if (['error', 'warning'].includes(message.type()) && !message.text().includes('Failed to load resource'))
          complaints.push(message.text());
      });
      page.on('pageerror', (error) => complaints.push(error.message));
    }
    // A delivery's page would load again meanwhile.
    await member.route('**/deliveries/*', async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, headers: { ...response.headers(), refresh: '' } });
    });
    person = await portal.signedUp(address);
    await member
      .context()
      .addCookies([...person.cookies].map(([name, value]) => ({ name, value, url: portal.origin })));
    await fillIn();
  });

  afterEach(() => {
    expect(complaints).toEqual([]);
  });

  /** Issues a key, does something with it on its page, and returns its id. */
  async function issue(fields: Fields, action?: string): Promise<string> {
    made.text = await person.issueKey(fields);
    const [, id = ''] = /<th scope="row"><a href="\/keys\/(\d+)">/.exec((await person.get('/keys')).text) ?? [];
    if (action !== undefined) await person.post(`/keys/${id}/${action}`, { overlap: '1' });
    return id;
  }

  /** Adds keys in all states, refusals, animals, an order and messages. */
  async function fillIn(): Promise<void> {
    await issue({ name: '' });
    await issue({ name: 'price list', expiresIn: '30', scopes: ['orders:read', 'messages:write'] });
    const listKey = made.text;
    await issue({ name: 'nightly import, with a name as long as somebody who means well may make it' }, 'rotate');
    await issue({ name: 'laptop that was lost' }, 'revoke');
    await issue({ name: 'مفتاح المتجر' }, 'disable');
    for (let till = 1; till <= 8; till += 1) await issue({ name: `till ${till}` });
    made.key = await issue({ name: 'shop website', expiresIn: '90' });
    const { text: key } = made;
    await nameCategory(category, `Dogs that work, as on a farm or in a herd ${category}`);
    const long = ['Mia who was found by the river one morning in March', 'x'.repeat(255), 'Bartholomew '.repeat(21)];
    for (const name of ['Luna', 'חתול', ...long]) {
      made.animal = await addAnimal(name.trim(), category);
      made.order = await make('/v1/store/orders', `{"petId": ${made.animal}}`, key);
    }
    for (let index = 0; index < 25; index += 1) await addAnimal(`animal ${index}`, category);
    for (const message of ['When may we visit Luna?', 'مرحبا'])
      made.message = await make('/v1/messages', { message }, key);
    const url = 'https://shop.example.com/events/with/a/path/that/is/longer/than/a/phone/is/wide';
    for (const types of [EVENT_TYPES, ['pet.changed', 'order.completed']])
      await person.fillIn('/webhooks', { url, description: 'קופה', types });
    [, made.webhook = ''] = /href="\/webhooks\/(whk_\w+)"/.exec((await person.get('/webhooks')).text) ?? [];
    for (let ping = 0; ping < 6; ping += 1) await call(`/v1/webhooks/${made.webhook}/ping`, key, { method: 'POST' });
    const { text: deliveries } = await person.get(`/webhooks/${made.webhook}`);
    [, made.delivery = ''] = /href="\/webhooks\/\w+\/deliveries\/(\w+)"/.exec(deliveries) ?? [];
    for (const path of ['/v1/pets/1', '/v1/pets', '/v1/pets?limit=0', '/v1/nowhere']) await call(path, key);
    made.banned = await issue({ name: 'that was banned' });
    // Sixty requests within the plan, and fifty more that ban the key. Twice as many, in case a minute ends in between.
    for (let request = 0; request < 170; request += 1) await call('/v1/pets', made.text);
    made.refused = (await call('/v1/pets', listKey)).headers.get('x-request-id') ?? '';
    await until(async () => (await person.get('/refusals')).text.includes(made.refused));
  }

  /** The path of what was made: `/keys/{key}` names its kind. */
  const pathOf = (page: string) => page.replace(/\{(\w+)\}/g, (_, kind: keyof typeof made) => made[kind]);

  const open = async (page: Page, path: string): Promise<void> => {
    await page.goto(portal.origin + pathOf(path));
  };

  /** Checks the page in both colour schemes, on a phone and on a desktop, with everything unfolded. */
  async function look(page: Page): Promise<void> {
    await bringAxe(page);
    for (const summary of await page.locator('summary').all()) await summary.click();
    for (const { colorScheme, viewport } of LOOKS) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize(viewport);
      const look = { colorScheme, viewport };
      const findings = await findingsOf(page, colorScheme === 'light' ? 'all' : 'colours');
      expect({ ...look, findings }).toEqual({ ...look, findings: [] });
    }
    // WCAG 2.2, 1.4.10 Reflow.
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      const most = await page.evaluate<number>('document.documentElement.scrollWidth');
      const broken = await page.evaluate<readonly string[]>(BROKEN_WORDS);
      const rows = Math.max(2, await page.evaluate<number>(HEADER_ROWS));
      expect({ width, most, broken, rows }).toEqual({ width, most: width, broken: [], rows: 2 });
    }
    expect(await page.locator('h1').count()).toBe(1);
    const ids = await page.evaluate<readonly string[]>("[...document.querySelectorAll('[id]')].map(({ id }) => id)");
    expect(ids.filter((id, place) => ids.indexOf(id) !== place)).toEqual([]);
    expect(await page.title()).toMatch(/^.+ – Adoption Store API$/);
  }

  const PUBLIC = [
    '/',
    '/sign-up',
    '/sign-in',
    '/forgotten-password',
    '/reset-password',
    '/finish-sign-up',
    '/confirm-new-address',
    '/quickstart',
  ];
  const OWN = [
    '/account',
    '/access',
    '/keys',
    '/keys?state=lost',
    '/keys/{key}',
    '/keys/{banned}',
    '/keys/{key}/rotate',
    '/keys/{key}/revoke',
    '/webhooks',
    '/webhooks/{webhook}',
    '/webhooks/{webhook}/edit',
    '/webhooks/{webhook}/deliveries/{delivery}',
    '/usage',
    '/usage?range=48+hours&key={key}',
    '/refusals',
    '/refusals?request=unknown',
    '/refusals?request={refused}',
    '/plan',
    '/quickstart',
    '/catalogue',
    `/catalogue?categoryId=${category}`,
    '/catalogue?find=12345678901234567890',
    '/orders?find=luna',
    '/messages?find=hello',
    '/catalogue/{animal}',
    '/catalogue/{animal}/withdraw',
    '/orders',
    '/orders/{order}',
    '/messages',
    '/messages/{message}',
    '/categories',
    `/categories/${category}/name`,
    `/categories/${category}/remove`,
    '/nowhere',
  ];

  it.each(PUBLIC)('is accessible: %s', async (path) => {
    await open(visitor, path);
    await look(visitor);
  });

  it.each(OWN)('is accessible: %s', async (path) => {
    await open(member, path);
    await look(member);
  });

  it('reports the problems of a form accessibly', async () => {
    const page = visitor;
    await open(page, '/sign-up');
    await page.getByRole('button', { name: 'Send the link' }).click();
    await page.getByRole('alert').waitFor();
    expect(await page.title()).toMatch(/^Error: /);
    const ring = await page.evaluate<readonly string[]>(
      '(({ outlineColor, borderLeftColor }) => [outlineColor, borderLeftColor])(getComputedStyle(document.activeElement))',
    );
    expect(ring[0]).toBe(ring[1]);
    const input = page.locator('#email');
    expect(await input.getAttribute('aria-invalid')).toBe('true');
    const described = (await input.getAttribute('aria-describedby')) ?? '';
    expect(await page.locator(`#${described.split(' ').at(-1) ?? ''}`).innerText()).not.toBe('');
    await page.getByRole('alert').getByRole('link').first().click();
    expect(await page.evaluate('document.activeElement.id')).toBe('email');
    await look(page);
  });

  it.each([
    ['/keys', 'What the key may do', 'Generate a key', 'pets:read'],
    ['/webhooks', 'What is sent', 'Add a webhook', 'pet.added'],
  ])('shows a problem of the boxes beside them, and leads to the first: %s', async (path, group, button, first) => {
    const page = member;
    await open(page, path);
    await page.setViewportSize({ width: 1280, height: 900 });
    const boxes = page.getByRole('group', { name: group }).getByRole('checkbox');
    expect(await boxes.count()).toBe(0);
    await page.getByRole('radio', { name: /^(Restricted|Some events)/ }).check();
    expect(await boxes.count()).toBeGreaterThan(5);
    await page.getByRole('button', { name: button }).click();
    await page
      .getByRole('alert')
      .getByRole('link', { name: `${group}: Must be` })
      .click();
    expect(await page.evaluate('document.activeElement.value')).toBe(first);
    await look(page);
  });

  it('shows a new secret', async () => {
    await open(member, '/webhooks');
    await member.getByLabel('URL').fill('https://example.com/events');
    await member.getByRole('button', { name: 'Add a webhook' }).click();
    await member.getByRole('button', { name: 'Copy the secret' }).waitFor();
    await look(member);
  });

  it.each(['Asia/Kolkata', 'America/New_York'])(
    'tells times in the reader’s zone, in one line: %s',
    async (timezoneId) => {
      const context = await browser.newContext({ timezoneId, viewport: { width: 1280, height: 900 } });
      await context.addCookies(await member.context().cookies());
      const page = await context.newPage();
      const time = page.locator('time[data-shape=minute]').first();
      const toggle = page.getByRole('button', { name: /^Show times in/ });
      const texts = async () => {
        const at = new Date((await time.getAttribute('datetime')) ?? '');
        const inZone = (timeZone: string) =>
          new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone }).format(at);
        return { own: inZone(timezoneId), utc: `${inZone('UTC')} UTC` };
      };
      await open(page, '/keys/{key}');
      const { own, utc } = await texts();
      expect([await time.innerText(), await time.getAttribute('title')]).toEqual([own, utc]);
      expect(await page.locator('footer').innerText()).toMatch(
        /Times are in your time zone, \w+\/\w+, the days of limits in UTC/,
      );
      // By the keyboard, and kept for the next page.
      await toggle.focus();
      await page.keyboard.press('Enter');
      expect([await time.innerText(), await time.getAttribute('title')]).toEqual([utc, `${own}, your time`]);
      await page.reload();
      expect(await time.innerText()).toBe(utc);
      await open(page, '/keys');
      expect(await page.locator('td time').first().innerText()).toMatch(/^\d+ \w+, \d\d:\d\d$/);
      await open(page, '/refusals');
      expect(await page.getByRole('columnheader').first().innerText()).toBe('Time (UTC)');
      await toggle.click();
      expect(await page.getByRole('columnheader').first().innerText()).toBe('Time (your time)');
      const lines = await page.evaluate<readonly number[]>(
        "[...document.querySelectorAll('main time')].map((time) => time.getClientRects().length)",
      );
      expect(new Set(lines)).toEqual(new Set([1]));
      await look(page);
      await context.close();
    },
  );

  it('takes and shows the time of a recovery in the reader’s zone, and sends it in UTC', async () => {
    await open(member, '/webhooks/{webhook}');
    const since = member.getByLabel('Since (your time)');
    await since.fill('2026-01-01T05:30');
    await member.getByRole('button', { name: 'Show times in UTC' }).click();
    expect(await member.getByLabel('Since (UTC)').inputValue()).toBe('2026-01-01T00:00');
    await member.getByRole('button', { name: 'Show times in my time zone' }).click();
    expect(await since.inputValue()).toBe('2026-01-01T05:30');
    const [request] = await Promise.all([
      member.waitForRequest('**/recover'),
      member.getByRole('button', { name: 'Send again' }).click(),
    ]);
    expect(new URLSearchParams(request.postData() ?? '').get('since')).toBe('2026-01-01T00:00');
  });

  it('shows a new key with a button that copies it', async () => {
    await member.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const page = member;
    await open(page, '/keys');
    await page.getByRole('button', { name: 'Generate a key' }).click();
    await page.getByRole('button', { name: 'Copy the key' }).click();
    await page.getByText('Copied').first().waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(await page.locator('#key').innerText());
    await look(page);
  });

  it.each(['/', '/reset-password'])(
    'takes the token of a mail’s link out of the address, coming from %s',
    async (path) => {
      await open(visitor, path);
      await open(visitor, '/reset-password#t0k3n');
      await visitor.waitForURL(`${portal.origin}/reset-password`);
      const field = visitor.getByLabel('Token from the e-mail');
      expect([await field.inputValue(), await field.isVisible()]).toEqual(['t0k3n', false]);
      await visitor.getByLabel('New password').fill(PASSWORD);
      await visitor.getByRole('button', { name: 'Set the password' }).click();
      await visitor.getByText('This link is unknown').first().waitFor();
      expect(await field.isVisible()).toBe(true);
    },
  );

  it('tells a browser that refuses cookies so, before anybody fills in a form', async () => {
    const page = await browser.newPage();
    await page.addInitScript("Object.defineProperty(navigator, 'cookieEnabled', { value: false })");
    await open(page, '/sign-up');
    await page.getByText('Your browser refuses this site’s cookies.').waitFor();
    await look(page);
    await page.close();
  });

  it('shows the values of a chart’s bar at the pointer, and by the arrow keys', async () => {
    const page = member;
    await open(page, '/usage?range=48+hours');
    const bars = page.getByRole('slider', { name: /^Requests by hour/ });
    const value = page.locator('.chart').filter({ has: bars }).locator('.value');
    await bars.focus();
    const last = await value.innerText();
    // In Kolkata hours of UTC begin at half past.
    expect(last).toMatch(/^\d+ \w+, \d\d:30: \d+ admitted, \d+ rate-limited$/);
    expect(await bars.getAttribute('aria-valuetext')).toBe(last);
    await page.keyboard.press('ArrowLeft');
    expect(await value.innerText()).not.toBe(last);
    await page.keyboard.press('ArrowRight');
    expect(await value.innerText()).toBe(last);
    await bars.hover({ position: { x: 2, y: 20 } });
    expect(await value.innerText()).toMatch(/: 0 admitted, 0 rate-limited$/);
    await look(page);
  });

  it('counts down to the end of each window, by the service’s clock', async () => {
    const context = await browser.newContext();
    await context.addCookies(await member.context().cookies());
    const page = await context.newPage();
    // A visitor whose clock is a day behind.
    await page.clock.install({ time: Date.now() - DAY });
    await open(page, '/usage');
    const timers = page.getByRole('timer');
    const shown = () => timers.allInnerTexts();
    const [minute = '', today = ''] = await shown();
    expect(minute).toMatch(/^in \d+ s$/);
    expect(today).toMatch(/^in \d+ (h|min|s)$/);
    await page.clock.runFor(2_000);
    expect((await shown())[0]).not.toBe(minute);
    await page.clock.runFor(61_000);
    expect((await shown())[0]).toBe('now: reload the page');
    await context.close();
  });

  it('has less than 55 kB with all its files', async () => {
    for (const path of [...PUBLIC.slice(3), ...OWN]) {
      const { text } = await person.get(pathOf(path));
      const files = [...text.matchAll(/(?:href|src)="(\/public\/[^"]+)"/g)].map(([, address = '']) => address);
      expect(files.length).toBeGreaterThan(0);
      const parts = [text, ...(await Promise.all(files.map(async (file) => (await person.get(file)).text)))];
      const bytes = parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0);
      expect([path, bytes < MOST_BYTES]).toEqual([path, true]);
    }
  });
});

suite('A person with a keyboard, and without JavaScript, in the portal', () => {
  let page: Page;
  let pages = 0;

  beforeAll(async () => {
    page = await (await browser.newContext({ javaScriptEnabled: false })).newPage();
    page.on('domcontentloaded', () => (pages += 1));
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

  it('gets from sign-up to a first successful call in at most six pages and one mail', async () => {
    const email = `keyboard-${newCategoryId()}@example.com`;
    await page.goto(`${portal.origin}/sign-up`);
    await write('E-mail address', email);
    await enter(/^Check your e-mail$/);
    const token = await portal.tokenMailedTo(email, 'sign-up');
    await page.goto(`${portal.origin}/finish-sign-up#${token}`);
    await write('Token from the e-mail', token);
    await write('Password', PASSWORD);
    await enter(/^Keys$/);
    await write('Name', 'shop website');
    await enter(/^Your new key$/);
    const key = await page.locator('#key').innerText();
    const line = await page.locator('#try').innerText();
    expect(line).toContain(`'Authorization: Bearer ${key}'`);
    const { stdout: answer } = await promisify(execFile)('bash', ['-c', line.replace('curl', 'curl -sS')]);
    expect(JSON.parse(answer)).toHaveProperty('0.name');
    expect(pages).toBeLessThanOrEqual(6);
  });
});

// Written on request only: they are files of the repository.
if (process.env['PICTURES'] !== undefined)
  suite('The picture of the README', () => {
    const store = usePortal({ apiUrl: 'https://api.example.com' });

    it('shows the usage of a month', async () => {
      const { application, clock } = store;
      const email = 'shop@example.com';
      const { id: accountId } = await application.signUp.execute({ email, password: PASSWORD });
      const names = ['shop website', 'till', 'nightly import'];
      const issue = async (name: string) => (await application.issueKey.execute({ accountId, name })).text;
      const keys = await Promise.all(names.map(issue));
      for (let hour = 0; hour <= 30 * 24; hour += 1) {
        clock.advance(HOUR);
        // More by day than by night, and from week to week.
        const busy = (1 + hour / 400) * (1 + Math.cos((Math.PI * hour) / 12));
        for (const [place, text] of keys.entries()) {
          const key = await application.authenticate.execute(text);
          for (let sent = 0; sent < (busy * 11) / (1 + 2 * place); sent += 1) {
            const verdict = await application.meterRequest.execute(key);
            application.recordRequest.execute(key, { isUse: true, verdict });
          }
        }
      }
      const person = store.visitor();
      await person.fillIn('/sign-in', { email, password: PASSWORD });
      const page = await browser.newPage({ viewport: { width: 1000, height: 1750 }, colorScheme: 'light' });
      await page.context().addCookies([...person.cookies].map(([name, value]) => ({ name, value, url: store.origin })));
      await until(async () => {
        await page.goto(`${store.origin}/usage`);
        return (await page.getByText('just now').count()) === 1;
      });
      const path = join(import.meta.dirname, '../../docs/usage.png');
      expect((await page.screenshot({ path })).length).toBeLessThan(MOST_PICTURE_BYTES);
    });
  });
