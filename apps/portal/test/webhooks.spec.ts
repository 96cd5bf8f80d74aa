import { describe, expect, it } from '@jest/globals';
import { EVENT_TYPES, instant, type Webhook } from '@adoption-store/domain';
import { byOperator } from '@adoption-store/domain/testing';
import { usePortal } from './support/portal.js';
import { type Answer, type Fields, type Person, redirectTo, refusal, walk } from './support/portal-visitor.js';

const portal = usePortal();
const BUTTONS = ['ping', 'rotate', 'enable', 'disable', 'delete', 'edit', 'recover'];
let hosts = 0;

/** A form for all events, unless `types` are given. */
const filledIn = (fields: Fields = {}): Fields => ({
  url: `https://shop-${(hosts += 1)}.example.com/events`,
  access: fields['types'] === undefined ? 'full' : 'restricted',
  ...fields,
});
const secretIn = ({ text }: Answer) => /whsec_[\w+/=]+/.exec(text)?.[0];

async function webhooksOf({ email }: Person): Promise<readonly Webhook[]> {
  const account = (await portal.application.listAccounts.execute()).find((each) => each.email === email);
  return account === undefined ? [] : portal.application.listWebhooks.execute({ accountId: account.id });
}

/** A person with one webhook, and the path of its page. */
async function owner(fields?: Fields) {
  const person = await portal.signedUp();
  const secret = secretIn(await person.fillIn('/webhooks', filledIn(fields)));
  const [webhook] = await webhooksOf(person);
  if (webhook === undefined) throw new Error('no webhook was made');
  await person.get('/webhooks');
  return { person, secret, webhook, path: `/webhooks/${webhook.id}` };
}

/** Does what the worker does, until nothing is due. */
async function deliver(): Promise<void> {
  while ((await portal.application.publishEvents.execute()).mayHaveMore);
  await portal.application.wakeWebhooks.execute();
  while ((await portal.application.deliverWebhooks.execute()).mayHaveMore);
}

const sentTo = ({ url }: Webhook) => portal.webhookSender.requests.filter((request) => request.url === url);

/** The rows of the tables: event, status, attempts, last response, created. */
const rowsIn = ({ text }: Answer) =>
  [...text.matchAll(/<tr><th scope="row">.*?<\/tr>/g)].map(([row]) =>
    [...row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/g)].map(([, cell = '']) => cell.replaceAll(/<[^>]+>/g, '')),
  );

describe('a webhook', () => {
  it('shows its secret once: neither a reload nor its page shows it again or makes a second one', async () => {
    const person = await portal.signedUp();
    await person.get('/webhooks');
    const form = { ...filledIn(), _csrf: person.token };
    const answers = await Promise.all([1, 2, 3].map(() => person.post('/webhooks', form)));
    const [shown, ...again] = answers.sort((one, other) => one.status - other.status);
    expect([shown?.status, shown && secretIn(shown)]).toEqual([200, expect.any(String)]);
    for (const answer of again) expect(answer).toMatchObject(redirectTo('/webhooks'));
    const webhooks = await webhooksOf(person);
    expect(webhooks.map(({ types }) => types)).toEqual([undefined]);
    const page = await person.get('/webhooks');
    expect(page.text).toContain('already sent');
    for (const each of [page, await person.get(`/webhooks/${webhooks[0]?.id}`)]) expect(secretIn(each)).toBeUndefined();
  });

  it('gets another secret once for each form', async () => {
    const { person, secret, path } = await owner();
    const form = { _csrf: person.token };
    const rotated = await person.post(`${path}/rotate`, form);
    expect(await person.post(`${path}/rotate`, form)).toMatchObject(redirectTo(path));
    expect([undefined, secret]).not.toContain(secretIn(rotated));
  });

  it('is disabled, enabled, pinged and deleted by its buttons', async () => {
    const { person, webhook, path } = await owner();
    const press = async (button: string) => {
      expect((await person.get(path)).text).toContain(`action="${path}/${button}"`);
      return person.post(`${path}/${button}`);
    };
    expect(await press('disable')).toMatchObject(redirectTo(path));
    expect(await webhooksOf(person)).toMatchObject([{ status: 'disabled' }]);
    expect(await person.post(`${path}/ping`)).toMatchObject(refusal('The webhook is disabled; enable it first.'));
    expect(await press('enable')).toMatchObject(redirectTo(path));
    expect(await press('ping')).toMatchObject({
      status: 303,
      location: expect.stringMatching(`^${path}/deliveries/dlv_`),
    });
    await deliver();
    expect(sentTo(webhook)).toHaveLength(1);
    expect(await press('delete')).toMatchObject(redirectTo('/webhooks'));
    expect(await webhooksOf(person)).toEqual([]);
  });

  it('shows what became of its last deliveries', async () => {
    const { person, webhook, path } = await owner({ types: ['pet.added', 'order.placed'], description: 'till <b>' });
    portal.webhookSender.answer = ({ body }) => (body.includes('pet.added') ? 204 : 500);
    await portal.application.addAnimal.execute({ name: 'Luna', categoryId: 1n });
    await person.post(`${path}/ping`);
    await deliver();
    portal.webhookSender.answer = () => 204;
    const at = expect.stringMatching(/^\d+ \w+, \d\d:\d\d:\d\d$/);
    const attempts = String(sentTo(webhook).filter(({ body }) => body.includes('webhook.ping')).length);
    const page = await person.get(path);
    const [added, ping] = rowsIn(page).sort(([one = ''], [other = '']) => one.localeCompare(other));
    expect(added).toEqual([expect.stringMatching(/^pet\.added dlv_[0-9a-f]+$/), 'Sent', '1', '204', at]);
    expect(ping).toEqual([
      expect.stringMatching(/^webhook\.ping dlv_[0-9a-f]+$/),
      // The database's clock decides when the next attempt is due, and this portal's is another.
      expect.stringMatching(/^Retrying (now|next in \d+ \w+)$/),
      attempts,
      '500',
      at,
    ]);
    for (const { text } of [page, await person.get('/webhooks')]) {
      expect(text).toContain('<code class="scope">pet.added</code> <code class="scope">order.placed</code>');
      expect(text).toContain('till &lt;b&gt;');
    }
  });

  it('of which everything fails is failing, in the list and on its page, until something is delivered', async () => {
    const { person, path } = await owner({ types: ['pet.added', 'order.placed', 'order.completed'] });
    const shown = async (answer: number) => {
      portal.webhookSender.answer = () => answer;
      await person.post(`${path}/ping`);
      await deliver();
      const [row] = rowsIn(await person.get('/webhooks'));
      return { row: row?.slice(1), text: (await person.get(path)).text };
    };
    const failing = await shown(500);
    const last = expect.stringMatching(/^webhook\.pingRetrying (now|next in \d+ \w+)$/);
    expect(failing.row).toEqual([
      'pet.added order.placed and 1 more',
      'Failing',
      last,
      expect.stringMatching(/^Edit /),
    ]);
    expect(failing.text).toContain('Failing since');
    expect(failing.text).not.toContain('Enabled');
    const works = await shown(204);
    expect(works.row?.slice(1, 3)).toEqual(['Enabled', 'webhook.pingSent just now']);
    expect(works.text).not.toContain('Failing');
  });

  it('is edited: its URL, its description, and what is sent', async () => {
    const { person, path } = await owner({ description: 'till' });
    const { url = '' } = filledIn();
    expect((await person.get(`${path}/edit`)).text).toContain('value="till"');
    expect(await person.post(`${path}/edit`, { url: 'http://shop.example.com', types: EVENT_TYPES })).toMatchObject(
      refusal('value="http://shop.example.com"'),
    );
    expect(await person.post(`${path}/edit`, { url, types: ['pet.added'] })).toMatchObject(redirectTo(path));
    expect(await webhooksOf(person)).toMatchObject([{ url, types: ['pet.added'], description: undefined }]);
  });

  it('has a page of each delivery: what is sent, and each attempt. It is loaded again until a ping is answered', async () => {
    portal.clock.set(instant(Date.now()));
    const { person, webhook, path } = await owner();
    const { location: delivery } = await person.post(`${path}/ping`);
    const waiting = await person.get(delivery);
    expect([waiting.headers.get('refresh'), waiting.text]).toEqual(['3', expect.stringContaining('None yet.')]);
    await deliver();
    const sent = await person.get(delivery);
    expect(sent.headers.get('refresh')).toBeNull();
    expect(rowsIn(sent)).toEqual([[expect.any(String), '204', expect.stringMatching(/^\d+ ms$/)]]);
    expect(sent.text).toContain(sentTo(webhook)[0]?.body.replaceAll('"', '&quot;'));
    expect(await person.post(`${delivery}/retry`)).toMatchObject(redirectTo(delivery));
    await deliver();
    expect(rowsIn(await person.get(delivery))).toHaveLength(2);
    expect((await (await portal.signedUp()).get(delivery)).status).toBe(404);
  });

  it('is recovered since a time that is one', async () => {
    const { person, path } = await owner();
    const recover = (since: string) => person.post(`${path}/recover`, { since });
    expect(await recover('yesterday')).toMatchObject(refusal('Must be a date and a time.'));
    expect(await recover('2026-11-20T12:34')).toMatchObject(redirectTo(path));
    const recoveringSince = instant(Date.UTC(2026, 10, 20, 12, 34));
    expect(await webhooksOf(person)).toMatchObject([{ recoveringSince }]);
  });

  it('has a page with all its deliveries, of which the list shows the last one, and links to edit each', async () => {
    const { person, webhook, path } = await owner();
    const ping = async (times: number) => {
      for (let count = 0; count < times; count += 1) await portal.application.pingWebhook.execute(byOperator(webhook));
    };
    await ping(20);
    await deliver();
    await ping(3);
    const pages = await walk(person, path, /<small>(dlv_[0-9a-f]+)</g);
    expect(pages.map((each) => each.length)).toEqual([20, 3]);
    const { text } = await person.get('/webhooks');
    expect(text.match(/dlv_[0-9a-f]+/g)).toEqual(pages[0]?.slice(0, 1));
    for (const address of [path, `${path}/edit`, '#add']) expect(text).toContain(`href="${address}"`);
  });

  it('of another account is not found, and an account without webhooks:write can only look', async () => {
    const [{ person, webhook, path }, stranger] = [await owner(), await portal.signedUp()];
    await portal.application.changeScopes.execute({ email: person.email, scopes: ['pets:read'] });
    const [own, others] = [await person.get('/webhooks'), await stranger.get('/webhooks')];
    expect(own.text).toContain(webhook.url);
    for (const way of ['action="/webhooks', '/edit"', '#add']) expect(own.text).not.toContain(way);
    expect(others.text).not.toContain(webhook.url);
    expect((await person.post('/webhooks', filledIn())).status).toBe(403);
    for (const page of [path, '/webhooks/%00']) expect((await stranger.get(page)).status).toBe(404);
    for (const button of BUTTONS.map((each) => `${path}/${each}`)) {
      const statuses = [(await person.post(button)).status, (await stranger.post(button)).status];
      expect([button, statuses]).toEqual([button, [403, 404]]);
    }
    await deliver();
    expect(sentTo(webhook)).toEqual([]);
    expect(await webhooksOf(person)).toEqual([webhook]);
  });

  it('of an account without events:read can be pinged, rotated, disabled and deleted, but neither made nor enabled', async () => {
    const { person, path } = await owner();
    await portal.application.changeScopes.execute({ email: person.email, scopes: ['webhooks:write'] });
    const buttonsIn = ({ text }: Answer) => BUTTONS.filter((button) => text.includes(`action="${path}/${button}"`));
    const enabled = await person.get(path);
    expect(buttonsIn(enabled)).toEqual(['ping', 'rotate', 'disable', 'delete']);
    const list = await person.get('/webhooks');
    for (const { text } of [enabled, list]) expect(text).not.toContain('/edit"');
    expect(list.text).not.toContain('action="/webhooks"');
    expect(await person.post(`${path}/disable`)).toMatchObject(redirectTo(path));
    expect(buttonsIn(await person.get(path))).toEqual(['rotate', 'delete']);
    expect((await person.post(`${path}/enable`)).status).toBe(403);
    expect((await person.post('/webhooks', filledIn())).status).toBe(403);
    expect(await webhooksOf(person)).toMatchObject([{ status: 'disabled' }]);
  });

  it('that is refused is not made, and its form keeps what was typed', async () => {
    const person = await portal.signedUp();
    const typed = { url: 'http://shop.example.com/', description: 'till', types: ['pet.added', 'pet.removed'] };
    const refused = await person.fillIn('/webhooks', typed);
    expect(refused).toMatchObject(refusal('href="#url">URL: Must begin with https://'));
    for (const value of [typed.url, typed.description]) expect(refused.text).toContain(`value="${value}"`);
    const checked = [...refused.text.matchAll(/name="types" value="([^"]+)" checked/g)].map(([, type]) => type);
    expect(checked).toEqual(typed.types);
    expect(await webhooksOf(person)).toEqual([]);
  });
});
