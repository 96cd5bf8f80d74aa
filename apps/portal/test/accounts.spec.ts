import { describe, expect, it } from '@jest/globals';
import { createDatabase } from '@adoption-store/test-support';
import { untilKeyIs, usePortal } from './support/portal.js';
import { runPortal } from './support/portal-process.js';
import {
  boxesIn,
  browsersAt,
  PASSWORD,
  type Person,
  redirectTo,
  refusal,
  type Visitor,
} from './support/portal-visitor.js';

const WRONG = 'not the right pass phrase';

const portal = usePortal();

describe('an account that is held to scopes', () => {
  it('shows them', async () => {
    const visitor = await portal.signedUp();
    const shown = async () => /<dt>Scopes<\/dt><dd>([\s\S]*?)<\/dd>/.exec((await visitor.get('/account')).text)?.[1];
    expect(await shown()).toBe('All');
    await portal.application.changeScopes.execute({ email: visitor.email, scopes: ['pets:read', 'orders:read'] });
    expect(await shown()).toMatch(/>pets:read<[\s\S]*>orders:read<[\s\S]*can do no more/);
  });

  it('is neither offered nor allowed to change animals and categories without pets:write', async () => {
    const visitor = await portal.signedUp();
    const { changeScopes, nameCategory, listAnimals, listCategories } = portal.application;
    await nameCategory.execute({ id: 900n, name: 'Lynxes' });
    await changeScopes.execute({ email: visitor.email, scopes: ['pets:read', 'orders:write'] });
    for (const path of ['/catalogue', '/categories'])
      expect((await visitor.get(path)).text).not.toMatch(/Add an animal|Add a category|Rename|Remove/);
    const fields = { name: 'Nobody', categoryId: '1', number: '901' };
    const categories = ['/categories', '/categories/900/name', '/categories/900/remove'];
    for (const path of ['/catalogue', '/catalogue/900', '/catalogue/900/withdraw', ...categories]) {
      const { status, text } = await visitor.post(path, fields);
      expect([path, status]).toEqual([path, 403]);
      expect(text).toMatch(/Not allowed[^]*Contact the operator of this service\./);
    }
    for (const path of categories.slice(1)) expect((await visitor.get(path)).status).toBe(403);
    expect((await listAnimals.execute({ limit: 100 })).items).toEqual([]);
    expect((await listCategories.execute({ limit: 100 })).items).toEqual([{ id: 900n, name: 'Lynxes' }]);
  });
});

it('who signs up with SIGNUP_SCOPES has those scopes, and is offered no others', async () => {
  const database = await createDatabase();
  const { process, origin } = await runPortal(database.url, { SIGNUP_SCOPES: 'orders:read,pets:read' });
  const visitor = await browsersAt(origin).signedUp();
  expect(boxesIn(await visitor.get('/keys'))).toEqual({ offered: ['pets:read', 'orders:read'], checked: [] });
  expect((await visitor.post('/catalogue', { name: 'Luna', categoryId: '1' })).status).toBe(403);
  await process.stop();
  await database.drop();
});

describe('signing up', () => {
  it('says all problems of the form at once, and never shows the password again', async () => {
    const visitor = portal.visitor();
    const { text } = await visitor.fillIn('/sign-up', { email: 'nobody', password: 'short' });
    expect(text).not.toContain('value="short"');
    expect(visitor.cookies.has('session')).toBe(false);
    const summary = /<div class="problems"[\s\S]*?<\/div>/.exec(text)?.[0];
    expect(summary).toMatch(
      /href="#email">E-mail address: Must be[\s\S]*href="#password">Password: Must be at least 12/,
    );
  });

  it('never takes over an existing account', async () => {
    const { email } = await portal.signedUp();
    const visitor = portal.visitor();
    const refused = await visitor.fillIn('/sign-up', { email, password: WRONG });
    expect(refused).toMatchObject(refusal('Already registered. <a href="/sign-in">Sign in?</a>'));
    expect(visitor.cookies.has('session')).toBe(false);
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
      const { status, text } = await visitor.fillIn('/sign-in', { email: tried, password: WRONG });
      expect(visitor.cookies.has('session')).toBe(false);
      return { status, text: text.replaceAll(tried, '').replace(/(name="_csrf" value=")[^"]+/g, '$1') };
    };
    const answer = await attempt(email);
    expect(answer.status).toBe(422);
    expect(await attempt('unknown-1@example.com')).toEqual(answer);
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
    expect((await attacker.get('/account')).location).toBe('/sign-in');
  });

  it.each(['//evil.example', '/%5Cevil.example', '/%09/evil.example', 'https://evil.example', '/..//evil.example'])(
    'never leads to %s',
    async (wanted) => {
      const { email } = await portal.signedUp();
      const visitor = portal.visitor();
      await visitor.get('/sign-in');
      visitor.cookies.set('next', wanted);
      expect((await visitor.post('/sign-in', { email, password: PASSWORD })).location).toBe('/keys');
    },
  );
});

it('no visitor is given a session', async () => {
  const visitor = portal.visitor();
  for (const path of ['/', '/sign-in', '/sign-up']) await visitor.get(path);
  expect([...visitor.cookies.keys()]).toEqual(['csrf']);
});

it('an account can be closed only with its password, with its keys and sessions', async () => {
  const visitor = await portal.signedUp();
  const key = await visitor.issueKey();
  expect((await visitor.fillIn('/account/close', { password: WRONG })).status).toBe(422);
  expect((await visitor.fillIn('/account/close', { password: PASSWORD })).location).toBe('/');
  await untilKeyIs(portal, key, 'revoked_api_key');
  expect((await visitor.get('/keys')).location).toBe('/sign-in');
  expect((await visitor.fillIn('/sign-in', { email: visitor.email, password: PASSWORD })).status).toBe(422);
});

/** A person whose address is proven, by a password reset, and who is signed in. */
async function proven(): Promise<Person> {
  const person = await portal.signedUp();
  await person.fillIn('/forgotten-password', { email: person.email });
  const token = await portal.tokenMailedTo(person.email, 'reset');
  await person.fillIn('/reset-password', { token, password: PASSWORD });
  await person.fillIn('/sign-in', { email: person.email, password: PASSWORD });
  return person;
}

it('the owner is mailed each change of the account and its closing, at the address that the account had', async () => {
  const [owner, next] = [await proven(), 'another pass phrase'];
  const { email } = owner;
  await owner.fillIn('/account/password', { current: PASSWORD, next });
  const key = await owner.issueKey({ name: 'https://evil.example' });
  const [made] = await portal.application.listKeys.execute({ email });
  await owner.fillIn(`/keys/${made?.key.id}/rotate`, { overlap: '0' });
  expect((await owner.fillIn('/account/close', { password: next })).location).toBe('/');
  for (const [kind, about] of [
    ['recovered', undefined],
    ['password', undefined],
    ['key', key.slice(-4)],
    ['rotated', 'evil'],
    ['closed', undefined],
  ] as const) {
    const [mail, ...others] = await portal.mailsTo(email, kind);
    expect(others).toEqual([]);
    expect(mail).toMatchObject({ createdAt: portal.clock.now(), page: '', token: undefined });
    expect(mail?.about ?? '').toContain(about ?? '');
    expect(mail?.about ?? '').not.toMatch(/evil\.example|:\/\/|@/);
  }
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

  const confirm = (token: string) => portal.visitor().fillIn('/confirm-new-address', { token });

  it('of an account changes once the link that was mailed to the new one is used, and the former one is told', async () => {
    const person = await proven();
    const email = newAddress();
    const token = await tokenFor(person, email);
    const page = await person.get('/account');
    expect(page.text).toContain('We have sent a link to the new address.');
    expect(page.text).toContain(`<dd>${person.email}`);
    expect(await confirm(token)).toMatchObject(redirectTo('/sign-in'));
    expect((await person.get('/account')).text).toContain(`<dd>${email}`);
    expect(await portal.mailsTo(person.email, 'changed')).toHaveLength(1);
    expect(await confirm(token)).toMatchObject(refusal('<a href="/account">Request another link</a>'));
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

  it('is not taken from another account, and asking does not tell that there is one', async () => {
    const [person, owner] = [await portal.signedUp(), await portal.signedUp()];
    const token = await tokenFor(person, owner.email);
    expect(await confirm(token)).toMatchObject(refusal('The new address has an account of its own.'));
    for (const each of [owner, person]) expect((await each.get('/account')).text).toContain(each.email);
  });

  it('is proven by the form of the mailed link; opening the page proves nothing', async () => {
    const [visitor, reader] = [await portal.signedUp(), portal.visitor()];
    const [mail, ...others] = await portal.mailsTo(visitor.email, 'proof');
    expect(others).toEqual([]);
    for (const wrong of ['', 'made-up'])
      expect((await reader.fillIn('/confirm-address', { token: wrong })).status).toBe(422);
    expect((await visitor.get('/account')).text).toContain('Not confirmed');
    expect((await visitor.get('/keys')).text).toContain('not confirmed');
    expect(await reader.post('/confirm-address', { token: ` ${mail?.token}\n` })).toMatchObject(redirectTo('/sign-in'));
    for (const path of ['/account', '/keys']) expect((await visitor.get(path)).text).not.toMatch(/not confirmed/i);
    expect((await reader.fillIn('/confirm-address', { token: mail?.token ?? '' })).status).toBe(422);
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

describe('the operator’s contact', () => {
  const answering = usePortal({ contact: 'help@example.com' });
  const withoutMail = usePortal({ sendsMail: false, contact: 'https://example.com/help' });

  it('is on the page of the plan', async () => {
    const { text } = await (await answering.signedUp()).get('/plan');
    expect(text).toContain('To change your plan, contact <a href="mailto:help@example.com">us</a>');
    expect((await (await portal.signedUp()).get('/plan')).text).toContain('contact the operator of this service');
  });

  it('is whom to ask about a forgotten password and another address, where no mail can be sent', async () => {
    const { text } = await withoutMail.visitor().get('/sign-in');
    expect(text).not.toContain('/forgotten-password');
    expect(text).toContain('Forgotten your password? Contact <a href="https://example.com/help">');
    const { text: account } = await (await withoutMail.signedUp()).get('/account');
    expect(account).toContain('To change your address, contact <a href="https://example.com/help">us</a>');
    expect(account).not.toContain('action="/account/address"');
  });
});
