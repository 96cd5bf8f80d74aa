import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createApplication, DAY } from '@adoption-store/domain';
import { useApi } from './support/portal-api.js';
import { boxesIn, PASSWORD, usePortal, Visitor } from './support/portal-visitor.js';
import { createDatabase, type TestDatabase, until } from '@adoption-store/test-support';
import { startPortal, type TestPortal } from './support/portal.js';
import { type RunningPortal, runPortal } from './support/portal-process.js';

const portal = usePortal();
const api = useApi(portal);

describe('the page of the account', () => {
  it('shows the scopes that it is held to', async () => {
    const visitor = await portal.signedUp();
    const shown = async () => /<dt>Scopes<\/dt><dd>([\s\S]*?)<\/dd>/.exec((await visitor.get('/account')).text)?.[1];
    expect(await shown()).toMatch(/^\s*<span>All<\/span>\s*$/);
    await portal.application.holdToScopes.execute({ email: visitor.email, scopes: ['pets:read', 'orders:read'] });
    expect(await shown()).toMatch(/>pets:read<[\s\S]*>orders:read<[\s\S]*can do no more/);
  });
});

describe('signing up', () => {
  it('leads to the keys page with a session', async () => {
    const visitor = await portal.signedUp();
    const { status, text } = await visitor.get('/keys');
    expect(status).toBe(200);
    expect(text).toContain(visitor.email);
  });

  it.each([
    ['a short password', { email: 'short@example.com', password: 'short' }, 'at least 12 characters'],
    ['no e-mail address', { email: 'nobody', password: PASSWORD }, 'must be an e-mail address'],
  ])('says what is wrong with %s, and never shows the password again', async (_what, fields, message) => {
    const visitor = portal.visitor();
    await visitor.get('/sign-up');
    const { status, text } = await visitor.post('/sign-up', fields);
    expect(status).toBe(422);
    expect(text.toLowerCase()).toContain(message.toLowerCase());
    expect(text).not.toContain(`value="${fields.password}"`);
    expect(visitor.cookies.has('session')).toBe(false);
  });

  it('says all problems of the form at once', async () => {
    const visitor = portal.visitor();
    await visitor.get('/sign-up');
    const { text } = await visitor.post('/sign-up', { email: 'nobody', password: 'short' });
    const summary = /<div class="problems"[\s\S]*?<\/div>/.exec(text)?.[0];
    expect(summary).toMatch(
      /href="#email">E-mail address: Must be[\s\S]*href="#password">Password: Must be at least 12/,
    );
  });

  it('never takes over an existing account', async () => {
    const { email } = await portal.signedUp();
    const visitor = portal.visitor();
    await visitor.get('/sign-up');
    const { status, text } = await visitor.post('/sign-up', { email, password: 'another long pass phrase' });
    expect(status).toBe(422);
    expect(text).toContain('Already registered. <a href="/sign-in">Sign in?</a>');
    expect(visitor.cookies.has('session')).toBe(false);
  });
});

it.each(['/sign-up', '/sign-in', '/forgotten-password'])('%s refuses what is no e-mail address', async (path) => {
  const visitor = portal.visitor();
  await visitor.get(path);
  const { status, text } = await visitor.post(path, { email: 'nobody', password: PASSWORD });
  expect(status).toBe(422);
  expect(text).toContain('href="#email">E-mail address: Must be an e-mail address, such as dev@example.com.');
});

describe('signing in', () => {
  it('answers a wrong password and an unknown address in the same way', async () => {
    const { email } = await portal.signedUp();
    const answers = [];
    for (const tried of [email, 'unknown-1@example.com']) {
      const visitor = portal.visitor();
      await visitor.get('/sign-in');
      const { status, text } = await visitor.post('/sign-in', { email: tried, password: 'the wrong pass phrase' });
      answers.push({ status, text: text.replaceAll(tried, '').replace(/(name="_csrf" value=")[^"]+/g, '$1') });
      expect(visitor.cookies.has('session')).toBe(false);
    }
    expect(answers[0]?.status).toBe(422);
    expect(answers[1]).toEqual(answers[0]);
  });

  it('begins a session with a new id, and ends the browser’s previous one', async () => {
    const { email } = await portal.signedUp();
    const attacker = await portal.signedUp();
    const planted = attacker.cookies.get('session') ?? '';
    const victim = portal.visitor();
    victim.cookies.set('session', planted);
    await victim.get('/account');
    expect((await victim.post('/sign-in', { email, password: PASSWORD })).status).toBe(303);
    expect(victim.cookies.get('session')).not.toBe(planted);
    expect((await victim.get('/account')).text).toContain(email);
    expect((await attacker.get('/account')).headers.get('location')).toBe('/sign-in');
  });

  it('leads to the requested page', async () => {
    const { email } = await portal.signedUp();
    const visitor = portal.visitor();
    const refused = await visitor.get('/catalogue?status=sold');
    expect([refused.status, refused.headers.get('location')]).toEqual([303, '/sign-in']);
    await visitor.get('/sign-in');
    const { headers } = await visitor.post('/sign-in', { email, password: PASSWORD });
    expect(headers.get('location')).toBe('/catalogue?status=sold');
  });

  it.each(['//evil.example', '/%5Cevil.example', '/%09/evil.example', 'https://evil.example', '/..//evil.example'])(
    'never leads to %s',
    async (wanted) => {
      const { email } = await portal.signedUp();
      const visitor = portal.visitor();
      await visitor.get('/sign-in');
      visitor.cookies.set('next', wanted);
      const { headers } = await visitor.post('/sign-in', { email, password: PASSWORD });
      expect(headers.get('location')).toBe('/keys');
    },
  );

  it('is refused for a while after ten attempts at one account from anywhere, and says for how long', async () => {
    const { email } = await portal.signedUp();
    const answers = [];
    for (let attempt = 0; attempt < 11; attempt += 1) {
      const visitor = portal.visitor();
      await visitor.get('/sign-in');
      answers.push(await visitor.post('/sign-in', { email, password: 'x' }));
    }
    expect(answers.slice(0, 10).map(({ status }) => status)).toEqual(Array(10).fill(422));
    expect(answers[10]?.status).toBe(429);
    const seconds = Number(answers[10]?.headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(800);
    expect(seconds).toBeLessThanOrEqual(900);
    expect(answers[10]?.text).toContain('The limit is 10 attempts to sign in to one account in 15 minutes.');
    expect(answers[10]?.text).toMatch(/You can try again in 15 minutes, at <time [^>]*>[^<]* UTC</);
  });
});

describe('a session', () => {
  it('ends at sign-out, even for holders of its cookie', async () => {
    const visitor = await portal.signedUp();
    const session = visitor.cookies.get('session') ?? '';
    await visitor.get('/account');
    expect((await visitor.post('/sign-out')).headers.get('location')).toBe('/');
    expect(visitor.cookies.has('session')).toBe(false);
    visitor.cookies.set('session', session);
    expect((await visitor.get('/keys')).headers.get('location')).toBe('/sign-in');
  });

  it('is never given to visitors', async () => {
    const visitor = portal.visitor();
    for (const path of ['/', '/sign-in', '/sign-up']) await visitor.get(path);
    expect([...visitor.cookies.keys()]).toEqual(['csrf']);
  });
});

describe('an account', () => {
  it('can be closed only with its password, with its keys and sessions', async () => {
    const visitor = await portal.signedUp();
    const key = await visitor.issueKey();
    await visitor.get('/account');
    expect((await visitor.post('/account/close', { password: 'the wrong pass phrase' })).status).toBe(422);
    const call = () => fetch(`${api.origin}/v1/pets?status=available`, { headers: { authorization: `Bearer ${key}` } });
    expect((await call()).status).toBe(200);
    expect((await visitor.post('/account/close', { password: PASSWORD })).headers.get('location')).toBe('/');
    expect((await call()).status).toBe(401);
    expect((await visitor.get('/keys')).headers.get('location')).toBe('/sign-in');
    await visitor.get('/sign-in');
    expect((await visitor.post('/sign-in', { email: visitor.email, password: PASSWORD })).status).toBe(422);
  });
});

describe('the address', () => {
  const portal = usePortal();
  let addresses = 0;

  const newAddress = () => `new-${(addresses += 1)}@example.com`;
  const mailed = (email: string, kind: 'change' | 'changed') =>
    portal.mailer.delivered.filter((mail) => mail.email === email && mail.kind === kind);

  /** Asks for the change. The token that was mailed to the new address. */
  async function tokenFor(person: Visitor, email: string): Promise<string> {
    await person.get('/account');
    const { status, headers } = await person.post('/account/address', { email, password: PASSWORD });
    expect([status, headers.get('location')]).toEqual([303, '/account']);
    return mailed(email, 'change').at(-1)?.token ?? '';
  }

  async function confirm(token: string, browser: Visitor = portal.visitor()) {
    await browser.get('/confirm-new-address');
    return browser.post('/confirm-new-address', { token });
  }

  async function signIn(email: string): Promise<number> {
    const browser = portal.visitor();
    await browser.get('/sign-in');
    return (await browser.post('/sign-in', { email, password: PASSWORD })).status;
  }

  describe('the address of an account', () => {
    it('changes once the link that was mailed to the new one is used, and the former one is told', async () => {
      const person = await portal.signedUp();
      const email = newAddress();
      const token = await tokenFor(person, email);
      const page = await person.get('/account');
      expect(page.text).toContain('We have sent a link to the new address.');
      expect(page.text).toContain(`<dd>${person.email}`);
      const confirmed = await confirm(token);
      expect([confirmed.status, confirmed.headers.get('location')]).toEqual([303, '/sign-in']);
      expect((await person.get('/account')).text).toContain(`<dd>${email}`);
      expect([await signIn(email), await signIn(person.email)]).toEqual([303, 422]);
      await portal.application.deliverAccountMails.execute();
      expect(mailed(person.email, 'changed')).toHaveLength(1);
      const spent = await confirm(token);
      expect(spent.status).toBe(422);
      expect(spent.text).toContain('<a href="/account">Request another link</a>');
    });

    it('stays with a wrong password, a text that is no address, and its own address', async () => {
      const person = await portal.signedUp();
      for (const [fields, problem] of [
        [{ email: newAddress(), password: 'the wrong pass phrase' }, 'Password: Not your password.'],
        [{ email: 'nobody', password: 'the wrong pass phrase' }, 'Password: Not your password.'],
        [{ email: 'nobody', password: PASSWORD }, 'New e-mail address: Must be an e-mail address'],
        [{ email: person.email, password: PASSWORD }, 'New e-mail address: Must not be your present address.'],
      ] as const) {
        await person.get('/account');
        const { status, text } = await person.post('/account/address', fields);
        expect(status).toBe(422);
        expect(text).toContain(problem);
        expect(text).toContain(`name="email" type="email" value="${fields.email}"`);
        expect(mailed(fields.email, 'change')).toEqual([]);
      }
    });

    it('is not taken from another account, and asking does not tell that there is one', async () => {
      const [person, owner] = [await portal.signedUp(), await portal.signedUp()];
      const refused = await confirm(await tokenFor(person, owner.email));
      expect(refused.status).toBe(422);
      expect(refused.text).toContain('The new address has an account of its own.');
      expect((await owner.get('/account')).text).toContain(owner.email);
      expect((await person.get('/account')).text).toContain(person.email);
    });
  });

  describe('signing out everywhere', () => {
    it('ends all sessions of the account, and no other', async () => {
      const [person, bystander] = [await portal.signedUp(), await portal.signedUp()];
      const elsewhere = portal.visitor();
      await elsewhere.get('/sign-in');
      await elsewhere.post('/sign-in', { email: person.email, password: PASSWORD });
      const session = person.cookies.get('session') ?? '';
      await person.get('/account');
      const { status, headers } = await person.post('/account/sign-out-everywhere');
      expect([status, headers.get('location')]).toEqual([303, '/']);
      expect((await person.get('/')).text).toContain('You are signed out on all devices.');
      person.cookies.set('session', session);
      for (const browser of [person, elsewhere])
        expect((await browser.get('/account')).headers.get('location')).toBe('/sign-in');
      expect((await bystander.get('/account')).status).toBe(200);
      expect(await signIn(person.email)).toBe(303);
    });
  });

  describe('a form with a password', () => {
    it('names the account for password managers', async () => {
      const person = await portal.signedUp();
      const { text } = await person.get('/account');
      const forms = text.match(/<form[\s\S]*?<\/form>/g) ?? [];
      const withPassword = forms.filter((form) => form.includes('type="password"'));
      expect(withPassword).toHaveLength(3);
      for (const form of withPassword)
        expect(form).toContain(`autocomplete="username" value="${person.email}" readonly hidden`);
    });
  });
});

describe('proofs', () => {
  const OWNERS = 'the owner’s own pass phrase';
  const portal = usePortal();
  const api = useApi(portal);

  /** The mails with proofs to that address. */
  const proofsTo = (email: string) => portal.mailer.proofs.filter((mail) => mail.email === email);

  async function answerTo(key: string, path = '/v1/pets', init: RequestInit = {}) {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const response = await fetch(api.origin + path, { ...init, headers });
    return { status: response.status, body: (await response.json()) as { readonly code?: string } };
  }

  /** Returns the token. The mail is sent after the response. */
  async function resetMailedTo(email: string): Promise<string> {
    const visitor = portal.visitor();
    const before = portal.mailer.resets.length;
    await visitor.get('/forgotten-password');
    await visitor.post('/forgotten-password', { email });
    await until(() => portal.mailer.resets.slice(before).some((mail) => mail.email === email));
    return portal.mailer.resets.findLast((mail) => mail.email === email)?.token ?? '';
  }

  async function reset(email: string, password = OWNERS): Promise<Visitor> {
    const owner = portal.visitor();
    const token = await resetMailedTo(email);
    await owner.get('/reset-password');
    expect((await owner.post('/reset-password', { token, password })).status).toBe(303);
    await owner.get('/sign-in');
    expect((await owner.post('/sign-in', { email, password })).status).toBe(303);
    return owner;
  }

  describe('an account that a stranger opened with another person’s address', () => {
    it('belongs only to the owner after a password reset: earlier keys, sessions and links are void', async () => {
      const stranger = await portal.signedUp();
      const key = await stranger.issueKey();
      expect((await answerTo(key)).status).toBe(200);
      const owner = await reset(stranger.email);
      expect(await answerTo(key)).toMatchObject({ status: 401, body: { code: 'revoked_api_key' } });
      expect((await stranger.get('/keys')).headers.get('location')).toBe('/sign-in');
      const { text } = await owner.get('/account');
      expect(text).not.toContain('Not confirmed');
      const [mail] = proofsTo(stranger.email);
      await owner.get('/confirm-address');
      expect((await owner.post('/confirm-address', { token: mail?.token ?? '' })).status).toBe(422);
    });

    it('never reads or cancels the owner’s orders with an earlier key, even one in constant use', async () => {
      const stranger = await portal.signedUp();
      const key = await stranger.issueKey();
      const owner = await reset(stranger.email);
      const own = await owner.issueKey();
      const animal = { name: 'Luna', categoryId: 1 };
      const added = await answerTo(own, '/v1/pets', { method: 'POST', body: JSON.stringify(animal) });
      const placed = await answerTo(own, '/v1/store/orders', {
        method: 'POST',
        body: JSON.stringify({ petId: (added.body as { id?: number }).id }),
      });
      expect(placed.status).toBe(201);
      const { id } = placed.body as { id?: number };
      expect((await answerTo(key, `/v1/store/orders/${id}`)).status).toBe(401);
      expect((await answerTo(key, `/v1/store/orders/${id}/cancel`, { method: 'POST' })).status).toBe(401);
      expect((await answerTo(own, `/v1/store/orders/${id}`)).body).toMatchObject({ status: 'placed' });
    });
  });

  describe('an address', () => {
    it('is unproven until the form of the mailed link is sent; opening the page proves nothing', async () => {
      const visitor = await portal.signedUp();
      const [mail, ...others] = proofsTo(visitor.email);
      expect(others).toEqual([]);
      const reader = portal.visitor();
      expect((await reader.get('/confirm-address')).status).toBe(200);
      expect((await visitor.get('/account')).text).toContain('Not confirmed');
      expect((await visitor.get('/keys')).text).toContain('not confirmed');
      const { status, headers } = await reader.post('/confirm-address', { token: ` ${mail?.token ?? ''}\n` });
      expect([status, headers.get('location')]).toEqual([303, '/sign-in']);
      expect((await visitor.get('/account')).text).not.toContain('Not confirmed');
      expect((await visitor.get('/keys')).text).not.toContain('not confirmed');
      await reader.get('/confirm-address');
      expect((await reader.post('/confirm-address', { token: mail?.token ?? '' })).status).toBe(422);
    });

    it('is not proven by an invented, empty or old token, or by another account’s reset', async () => {
      const visitor = await portal.signedUp();
      const { email } = await portal.signedUp();
      const token = proofsTo(visitor.email)[0]?.token ?? '';
      const resetting = await resetMailedTo(email);
      for (const wrong of ['', 'made-up', resetting]) {
        await visitor.get('/confirm-address');
        expect((await visitor.post('/confirm-address', { token: wrong })).status).toBe(422);
      }
      portal.clock.advance(DAY);
      const reader = portal.visitor();
      await reader.get('/confirm-address');
      expect((await reader.post('/confirm-address', { token })).status).toBe(422);
      expect(
        (await portal.application.listAccounts.execute()).find((each) => each.email === email)?.provenAt,
      ).toBeUndefined();
    });
  });

  it('issues no key to a session whose password was reset while its form was in progress', async () => {
    const { email } = await portal.signedUp();
    const before = (await portal.application.listAccounts.execute()).find((each) => each.email === email);
    if (before === undefined) throw new Error('there is no account');
    const owner = await reset(email);
    const { id: accountId, credentialVersion } = before;
    await expect(portal.application.issueKey.execute({ accountId, credentialVersion })).rejects.toMatchObject({
      code: 'not_found',
    });
    expect(await owner.issueKey()).not.toBe('');
  });
});

describe('the operator’s contact', () => {
  const portal = usePortal({ contact: 'help@example.com' });
  const nameless = usePortal();
  let withoutMail: TestPortal;

  beforeAll(async () => {
    const { ports, clock } = portal;
    withoutMail = await startPortal({
      application: createApplication({ ...ports, clock }),
      clock,
      contact: 'https://example.com/help',
    });
  });
  afterAll(() => withoutMail.close());

  it('the page of the plan names the operator’s contact', async () => {
    const { text } = await (await portal.signedUp()).get('/plan');
    expect(text).toContain('To change your plan, contact <a href="mailto:help@example.com">us</a>');
    expect((await (await nameless.signedUp()).get('/plan')).text).toContain('contact the operator of this service');
  });

  it('where no mail can be sent, signing in says whom to ask about a forgotten password', async () => {
    const { text } = await new Visitor(withoutMail.origin, '2001:db8::1').get('/sign-in');
    expect(text).not.toContain('/forgotten-password');
    expect(text).toContain('Forgotten your password? Contact <a href="https://example.com/help">');
  });

  it('where no mail can be sent, the account says whom to ask for another address', async () => {
    const person = await portal.signedUp();
    const elsewhere = new Visitor(withoutMail.origin, '2001:db8::1');
    elsewhere.cookies.set('session', person.cookies.get('session') ?? '');
    const { text } = await elsewhere.get('/account');
    expect(text).toContain('To change your address, contact <a href="https://example.com/help">us</a>');
    expect(text).not.toContain('action="/account/address"');
  });
});

describe('the scopes of the deployment', () => {
  let database: TestDatabase;
  let portal: RunningPortal;
  beforeAll(async () => {
    database = await createDatabase();
    portal = await runPortal(database.url, { SIGNUP_SCOPES: 'orders:read,pets:read' });
  });
  afterAll(async () => {
    await portal.process.stop();
    await database.drop();
  });

  it('who signs up has the scopes of SIGNUP_SCOPES, and is offered no others', async () => {
    const visitor = new Visitor(portal.origin, '');
    await visitor.get('/sign-up');
    await visitor.post('/sign-up', { email: 'person@example.com', password: PASSWORD });
    expect(boxesIn(await visitor.get('/keys'))).toEqual({
      offered: ['pets:read', 'orders:read'],
      checked: ['pets:read', 'orders:read'],
    });
    expect((await visitor.post('/catalogue', { name: 'Luna', categoryId: '1' })).status).toBe(403);
    expect((await visitor.get('/catalogue')).text).not.toContain('Luna');
  });
});
