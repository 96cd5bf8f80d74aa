import { describe, expect, it } from '@jest/globals';
import { HOUR } from '@adoption-store/domain';
import { PASSWORD, usePortal, type Visitor } from './support/portal-visitor.js';

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

  it('does not change by a link that is an hour old', async () => {
    const person = await portal.signedUp();
    const token = await tokenFor(person, newAddress());
    portal.clock.advance(HOUR);
    expect((await confirm(token)).status).toBe(422);
  });

  it('gets three links an hour', async () => {
    const person = await portal.signedUp();
    for (let link = 0; link < 3; link += 1) await tokenFor(person, newAddress());
    const email = newAddress();
    await tokenFor(person, email);
    expect(mailed(email, 'change')).toEqual([]);
    expect((await person.get('/account')).text).toContain('No e-mail was sent: you have three links that still work.');
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
