import { describe, expect, it } from '@jest/globals';
import { DAY, MINUTE } from '@adoption-store/domain';
import { connectTo, createDatabase, until } from '@adoption-store/test-support';
import Fastify from 'fastify';
import { BackgroundTasks } from '../src/http/background-tasks.js';
import { untilKeyIs, usePortal } from './support/portal.js';
import { runPortal } from './support/portal-process.js';
import { type Answer, boxesIn, browsersAt, PASSWORD, type Person, type Visitor } from './support/portal-visitor.js';

const WRONG = 'not the right pass phrase';
const NEXT = 'quite another pass phrase';

const portal = usePortal();

async function signIn(visitor: Visitor, email: string, password = WRONG): Promise<number> {
  return (await visitor.fillIn('/sign-in', { email, password })).status;
}

/** An attempt from a new browser with a new address. */
const guess = (email: string, password = WRONG) => signIn(portal.visitor(), email, password);

const resetsTo = (email: string) => portal.mailer.resets.filter((mail) => mail.email === email);

/** Returns the token. The mail is sent after the response. */
async function resetMailedTo(email: string): Promise<string> {
  const before = resetsTo(email).length;
  const visitor = portal.visitor();
  await visitor.fillIn('/forgotten-password', { email });
  await until(() => resetsTo(email).length > before);
  return resetsTo(email).at(-1)?.token ?? '';
}

/** The expected statuses of that many attempts, of which ten are checked. */
const tenJudged = (tries: number) => Array.from({ length: tries }, (_, index) => (index < 10 ? 422 : 429));

async function times<Result>(count: number, work: (index: number) => Promise<Result>): Promise<Result[]> {
  const results = [];
  for (let index = 0; index < count; index += 1) results.push(await work(index));
  return results;
}

/** A person with an account, signed in nowhere. */
async function owner(): Promise<Person> {
  const visitor = await portal.signedUp();
  await visitor.get('/account');
  await visitor.post('/sign-out');
  return visitor;
}

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
    for (const path of ['/catalogue', '/categories']) {
      const page = await visitor.get(path);
      expect(page.status).toBe(200);
      for (const each of ['Add an animal', 'Add a category', 'Rename', 'Remove']) expect(page.text).not.toContain(each);
    }
    const fields = { name: 'Nobody', categoryId: '1', number: '901' };
    const categories = ['/categories', '/categories/900/name', '/categories/900/remove'];
    for (const path of ['/catalogue', '/catalogue/900', '/catalogue/900/withdraw', ...categories]) {
      const refused = await visitor.post(path, fields);
      expect([path, refused.status]).toEqual([path, 403]);
      expect(refused.text).toContain('Not allowed');
      expect(refused.text).toContain('Contact the operator of this service.');
      if (path.startsWith('/categories/')) expect((await visitor.get(path)).status).toBe(403);
    }
    expect((await listAnimals.execute({ limit: 100 })).items).toEqual([]);
    expect((await listCategories.execute({ limit: 100 })).items).toEqual([{ id: 900n, name: 'Lynxes' }]);
    await changeScopes.execute({ email: visitor.email, scopes: ['pets:write'] });
    expect((await visitor.get('/catalogue')).text).toContain('Add an animal');
    expect((await visitor.post('/catalogue', fields)).status).toBe(303);
  });
});

it('who signs up with SIGNUP_SCOPES has those scopes, and is offered no others', async () => {
  const database = await createDatabase();
  const { process, origin } = await runPortal(database.url, { SIGNUP_SCOPES: 'orders:read,pets:read' });
  const visitor = await browsersAt(origin).signedUp();
  const scopes = ['pets:read', 'orders:read'];
  expect(boxesIn(await visitor.get('/keys'))).toEqual({ offered: scopes, checked: [] });
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
    const { status, text } = await visitor.fillIn('/sign-up', { email, password: NEXT });
    expect(status).toBe(422);
    expect(text).toContain('Already registered. <a href="/sign-in">Sign in?</a>');
    expect(visitor.cookies.has('session')).toBe(false);
  });
});

it.each(['/sign-up', '/sign-in', '/forgotten-password'])('%s refuses what is no e-mail address', async (path) => {
  const visitor = portal.visitor();
  const { status, text } = await visitor.fillIn(path, { email: 'nobody', password: PASSWORD });
  expect(status).toBe(422);
  expect(text).toContain('href="#email">E-mail address: Must be an e-mail address, such as dev@example.com.');
});

describe('signing in', () => {
  it('answers a wrong password and an unknown address in the same way', async () => {
    const { email } = await portal.signedUp();
    const answers = [];
    for (const tried of [email, 'unknown-1@example.com']) {
      const visitor = portal.visitor();
      const { status, text } = await visitor.fillIn('/sign-in', { email: tried, password: 'the wrong pass phrase' });
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
    expect((await visitor.get('/catalogue?status=sold')).headers.get('location')).toBe('/sign-in');
    const { headers } = await visitor.fillIn('/sign-in', { email, password: PASSWORD });
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
  expect((await visitor.fillIn('/account/close', { password: PASSWORD })).headers.get('location')).toBe('/');
  await untilKeyIs(portal, key, 'revoked_api_key');
  expect((await visitor.get('/keys')).headers.get('location')).toBe('/sign-in');
  expect(await signIn(visitor, visitor.email, PASSWORD)).toBe(422);
});

describe('the address', () => {
  let addresses = 0;

  const newAddress = () => `new-${(addresses += 1)}@example.com`;
  const mailed = (email: string, kind: 'change' | 'changed') =>
    portal.mailer.delivered.filter((mail) => mail.email === email && mail.kind === kind);

  /** Asks for the change. The token that was mailed to the new address. */
  async function tokenFor(person: Visitor, email: string): Promise<string> {
    const { status, headers } = await person.fillIn('/account/address', { email, password: PASSWORD });
    expect([status, headers.get('location')]).toEqual([303, '/account']);
    return mailed(email, 'change').at(-1)?.token ?? '';
  }

  const confirm = (token: string) => portal.visitor().fillIn('/confirm-new-address', { token });

  it('of an account changes once the link that was mailed to the new one is used, and the former one is told', async () => {
    const person = await portal.signedUp();
    const email = newAddress();
    const token = await tokenFor(person, email);
    const page = await person.get('/account');
    expect(page.text).toContain('We have sent a link to the new address.');
    expect(page.text).toContain(`<dd>${person.email}`);
    const confirmed = await confirm(token);
    expect([confirmed.status, confirmed.headers.get('location')]).toEqual([303, '/sign-in']);
    expect((await person.get('/account')).text).toContain(`<dd>${email}`);
    await portal.application.deliverAccountMails.execute();
    expect(mailed(person.email, 'changed')).toHaveLength(1);
    const spent = await confirm(token);
    expect(spent.status).toBe(422);
    expect(spent.text).toContain('<a href="/account">Request another link</a>');
  });

  it('stays with a wrong password, a text that is no address, and its own address', async () => {
    const person = await portal.signedUp();
    for (const [fields, problem] of [
      [{ email: newAddress(), password: WRONG }, 'Password: Not your password.'],
      [{ email: 'nobody', password: PASSWORD }, 'New e-mail address: Must be an e-mail address'],
      [{ email: 'dev@127.1', password: PASSWORD }, 'New e-mail address: Must have a domain name after the @'],
      [{ email: person.email, password: PASSWORD }, 'New e-mail address: Must not be your present address.'],
    ] as const) {
      const { status, text } = await person.fillIn('/account/address', fields);
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
    for (const each of [owner, person]) expect((await each.get('/account')).text).toContain(each.email);
  });

  it('a form with a password names the account for password managers', async () => {
    const person = await portal.signedUp();
    const forms = (await person.get('/account')).text.match(/<form[\s\S]*?<\/form>/g) ?? [];
    const withPassword = forms.filter((form) => form.includes('type="password"'));
    expect(withPassword).toHaveLength(3);
    for (const form of withPassword)
      expect(form).toContain(`autocomplete="username" value="${person.email}" readonly hidden`);
  });
});

describe('proofs', () => {
  /** The mails with proofs to that address. */
  const proofsTo = (email: string) => portal.mailer.proofs.filter((mail) => mail.email === email);

  it('an address is unproven until the form of the mailed link is sent; opening the page proves nothing', async () => {
    const visitor = await portal.signedUp();
    const [mail, ...others] = proofsTo(visitor.email);
    expect(others).toEqual([]);
    const token = mail?.token ?? '';
    const reader = portal.visitor();
    for (const wrong of ['', 'made-up', await resetMailedTo((await portal.signedUp()).email)])
      expect((await reader.fillIn('/confirm-address', { token: wrong })).status).toBe(422);
    expect((await visitor.get('/account')).text).toContain('Not confirmed');
    expect((await visitor.get('/keys')).text).toContain('not confirmed');
    const { status, headers } = await reader.post('/confirm-address', { token: ` ${token}\n` });
    expect([status, headers.get('location')]).toEqual([303, '/sign-in']);
    expect((await visitor.get('/account')).text).not.toContain('Not confirmed');
    expect((await visitor.get('/keys')).text).not.toContain('not confirmed');
    expect((await reader.fillIn('/confirm-address', { token })).status).toBe(422);
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

describe('a wrong password', () => {
  it('counts against the guessed account, however its address is written and whoever is signed in', async () => {
    const email = `zo\u00eb-${Date.now()}@example.com`;
    await portal.application.signUp.execute({ email, password: PASSWORD });
    const written = [email, email.toUpperCase(), email.replace('z', 'Z'), email.normalize('NFD')];
    const sessions = await times(3, () => portal.signedUp());
    const answers = await times(12, async (index) => {
      const throwaway = sessions[index % 3] ?? portal.visitor();
      await throwaway.get('/account');
      return throwaway.post('/sign-in', { email: written[index % 4] ?? email, password: WRONG });
    });
    expect(answers.map(({ status }) => status)).toEqual(tenJudged(12));
    const refused = answers[10];
    const seconds = Number(refused?.headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(800);
    expect(seconds).toBeLessThanOrEqual(900);
    expect(refused?.text).toContain('The limit is 10 attempts to sign in to one account in 15 minutes.');
    expect(refused?.text).toMatch(/You can try again in 15 min, at <time [^>]*>[^<]* UTC</);
    expect(await guess(email, PASSWORD)).toBe(429);
  });

  it('counts before it is checked: of many concurrent ones, ten at most are checked', async () => {
    const { email } = await owner();
    const visitors = Array.from({ length: 25 }, () => portal.visitor());
    await Promise.all(visitors.map((visitor) => visitor.get('/sign-in')));
    const answers = await Promise.all(visitors.map((visitor) => visitor.post('/sign-in', { email, password: WRONG })));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 422).length).toBeLessThanOrEqual(10);
    // A busy machine may answer 503.
    for (const status of statuses) expect([422, 429, 503]).toContain(status);
  });

  it('counts, and a right one does not', async () => {
    const { email } = await owner();
    await times(9, () => guess(email));
    expect(await times(5, () => guess(email, PASSWORD))).toEqual(Array(5).fill(303));
    expect(await times(2, () => guess(email))).toEqual([422, 429]);
  });

  it('counts in a session too: for changing it and for closing the account together', async () => {
    const visitor = await portal.signedUp();
    const statuses = await times(12, async (index) => {
      await visitor.get('/account');
      const form = index % 2 === 0 ? { current: WRONG, next: NEXT } : { password: WRONG };
      return (await visitor.post(index % 2 === 0 ? '/account/password' : '/account/close', form)).status;
    });
    expect(statuses).toEqual(tenJudged(12));
  });

  it('counts in a session only if it is wrong: a right one beside another wrong field does not', async () => {
    const visitor = await portal.signedUp();
    const statuses = await times(12, async (index) => {
      const form = index % 2 === 0 ? { current: PASSWORD, next: 'short' } : { password: PASSWORD, email: 'nobody' };
      return (await visitor.fillIn(index % 2 === 0 ? '/account/password' : '/account/address', form)).status;
    });
    expect(statuses).toEqual(Array(12).fill(422));
    expect((await visitor.fillIn('/account/close', { password: PASSWORD })).headers.get('location')).toBe('/');
  });
});

describe('no visitor locks another out', () => {
  it('not even by using up a shared address', async () => {
    const visitor = await owner();
    const statuses = await times(61, (index) => signIn(visitor, `nobody-${index}@example.com`, 'x'.repeat(200)));
    expect(statuses.at(-1)).toBe(429);
    expect(await signIn(visitor, visitor.email, PASSWORD)).toBe(303);
  });

  it('a known browser has ten attempts of its own, and only it is then locked', async () => {
    const visitor = await owner();
    expect(await times(11, () => signIn(visitor, visitor.email))).toEqual(tenJudged(11));
    expect(await signIn(visitor, visitor.email, PASSWORD)).toBe(429);
    expect(await guess(visitor.email, PASSWORD)).toBe(303);
    portal.clock.advance(15 * MINUTE);
    expect(await signIn(visitor, visitor.email, PASSWORD)).toBe(303);
  });

  it('the spellings of one address share its attempts, and a browser is known by each', async () => {
    const visitor = await owner();
    const spelt = (index: number) => visitor.email.toUpperCase().replace('@', `@${'\u00ad'.repeat(index)}`);
    expect(await times(11, (index) => guess(spelt(index)))).toEqual(tenJudged(11));
    expect(await signIn(visitor, spelt(3), PASSWORD)).toBe(303);
  });

  it.each([
    ['of another account', async () => (await owner()).cookies.get('device') ?? ''],
    ['that was made up', () => Promise.resolve('1.1.1.aaaaaaaaaaaaaaaaaaaaaa.c2lnbmF0dXJl')],
  ])('a device cookie %s counts nothing apart', async (_what, cookie) => {
    const { email } = await owner();
    const value = await cookie();
    const statuses = await times(12, async () => {
      const visitor = portal.visitor();
      visitor.cookies.set('device', value);
      return signIn(visitor, email);
    });
    expect(statuses).toEqual(tenJudged(12));
  });

  it('a device cookie ends after a year, and when the password changes', async () => {
    const [early, changed] = [await owner(), await owner()];
    portal.clock.advance(366 * DAY);
    const elsewhere = portal.visitor();
    expect(await signIn(elsewhere, changed.email, PASSWORD)).toBe(303);
    await elsewhere.fillIn('/account/password', { current: PASSWORD, next: NEXT });
    for (const { email } of [early, changed]) await times(10, () => guess(email));
    expect(await signIn(early, early.email, PASSWORD)).toBe(429);
    expect(await signIn(changed, changed.email, NEXT)).toBe(429);
    await elsewhere.post('/sign-out');
    expect(await signIn(elsewhere, changed.email, NEXT)).toBe(303);
  });

  it('a reset by mail resets its owner’s count, and makes that browser known', async () => {
    const { email } = await owner();
    await times(10, () => guess(email));
    const token = await resetMailedTo(email);
    const visitor = portal.visitor();
    expect((await visitor.fillIn('/reset-password', { token, password: NEXT })).status).toBe(303);
    expect(await guess(email, NEXT)).toBe(303);
    await times(10, () => guess(email));
    expect(await guess(email, NEXT)).toBe(429);
    expect(await signIn(visitor, email, NEXT)).toBe(303);
  });
});

describe('every form', () => {
  const passing = (answers: readonly Answer[]) => answers.filter(({ status }) => status !== 429).length;

  /** Counted by account: a change of address doesn't help, and other people at the address aren't affected. */
  async function byAccount(path: string, most: number): Promise<void> {
    const [person, other] = [await portal.signedUp(), await portal.signedUp()];
    await person.get('/account');
    const answers = await times(most + 2, (index) => person.from(`2001:db8:3:${index}::1`).post(path));
    expect(passing(answers)).toBe(most);
    await other.get('/account');
    expect((await other.from('2001:db8:3:0::1').post(path)).status).not.toBe(429);
  }

  /** Counted by address, whatever account is named or signed in. Other addresses aren't affected. */
  async function byAddress(path: string): Promise<void> {
    const throwaway = await portal.signedUp();
    await throwaway.get('/account');
    const fields = (index: number) => ({ email: `nobody-${index}@example.com`, password: 'x'.repeat(200), token: 'x' });
    const answers = await times(62, (index) => throwaway.from('2001:db8:4::1').post(path, fields(index)));
    expect(passing(answers)).toBe(60);
    expect((await throwaway.from('2001:db8:5::1').post(path, fields(99))).status).not.toBe(429);
    portal.clock.advance(15 * MINUTE);
  }

  /** Counted by the named account, from any address and any session. */
  async function byNamedAccount(path: string): Promise<void> {
    const { email } = await owner();
    const throwaway = await portal.signedUp();
    await throwaway.get('/account');
    const answers = await times(12, (index) =>
      throwaway.from(`2001:db8:6:${index}::1`).post(path, { email, password: 'x'.repeat(200) }),
    );
    expect(passing(answers)).toBe(10);
    const stranger = { email: `nobody@${path.slice(1)}.example.com`, password: 'x'.repeat(200) };
    expect((await throwaway.from('2001:db8:6:0::1').post(path, stranger)).status).not.toBe(429);
  }

  const both = async (path: string) => {
    await byAddress(path);
    await byNamedAccount(path);
  };
  /** A refused sign-out would keep a session alive. Each needs a session, so the limit on sign-ins bounds it. */
  const bySignIns = () => Promise.resolve();
  const tenByAccount = (path: string) => byAccount(path, 10);
  const thirtyByAccount = (path: string) => byAccount(path, 30);

  const BOUNDS: Readonly<Record<string, (path: string) => Promise<void>>> = {
    '/sign-up': byAddress,
    '/sign-in': both,
    '/sign-out': bySignIns,
    '/forgotten-password': both,
    '/reset-password': byAddress,
    '/confirm-address': byAddress,
    '/confirm-new-address': byAddress,
    '/account/password': tenByAccount,
    '/account/close': tenByAccount,
    '/account/address': tenByAccount,
    '/account/sign-out-everywhere': bySignIns,
    '/account/proof': thirtyByAccount,
    '/keys': thirtyByAccount,
    ...Object.fromEntries(
      ['rotate', 'revoke', 'name', 'disable', 'enable'].map((a) => [`/keys/:id/${a}`, thirtyByAccount]),
    ),
    '/webhooks': thirtyByAccount,
    ...Object.fromEntries(
      ['ping', 'rotate', 'disable', 'enable', 'delete', 'edit', 'recover'].map((a) => [
        `/webhooks/:id/${a}`,
        thirtyByAccount,
      ]),
    ),
    '/webhooks/:id/deliveries/:deliveryId/retry': thirtyByAccount,
    '/catalogue': thirtyByAccount,
    '/catalogue/:id': thirtyByAccount,
    '/catalogue/:id/withdraw': thirtyByAccount,
    '/categories': thirtyByAccount,
    ...Object.fromEntries(['name', 'remove'].map((a) => [`/categories/:id/${a}`, thirtyByAccount])),
  };

  it('has a limit that is tested here', () => {
    expect([...new Set(portal.routes.flatMap(({ method, url }) => (method === 'POST' ? [url] : [])))].sort()).toEqual(
      Object.keys(BOUNDS).sort(),
    );
  });

  it.each(Object.entries(BOUNDS))('%s is bounded', (path, prove) => prove(path));

  it('of one person counts together with all their other forms', async () => {
    const person = await portal.signedUp();
    await person.get('/account');
    const paths = ['/keys/1/revoke', '/keys/1/rotate', '/catalogue'];
    expect(passing(await times(33, (index) => person.post(paths[index % 3] ?? '')))).toBe(30);
    portal.clock.advance(MINUTE);
    expect((await person.post('/keys/1/revoke')).status).toBe(404);
  });
});

describe('a reset request', () => {
  it('is answered before the account is looked up; the mail is sent afterwards', async () => {
    const { email } = await portal.signedUp();
    const visitor = portal.visitor();
    await visitor.get('/forgotten-password');
    const locking = await connectTo(portal.databaseUrl);
    try {
      // No process can read an account until the lock is released.
      await locking.query('BEGIN; LOCK TABLE accounts IN ACCESS EXCLUSIVE MODE');
      for (const asked of [email, 'nobody@example.com']) {
        expect((await visitor.post('/forgotten-password', { email: asked })).status).toBe(200);
      }
      expect(resetsTo(email)).toEqual([]);
    } finally {
      await locking.end();
    }
    await until(() => resetsTo(email).length === 1);
  });
});

describe('a background task', () => {
  function open() {
    const lines: string[] = [];
    const fastify = Fastify({ logger: { level: 'error', stream: { write: (line: string) => lines.push(line) } } });
    return { fastify, tasks: BackgroundTasks.of(fastify), lines };
  }

  it('is done one after another, before closing; a failed task is logged, and the next one still runs', async () => {
    const { fastify, tasks, lines } = open();
    let underWay = 0;
    const seen: number[] = [];
    for (let piece = 0; piece < 3; piece += 1) {
      tasks.add('a reset', async () => {
        underWay += 1;
        await new Promise(setImmediate);
        seen.push(underWay);
        underWay -= 1;
        if (piece === 0) throw new Error('the database is away');
      });
    }
    await fastify.close();
    expect(seen).toEqual([1, 1, 1]);
    expect(lines).toEqual([
      expect.stringMatching(/"task":"a reset".*the database is away.*a background task has failed/),
    ]);
  });

  it('refuses a task while its queue is full, and accepts more once it has room', async () => {
    const { fastify, tasks } = open();
    const nothing = () => Promise.resolve();
    for (let piece = 0; piece < 1_000; piece += 1) tasks.add('a reset', nothing);
    expect(() => {
      tasks.add('a reset', nothing);
    }).toThrow('too many tasks are waiting');
    await fastify.close();
    expect(() => {
      tasks.add('a reset', nothing);
    }).not.toThrow();
  });
});
