import { describe, expect, it } from '@jest/globals';
import { DAY, MINUTE } from '@adoption-store/domain';
import { connectTo } from '@adoption-store/test-support';
import { usePortal } from './support/portal.js';
import { type Answer, PASSWORD, type Person, type Visitor } from './support/portal-visitor.js';

const WRONG = 'not the right pass phrase';
const NEXT = 'quite another pass phrase';

const portal = usePortal();

async function signIn(visitor: Visitor, email: string, password = WRONG): Promise<number> {
  return (await visitor.fillIn('/sign-in', { email, password })).status;
}

/** An attempt from a new browser with a new address. */
const guess = (email: string, password = WRONG) => signIn(portal.visitor(), email, password);

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

describe('a wrong password', () => {
  it('counts against the guessed account, however its address is written and whoever is signed in', async () => {
    const email = `zo\u00eb-${Date.now()}@example.com`;
    await portal.signedUp(email);
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
    expect(refused?.text).toContain('<a href="/forgotten-password">Set a new one by e-mail</a>');
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

  it('counts in a session only if it is wrong: a right one beside another wrong field does not', async () => {
    const visitor = await portal.signedUp();
    const statuses = await times(12, async (index) => {
      const form = index % 2 === 0 ? { current: PASSWORD, next: 'short' } : { password: PASSWORD, email: 'nobody' };
      return (await visitor.fillIn(index % 2 === 0 ? '/account/password' : '/account/address', form)).status;
    });
    expect(statuses).toEqual(Array(12).fill(422));
    expect((await visitor.fillIn('/account/close', { password: PASSWORD })).location).toBe('/');
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

  it('a browser is known by each spelling of its owner’s address', async () => {
    const visitor = await owner();
    await times(10, () => guess(visitor.email));
    expect(await signIn(visitor, visitor.email.toUpperCase().replace('@', '@\u00ad'), PASSWORD)).toBe(303);
  });

  it.each([
    ['of another account', async () => (await owner()).cookies.get('adoption-store-device') ?? ''],
    ['that was made up', () => Promise.resolve('1.1.1.aaaaaaaaaaaaaaaaaaaaaa.c2lnbmF0dXJl')],
  ])('a device cookie %s counts nothing apart', async (_what, cookie) => {
    const { email } = await owner();
    const value = await cookie();
    const statuses = await times(12, async () => {
      const visitor = portal.visitor();
      visitor.cookies.set('adoption-store-device', value);
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
    const visitor = portal.visitor();
    await visitor.fillIn('/forgotten-password', { email });
    const token = await portal.tokenMailedTo(email, 'reset');
    expect((await visitor.fillIn('/reset-password', { token, password: NEXT })).status).toBe(303);
    expect(await guess(email, NEXT)).toBe(303);
    await times(10, () => guess(email));
    expect(await guess(email, NEXT)).toBe(429);
    expect(await signIn(visitor, email, NEXT)).toBe(303);
  });
});

describe('every form', () => {
  const passing = (answers: readonly Answer[]) => answers.filter(({ status }) => status !== 429).length;

  /** The forms that are counted otherwise than all forms of a signed-in person. */
  const OTHERWISE: Readonly<Record<string, readonly ((path: string) => Promise<void>)[]>> = {
    // Its mails have a limit of their own.
    '/sign-up': [byAddress],
    '/sign-in': [byAddress, byNamedAccount],
    '/forgotten-password': [byAddress, byNamedAccount],
    '/reset-password': [byAddress],
    '/finish-sign-up': [byAddress],
    '/confirm-new-address': [byAddress],
    '/account/password': [tenByAccount],
    '/account/close': [tenByAccount],
    '/account/address': [tenByAccount],
    // A refused sign-out would keep a session alive. Each needs a session, so the limit on sign-ins bounds it.
    '/sign-out': [],
    '/account/sign-out-everywhere': [],
  };

  /** Counted by account: a change of address doesn't help, and other people at the address aren't affected. */
  async function tenByAccount(path: string): Promise<void> {
    const [person, other] = [await portal.signedUp(), await portal.signedUp()];
    await person.get('/account');
    const answers = await times(12, (index) => person.from(`2001:db8:3:${index}::1`).post(path));
    expect(passing(answers)).toBe(10);
    await other.get('/account');
    expect((await other.from('2001:db8:3:0::1').post(path)).status).not.toBe(429);
  }

  /** Counted by address, whatever account is named or signed in. Other addresses aren't affected. */
  async function byAddress(path: string): Promise<void> {
    const throwaway = await portal.signedUp();
    await throwaway.get('/account');
    // What is no address is mailed nothing, which has another limit.
    const host = path === '/sign-up' ? '' : '@example.com';
    const fields = (index: number) => ({ email: `nobody-${index}${host}`, password: 'x'.repeat(200), token: 'x' });
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

  it.each(Object.entries(OTHERWISE))('%s is bounded', async (path, proofs) => {
    for (const prove of proofs) await prove(path);
  });

  it('of a signed-in person counts: thirty in a minute, whichever they are', async () => {
    const posts = portal.routes.flatMap(({ method, url }) => (method === 'POST' ? [url] : []));
    const paths = posts.filter((path) => !(path in OTHERWISE));
    expect(paths.length).toBeGreaterThan(20);
    const person = await portal.signedUp();
    await person.get('/account');
    const other = ['/keys/1/revoke', '/catalogue'];
    expect(passing(await times(32, (index) => person.post(other[index % 2] ?? '')))).toBe(30);
    for (const path of paths) expect([path, (await person.post(path)).status]).toEqual([path, 429]);
    portal.clock.advance(MINUTE);
    expect((await person.post('/keys/1/revoke')).status).toBe(404);
  });
});

it('a reset request is answered before the account is looked up; the mail is sent afterwards', async () => {
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
  } finally {
    await locking.end();
  }
  expect(await portal.tokenMailedTo(email, 'reset')).not.toBe('');
});
