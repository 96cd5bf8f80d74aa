import { beforeEach, describe, expect, it } from '@jest/globals';
import { EVENT_TYPES, MOST_WEBHOOKS, type Webhook } from '@adoption-store/domain';
import { usePortal } from './support/portal.js';
import { type Answer, type Fields, type Person, walk } from './support/portal-visitor.js';

const portal = usePortal();
/** Every box is checked, as in a new form. */
const ALL = { types: EVENT_TYPES };
let hosts = 0;

const newUrl = () => `https://shop-${(hosts += 1)}.example.com/events`;
const secretIn = ({ text }: Answer) => /whsec_[\w+/=]+/.exec(text)?.[0];
const placeIn = ({ status, headers }: Answer) => [status, headers.get('location')];

async function add(person: Person, fields: Fields = {}): Promise<Answer> {
  await person.get('/webhooks');
  return person.post('/webhooks', { url: newUrl(), ...ALL, ...fields });
}

async function webhooksOf({ email }: Person): Promise<readonly Webhook[]> {
  const account = (await portal.application.listAccounts.execute()).find((each) => each.email === email);
  return account === undefined ? [] : portal.application.listWebhooks.execute({ accountId: account.id });
}

/** A person with one webhook, and the path of its page. */
async function owner(fields?: Fields) {
  const person = await portal.signedUp();
  const secret = secretIn(await add(person, fields));
  const [webhook] = await webhooksOf(person);
  if (webhook === undefined) throw new Error('no webhook was made');
  return { person, secret, webhook, path: `/webhooks/${webhook.id}` };
}

/** Does what the worker does, until nothing is due. */
async function deliver(): Promise<void> {
  while ((await portal.application.publishEvents.execute()).mayHaveMore);
  while ((await portal.application.deliverWebhooks.execute()).mayHaveMore);
}

const sentTo = ({ url }: Webhook) => portal.webhookSender.requests.filter((request) => request.url === url);

/** The rows of the tables: event, status, attempts, last response, next attempt, created. */
const rowsIn = ({ text }: Answer) =>
  [...text.matchAll(/<tr><th scope="row">.*?<\/tr>/g)].map(([row]) =>
    [...row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/g)].map(([, cell = '']) => cell.replaceAll(/<[^>]+>/g, '')),
  );

describe('a webhook', () => {
  beforeEach(() => {
    portal.webhookSender.answer = () => 204;
  });

  it('shows its secret once: neither a reload nor its page shows it again or makes a second one', async () => {
    const person = await portal.signedUp();
    await person.get('/webhooks');
    const form = { url: newUrl(), ...ALL, _csrf: person.token };
    const answers = await Promise.all([1, 2, 3].map(() => person.post('/webhooks', form)));
    answers.push(await person.post('/webhooks', form));
    const [shown, ...again] = answers.sort((one, other) => one.status - other.status);
    const secret = shown && secretIn(shown);
    expect([shown?.status, shown?.headers.get('cache-control'), secret]).toEqual([200, 'no-store', expect.anything()]);
    for (const answer of again) expect(placeIn(answer)).toEqual([303, '/webhooks']);
    const [webhook, ...others] = await webhooksOf(person);
    expect(others).toEqual([]);
    const page = await person.get('/webhooks');
    expect(page.text).toContain('already sent');
    for (const each of [page, await person.get(`/webhooks/${webhook?.id}`)]) expect(secretIn(each)).toBeUndefined();
  });

  it('gets another secret once for each form, and is signed for with both', async () => {
    const { person, secret, webhook, path } = await owner();
    await person.get(path);
    const form = { _csrf: person.token };
    const rotated = await person.post(`${path}/rotate`, form);
    expect(rotated.text).toContain('each request is signed with the old secret too');
    expect(placeIn(await person.post(`${path}/rotate`, form))).toEqual([303, path]);
    await person.post(`${path}/ping`);
    await deliver();
    expect(sentTo(webhook).map(({ secrets }) => secrets)).toEqual([[secretIn(rotated), secret]]);
    expect(secretIn(rotated)).not.toBe(secret);
  });

  it('is pinged, disabled, enabled and deleted by its buttons', async () => {
    const { person, webhook, path } = await owner();
    const press = async (button: string) => {
      const { text } = await person.get('/webhooks');
      expect(text).toContain(`action="${path}/${button}"`);
      return placeIn(await person.post(`${path}/${button}`));
    };
    expect(await press('ping')).toEqual([303, path]);
    expect((await person.get(path)).text).toContain('A ping is queued.');
    await deliver();
    expect(sentTo(webhook)).toHaveLength(1);
    expect(await press('disable')).toEqual([303, path]);
    expect(await webhooksOf(person)).toMatchObject([{ status: 'disabled' }]);
    const stale = await person.post(`${path}/ping`);
    expect([stale.status, stale.text]).toEqual([
      422,
      expect.stringContaining('The webhook is disabled; enable it first.'),
    ]);
    expect(await press('enable')).toEqual([303, path]);
    expect(await webhooksOf(person)).toMatchObject([{ status: 'enabled' }]);
    expect(await press('delete')).toEqual([303, '/webhooks']);
    expect(await webhooksOf(person)).toEqual([]);
    expect((await person.get('/webhooks')).text).toContain('You have no webhook.');
  });

  it('shows what became of its last deliveries', async () => {
    const { person, webhook, path } = await owner({ types: ['pet.added', 'order.placed'], description: 'till <b>' });
    portal.webhookSender.answer = ({ body }) => (body.includes('pet.added') ? 204 : 500);
    await portal.application.addAnimal.execute({ name: 'Luna', categoryId: 1n });
    await person.post(`${path}/ping`);
    await deliver();
    const at = expect.stringMatching(/^\d+ \w+, \d\d:\d\d:\d\d$/);
    // The database's clock decides when the next attempt is due, and this portal's is another.
    const next = expect.stringMatching(/^Now$|^\d+ \w+, \d\d:\d\d:\d\d$/);
    const attempts = String(sentTo(webhook).filter(({ body }) => body.includes('webhook.ping')).length);
    for (const page of [await person.get('/webhooks'), await person.get(path)]) {
      const [ping = [], added = []] = rowsIn(page).sort(([one = ''], [other = '']) => other.localeCompare(one));
      expect(ping).toEqual([expect.stringMatching(/^webhook\.ping dlv_\d+$/), 'Queued', attempts, '500', next, at]);
      expect(added).toEqual([expect.stringMatching(/^pet\.added dlv_\d+$/), 'Sent', '1', '204', '–', at]);
      expect(page.text).toContain('<code class="scope">pet.added</code> <code class="scope">order.placed</code>');
      expect(page.text).toContain('till &lt;b&gt;');
    }
  });

  it('has a page with all its deliveries, of which the list shows the last', async () => {
    const { person, webhook, path } = await owner();
    for (let ping = 0; ping < 23; ping += 1) await portal.application.pingWebhook.execute(webhook);
    const pages = await walk(person, path, /<small>dlv_(\d+)</g);
    expect(pages.map((each) => each.length)).toEqual([20, 3]);
    const list = await person.get('/webhooks');
    expect(list.text).toContain(`<a href="${path}">All deliveries`);
    expect(rowsIn(list).map(([event]) => event)).toEqual(pages[0]?.slice(0, 5).map((id) => `webhook.ping dlv_${id}`));
  });

  it('of another account is not found', async () => {
    const { webhook, path } = await owner();
    const stranger = await portal.signedUp();
    expect((await stranger.get('/webhooks')).text).not.toContain(webhook.id);
    for (const page of [path, '/webhooks/whk_0', '/webhooks/%00'])
      expect([page, (await stranger.get(page)).status]).toEqual([page, 404]);
    for (const button of ['ping', 'rotate', 'enable', 'disable', 'delete'])
      expect([button, (await stranger.post(`${path}/${button}`)).status]).toEqual([button, 404]);
    await deliver();
    expect(sentTo(webhook)).toEqual([]);
    const { accountId } = webhook;
    expect(await portal.application.listWebhooks.execute({ accountId })).toEqual([webhook]);
  });

  it('that is refused is not made, and its form keeps what was typed', async () => {
    const person = await portal.signedUp();
    const typed = { url: 'http://shop.example.com/', description: 'till', types: ['pet.added', 'nothing'] };
    for (const [fields, problem] of [
      [{}, '#url">URL: Must begin with https://'],
      [{ types: [] }, '#types">What is sent: Must be some of pet.added'],
      [{ description: 'x'.repeat(256) }, '#description">Description (optional): Must be at most 255'],
    ] as const) {
      const { status, text } = await add(person, { ...typed, ...fields });
      expect([status, text]).toEqual([422, expect.stringContaining(`href="${problem}`)]);
      const { url, description, types } = { ...typed, ...fields };
      for (const value of [url, description]) expect(text).toContain(`value="${value}"`);
      const checked = [...text.matchAll(/name="types" value="([^"]+)" checked/g)].map(([, type]) => type);
      expect(checked).toEqual(types.filter((type) => type !== 'nothing'));
    }
    for (let made = 0; made < MOST_WEBHOOKS; made += 1) expect((await add(person)).status).toBe(200);
    const refused = await add(person, { description: 'one too many' });
    expect([refused.status, refused.text]).toEqual([422, expect.stringContaining('which is the most')]);
    expect(refused.text).toContain('value="one too many"');
    expect(await webhooksOf(person)).toHaveLength(MOST_WEBHOOKS);
  });

  it('gets all types if every box is checked, also later ones', async () => {
    const person = await portal.signedUp();
    for (const types of [EVENT_TYPES, ['pet.removed', 'pet.added']]) {
      await add(person, { types });
      portal.clock.advance(1);
    }
    expect((await webhooksOf(person)).map(({ types }) => types)).toEqual([undefined, ['pet.added', 'pet.removed']]);
  });

  it('can only be looked at by an account without webhooks:write', async () => {
    const { person, webhook, path } = await owner();
    await portal.application.changeScopes.execute({ email: person.email, scopes: ['pets:read'] });
    const page = await person.get('/webhooks');
    expect(page.text).toContain(webhook.url);
    expect(page.text).not.toContain('action="/webhooks');
    for (const button of ['ping', 'rotate', 'enable', 'disable', 'delete'].map((each) => `${path}/${each}`))
      expect([button, (await person.post(button)).status]).toEqual([button, 403]);
    expect((await add(person)).status).toBe(403);
    expect(await webhooksOf(person)).toEqual([webhook]);
  });
});
