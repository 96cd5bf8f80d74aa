import { describe, expect, it } from '@jest/globals';
import { DAY, HOUR, MINUTE, SCOPES } from '@adoption-store/domain';
import { pino } from 'pino';
import { createDatabase } from '@adoption-store/test-support';
import { untilKeyIs, usePortal } from './support/portal.js';
import { mailSignUp, runPortal } from './support/portal-process.js';
import {
  type Answer,
  boxesIn,
  browsersAt,
  PASSWORD,
  redirectTo,
  refusal,
  type Visitor,
} from './support/portal-visitor.js';

const WRONG = 'not the right pass phrase';
const NEXT = 'quite another pass phrase';

/** What a stranger learns from an answer: all but what the form has from this visitor. */
const toldTo = (email: string, { status, text }: Answer) =>
  `${status} ${text.replaceAll(email, '').replace(/(name="_csrf" value=")[^"]+/g, '$1')}`;

/** The words by which the pages offer changes. */
const CHANGES = /(?<=>)(?:Add an animal|Save|Withdraw the animal|Rename|Remove|Add a category)/g;

const lines: string[] = [];
const logger = pino({ level: 'error' }, { write: (line) => lines.push(line) });
const portal = usePortal({ log: { logger } });

describe('an account that is held to scopes', () => {
  it('shows them', async () => {
    const visitor = await portal.signedUp();
    const shown = async () => /<dt>Scopes<\/dt><dd>([\s\S]*?)<\/dd>/.exec((await visitor.get('/account')).text)?.[1];
    expect(await shown()).toBe('All');
    await portal.application.changeScopes.execute({ email: visitor.email, scopes: ['pets:read', 'orders:read'] });
    expect(await shown()).toMatch(/>pets:read<[\s\S]*>orders:read<[\s\S]*can do no more/);
  });

  it('is neither offered nor allowed to change animals and categories without pets:manage, or to add an animal without pets:write', async () => {
    const visitor = await portal.signedUp();
    const { addAnimal, changeScopes, nameCategory, listAnimals, listCategories } = portal.application;
    await nameCategory.execute({ id: 900n, name: 'Lynxes' });
    const luna = await addAnimal.execute({ name: 'Luna', categoryId: 900n });
    const animal = `/catalogue/${luna.id}`;
    const pages = ['/catalogue', animal, '/categories'];
    const shown = async () =>
      (await Promise.all(pages.map((path) => visitor.get(path)))).map(({ text }) => text).join();
    expect((await shown()).match(CHANGES)).toHaveLength(7);
    const scopes = SCOPES.filter((scope) => scope !== 'pets:manage');
    await changeScopes.execute({ email: visitor.email, scopes });
    expect((await shown()).match(CHANGES)).toEqual(['Add an animal']);
    const fields = { name: 'Nobody', categoryId: '1', number: '901' };
    const refused = async (path: string, scope: string) => {
      const { status, text } = await visitor.post(path, fields);
      expect([path, status]).toEqual([path, 403]);
      expect(text).toMatch(new RegExp(`Not allowed[^]*${scope}[^]*Contact the operator of this service\\.`));
    };
    const confirmed = [`${animal}/withdraw`, '/categories/900/name', '/categories/900/remove'];
    for (const path of [animal, '/categories', ...confirmed]) await refused(path, 'pets:manage');
    for (const path of confirmed) expect((await visitor.get(path)).status).toBe(403);
    await changeScopes.execute({ email: visitor.email, scopes: ['pets:read', 'pets:manage'] });
    expect((await shown()).match(CHANGES)).not.toContain('Add an animal');
    await refused('/catalogue', 'pets:write');
    expect((await listAnimals.execute({ limit: 100 })).items).toEqual([luna]);
    expect((await listCategories.execute({ limit: 100 })).items).toEqual([{ id: 900n, name: 'Lynxes' }]);
  });
});

it('who signs up has the scopes of SIGNUP_SCOPES, and is offered no others', async () => {
  const database = await createDatabase();
  const { process, origin } = await runPortal(database.url, { SIGNUP_SCOPES: 'orders:read,pets:read' });
  const visitor = await browsersAt(origin, (email) => mailSignUp(database.url, email)).signedUp();
  expect(boxesIn(await visitor.get('/keys'))).toEqual({ offered: ['pets:read', 'orders:read'], checked: [] });
  expect((await visitor.post('/catalogue', { name: 'Luna', categoryId: '1' })).status).toBe(403);
  await process.stop();
  await database.drop();
});

describe('signing up where mail can be sent', () => {
  const newAddress = () => `sign-up-${(signUps += 1)}@example.com`;
  let signUps = 0;
  const finish = (visitor: Visitor, token: string, password = PASSWORD) =>
    visitor.fillIn('/finish-sign-up', { token, password });

  it('asks for the address alone, and leads by the mailed link and a password to the keys, in a session', async () => {
    const [email, visitor] = [newAddress(), portal.visitor()];
    expect((await visitor.get('/sign-up')).text).not.toContain('type="password"');
    expect((await visitor.post('/sign-up', { email })).text).toContain('We have sent you a mail.');
    expect(await portal.application.listAccounts.execute()).not.toContainEqual(expect.objectContaining({ email }));
    const token = await portal.tokenMailedTo(email, 'sign-up');
    expect(await finish(visitor, token, 'short')).toMatchObject(refusal('Password: Must be at least 12'));
    expect(await finish(visitor, ` ${token}\n`)).toMatchObject(redirectTo('/keys'));
    expect((await visitor.get('/keys')).text).toContain('Your account is open.');
    expect([...visitor.cookies.keys()]).toEqual(
      expect.arrayContaining(['adoption-store-session', 'adoption-store-device']),
    );
    expect(await finish(portal.visitor(), token)).toMatchObject(refusal('<a href="/sign-up">Request another link</a>'));
  });

  it('answers an address with an account, and one that has got three mails, in the same way', async () => {
    const { email } = await portal.signedUp();
    const answers: string[] = [];
    for (const asked of [email, email, email, newAddress(), email])
      answers.push(toldTo(asked, await portal.visitor().fillIn('/sign-up', { email: asked })));
    expect(new Set(answers).size).toBe(1);
    // One of the address's three mails today was that of its own sign-up.
    expect(await portal.mailsTo(email, 'has-account')).toHaveLength(2);
  });

  it('spends nothing in a session of another account', async () => {
    const [email, visitor] = [newAddress(), await portal.signedUp()];
    await portal.visitor().fillIn('/sign-up', { email });
    const token = await portal.tokenMailedTo(email, 'sign-up');
    expect(await finish(visitor, token)).toMatchObject(refusal('You are signed in to another account.'));
    await visitor.post('/sign-out');
    expect(await finish(visitor, token)).toMatchObject(redirectTo('/keys'));
    // Whoever opens the used link again is signed in to the account that it has opened.
    const again = await finish(visitor, token);
    expect(again).toMatchObject(refusal(`Your address ${email} is confirmed.`));
    expect(again.text).not.toContain('Request another link');
  });

  it('mails to no more than ten people an hour for one network address', async () => {
    const visitor = portal.visitor().from('2001:db8:7::1');
    await visitor.get('/sign-up');
    const statuses: number[] = [];
    for (let asked = 0; asked < 11; asked += 1)
      statuses.push((await visitor.post('/sign-up', { email: newAddress() })).status);
    expect(statuses).toEqual([...Array<number>(10).fill(200), 429]);
    expect((await visitor.from('2001:db8:8::1').post('/sign-up', { email: newAddress() })).status).toBe(200);
    portal.clock.advance(HOUR);
    expect((await visitor.from('2001:db8:7::1').post('/sign-up', { email: newAddress() })).status).toBe(200);
  });
});

describe('signing up where no mail can be sent', () => {
  const local = usePortal({ sendsMail: false });
  const shared = usePortal({ sendsMail: false, opensUnproven: false });

  it('is only for the operator where others can reach the service', async () => {
    const visitor = shared.visitor();
    const shown = await visitor.get('/sign-up');
    await visitor.get('/sign-in');
    for (const answer of [shown, await visitor.post('/sign-up', { email: 'dev@example.com' })])
      expect([answer.status, answer.text.includes('Nobody can sign up here')]).toEqual([503, true]);
    expect(await shared.application.listAccounts.execute()).toEqual([]);
  });

  it('says all problems of the form at once, and never shows the password again', async () => {
    const visitor = local.visitor();
    const { text } = await visitor.fillIn('/sign-up', { email: 'nobody', password: 'short' });
    expect(text).not.toContain('value="short"');
    expect(visitor.cookies.has('adoption-store-session')).toBe(false);
    const summary = /<div class="problems"[\s\S]*?<\/div>/.exec(text)?.[0];
    expect(summary).toMatch(
      /href="#email">E-mail address: Must be[\s\S]*href="#password">Password: Must be at least 12/,
    );
  });
});

it.each(['/sign-in', '/forgotten-password'])('%s refuses what is no e-mail address', async (path) => {
  const refused = await portal.visitor().fillIn(path, { email: 'nobody', password: PASSWORD });
  expect(refused).toMatchObject(refusal('href="#email">E-mail address: Must be an e-mail address, such as dev@'));
});

describe('signing in', () => {
  it('answers a wrong password and an unknown address in the same way', async () => {
    const { email } = await portal.signedUp();
    const attempt = async (tried: string) => {
      const visitor = portal.visitor();
      const answer = await visitor.fillIn('/sign-in', { email: tried, password: WRONG });
      expect([answer.status, visitor.cookies.has('adoption-store-session')]).toEqual([422, false]);
      return toldTo(tried, answer);
    };
    expect(await attempt('unknown-1@example.com')).toBe(await attempt(email));
  });

  it('begins a session with a new id, and ends the browser’s previous one', async () => {
    const { email } = await portal.signedUp();
    const attacker = await portal.signedUp();
    const planted = attacker.cookies.get('adoption-store-session') ?? '';
    const victim = portal.visitor();
    victim.cookies.set('adoption-store-session', planted);
    await victim.get('/account');
    expect((await victim.post('/sign-in', { email, password: PASSWORD })).status).toBe(303);
    expect(victim.cookies.get('adoption-store-session')).not.toBe(planted);
    expect((await victim.get('/account')).text).toContain(email);
    expect((await attacker.get('/account')).location).toBe('/sign-in');
  });

  it.each(['//evil.example', '/%5Cevil.example', '/%09/evil.example', 'https://evil.example', '/..//evil.example'])(
    'never leads to %s',
    async (wanted) => {
      const { email } = await portal.signedUp();
      const visitor = portal.visitor();
      await visitor.get('/sign-in');
      visitor.cookies.set('adoption-store-next', wanted);
      expect((await visitor.post('/sign-in', { email, password: PASSWORD })).location).toBe('/keys');
    },
  );
});

it('no visitor is given a session', async () => {
  const visitor = portal.visitor();
  for (const path of ['/', '/sign-in', '/sign-up']) await visitor.get(path);
  expect([...visitor.cookies.keys()]).toEqual(['adoption-store-csrf']);
});

describe('the log', () => {
  /** What the lines say of an event. */
  function eventsOf(id: string): readonly string[] {
    const all = lines.map((line) => JSON.parse(line) as Record<'event' | 'account_id' | 'client', string>);
    return all.map(({ event, account_id, client }) =>
      [event, account_id === id ? 'owner' : account_id, client].join(' '),
    );
  }

  it('has a line for each event of an account, whatever its level: who and whence, and nothing secret', async () => {
    const [person, thief] = [(await portal.signedUp()).from('192.0.2.1'), portal.visitor().from('192.0.2.7')];
    const id = String((await portal.application.findAccount.execute(person.email))?.id);
    const key = await person.issueKey();
    const keyPath = /\/keys\/\d+/.exec((await person.get('/keys')).text)?.[0] ?? '';
    const steps: readonly (readonly [string, Record<string, string>])[] = [
      [`${keyPath}/disable`, {}],
      [`${keyPath}/enable`, {}],
      [`${keyPath}/rotate`, { overlap: '0' }],
      ['/account/password', { current: WRONG, next: NEXT }],
      ['/account/password', { current: PASSWORD, next: NEXT }],
      ['/account/sign-out-everywhere', {}],
      ['/sign-in', { email: person.email, password: NEXT }],
    ];
    lines.length = 0;
    for (const [path, fields] of steps) await person.fillIn(path, fields);
    for (let guess = 0; guess < 11; guess += 1)
      await thief.fillIn('/sign-in', { email: person.email, password: WRONG });
    await thief.fillIn('/sign-in', { email: 'nobody@example.com', password: WRONG });
    await portal.application.requestPasswordReset.execute({ email: person.email });
    const token = await portal.tokenMailedTo(person.email, 'reset');
    await thief.fillIn('/reset-password', { token, password: PASSWORD });
    expect(eventsOf(id)).toEqual([
      ...['key_disabled', 'key_enabled', 'key_rotated', 'wrong_password', 'password_changed', 'signed_out_everywhere']
        .concat('signed_in')
        .map((event) => `${event} owner 192.0.2.1`),
      ...Array<string>(10).fill('wrong_password owner 192.0.2.7'),
      'locked_out owner 192.0.2.7',
      'wrong_password  192.0.2.7',
      'password_reset owner 192.0.2.7',
    ]);
    for (const secret of [person.email, PASSWORD, WRONG, NEXT, key, token]) expect(lines.join()).not.toContain(secret);
  });

  it('has one when an account is opened, gets another address, makes a key and is closed', async () => {
    lines.length = 0;
    const person = (await portal.signedUp()).from('192.0.2.1');
    await person.issueKey();
    const email = 'elsewhere@example.com';
    await person.fillIn('/account/address', { email, password: PASSWORD });
    const token = await portal.tokenMailedTo(email, 'change');
    await person.fillIn('/confirm-new-address', { token });
    await person.fillIn('/account/close', { password: PASSWORD });
    const events = lines.map((line) => (JSON.parse(line) as Record<'event', string>).event);
    expect(events).toEqual(['signed_up', 'key_made', 'address_change_requested', 'address_changed', 'account_closed']);
    for (const secret of [person.email, email, PASSWORD, token]) expect(lines.join()).not.toContain(secret);
  });
});

describe('the address', () => {
  let addresses = 0;

  const newAddress = () => `new-${(addresses += 1)}@example.com`;

  /** Asks for the change. The token that was mailed to the new address. */
  async function tokenFor(person: Visitor, email: string): Promise<string> {
    expect(await person.fillIn('/account/address', { email, password: PASSWORD })).toMatchObject(
      redirectTo('/account'),
    );
    return portal.tokenMailedTo(email, 'change');
  }

  const confirm = (token: string, visitor = portal.visitor(), password = PASSWORD) =>
    visitor.fillIn('/confirm-new-address', { token, password });

  it('of an account changes by the link that was mailed to the new one and the password, and the former one is told', async () => {
    const person = await portal.signedUp();
    const email = newAddress();
    const token = await tokenFor(person, email);
    const page = await person.get('/account');
    expect(page.text).toContain('We have sent a link to the new address.');
    expect(page.text).toContain(`<dd>${person.email}`);
    for (const wrong of ['', WRONG])
      expect(await confirm(token, portal.visitor(), wrong)).toMatchObject(refusal('Not your password.'));
    expect(await confirm(token)).toMatchObject(redirectTo('/sign-in'));
    expect((await person.get('/account')).text).toContain(`<dd>${email}`);
    expect(await portal.mailsTo(person.email, 'changed')).toHaveLength(1);
    expect(await confirm(token)).toMatchObject(refusal('<a href="/account">Request another link</a>'));
  });

  it('is guarded by ten guesses at the password of the link’s account, which the account page counts, too', async () => {
    const person = await portal.signedUp();
    const token = await tokenFor(person, newAddress());
    const statuses: number[] = [];
    for (let guess = 0; guess < 11; guess += 1) statuses.push((await confirm(token, portal.visitor(), WRONG)).status);
    expect(statuses).toEqual([...Array<number>(10).fill(422), 429]);
    expect((await person.fillIn('/account/close', { password: WRONG })).status).toBe(429);
    portal.clock.advance(15 * MINUTE);
    expect(await confirm(token)).toMatchObject(redirectTo('/sign-in'));
  });

  it.each([
    ['with a wrong password', newAddress(), WRONG, 'Password: Not your password.'],
    ['for a text that is no address', 'nobody', PASSWORD, 'New e-mail address: Must be an e-mail address'],
  ])('stays %s, and the form keeps what was typed', async (_why, email, password, problem) => {
    const refused = await (await portal.signedUp()).fillIn('/account/address', { email, password });
    expect(refused).toMatchObject(refusal(problem));
    expect(refused.text).toContain(`name="email" type="email" value="${email}"`);
    expect(await portal.mailsTo(email, 'change')).toEqual([]);
  });

  it('whose password was reset shows after signing in what may still use the account, and ends it all', async () => {
    const person = await portal.signedUp();
    const key = await person.issueKey({ name: 'of a stranger' });
    const account = await portal.application.openAccount.execute({ email: person.email });
    const actor = { credentialVersion: account.credentialVersion };
    const webhook = {
      accountId: account.id,
      actor,
      url: 'https://hooks.example.com/stranger',
      types: ['order.placed'],
    };
    await portal.application.createWebhook.execute(webhook);
    const owner = portal.visitor();
    await owner.fillIn('/forgotten-password', { email: person.email });
    const token = await portal.tokenMailedTo(person.email, 'reset');
    await owner.fillIn('/reset-password', { token, password: WRONG });
    const signedIn = await owner.fillIn('/sign-in', { email: person.email, password: WRONG });
    expect(signedIn).toMatchObject(redirectTo('/access'));
    expect((await owner.get('/access')).text).toMatch(/of a stranger[^]*hooks\.example\.com\/stranger/);
    await untilKeyIs(portal, key, 'valid');
    expect(await owner.post('/access/end')).toMatchObject(redirectTo('/keys'));
    await untilKeyIs(portal, key, 'revoked_api_key');
    expect((await owner.get('/access')).text).toContain('no key that works, and no webhook');
  });

  it('is in each form with a password, for password managers', async () => {
    const person = await portal.signedUp();
    const forms = (await person.get('/account')).text.match(/<form[\s\S]*?<\/form>/g) ?? [];
    const withPassword = forms.filter((form) => form.includes('type="password"'));
    expect(withPassword).toHaveLength(3);
    for (const form of withPassword)
      expect(form).toContain(`autocomplete="username" value="${person.email}" readonly hidden`);
  });
});

it('an account that is closed says before what becomes of what it has, and its orders expire', async () => {
  const { authenticate, addAnimal, placeOrder, expireOrders } = portal.application;
  const person = await portal.signedUp();
  const key = await person.issueKey();
  const { account } = await authenticate.execute(key);
  const { id: animalId } = await addAnimal.execute({ name: 'Luna', categoryId: 1n });
  const { id } = await placeOrder.execute({ accountId: account.id, animalId });
  const { text } = await person.get('/account');
  for (const each of ['Webhooks are deleted.', 'Those that wait are still delivered', 'they expire unless'])
    expect(text).toContain(each);
  expect(await person.fillIn('/account/close', { password: PASSWORD })).toMatchObject(redirectTo('/'));
  await untilKeyIs(portal, key, 'revoked_api_key');
  portal.clock.advance(2 * DAY);
  expect((await expireOrders.execute()).expired).toMatchObject([{ id, accountId: account.id }]);
});

describe('the operator’s contact', () => {
  const answering = usePortal({ contact: 'help@example.com' });
  const withoutMail = usePortal({ sendsMail: false, contact: 'https://example.com/help' });

  it('is on the page of the plan', async () => {
    const { text } = await (await answering.signedUp()).get('/plan');
    expect(text).toContain('To change your plan, contact <a href="mailto:help@example.com">us</a>');
    expect((await (await portal.signedUp()).get('/plan')).text).toContain('contact the operator of this service');
  });

  it('is whom to ask about a forgotten password and another address, where no mail can be sent', async () => {
    const { text } = await withoutMail.visitor().get('/forgotten-password');
    expect(text).not.toContain('<form method="post" action="/forgotten-password"');
    expect(text).toContain('Contact <a href="https://example.com/help">');
    const { text: account } = await (await withoutMail.signedUp()).get('/account');
    expect(account).toContain('To change your address, contact <a href="https://example.com/help">us</a>');
    expect(account).not.toContain('action="/account/address"');
  });
});
