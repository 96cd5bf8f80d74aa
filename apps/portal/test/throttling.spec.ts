import { describe, expect, it } from '@jest/globals';
import { DAY, MINUTE } from '@adoption-store/domain';
import { until } from '@adoption-store/test-support';
import { type Answer, PASSWORD, usePortal, type Visitor } from './support/portal-visitor.js';

const portal = usePortal();
const WRONG = 'not the right pass phrase';
const NEXT = 'quite another pass phrase';

/** The expected statuses of that many attempts, of which ten are checked. */
const tenJudged = (tries: number) => Array.from({ length: tries }, (_, index) => (index < 10 ? 422 : 429));

async function signIn(visitor: Visitor, email: string, password = WRONG): Promise<number> {
  await visitor.get('/sign-in');
  return (await visitor.post('/sign-in', { email, password })).status;
}

/** A guess from a new browser with a new address. */
const guess = (email: string, password = WRONG) => signIn(portal.visitor(), email, password);

async function times<Result>(count: number, work: (index: number) => Promise<Result>): Promise<Result[]> {
  const results = [];
  for (let index = 0; index < count; index += 1) results.push(await work(index));
  return results;
}

/** A person with an account, signed in nowhere. */
async function owner(): Promise<Visitor & { readonly email: string }> {
  const visitor = await portal.signedUp();
  await visitor.get('/account');
  await visitor.post('/sign-out');
  return visitor;
}

async function tokenMailedTo(email: string): Promise<string> {
  const mailed = () => portal.mailer.resets.filter((mail) => mail.email === email);
  const before = mailed().length;
  const visitor = portal.visitor();
  await visitor.get('/forgotten-password');
  await visitor.post('/forgotten-password', { email });
  await until(() => mailed().length > before);
  return mailed().at(-1)?.token ?? '';
}

describe('a wrong password', () => {
  it('counts against the guessed account, even while its owner is signed in', async () => {
    const { email } = await owner();
    const sessions = await times(3, () => portal.signedUp());
    const statuses = await times(12, async (index) => {
      const throwaway = sessions[index % 3] ?? portal.visitor();
      await throwaway.get('/account');
      return (await throwaway.post('/sign-in', { email, password: WRONG })).status;
    });
    expect(statuses).toEqual(tenJudged(12));
    expect(await guess(email, PASSWORD)).toBe(429);
  });

  it('counts before it is checked: of forty concurrent ones, ten are checked', async () => {
    const { email } = await owner();
    const visitors = Array.from({ length: 40 }, () => portal.visitor());
    await Promise.all(visitors.map((visitor) => visitor.get('/sign-in')));
    const answers = await Promise.all(visitors.map((visitor) => visitor.post('/sign-in', { email, password: WRONG })));
    expect(answers.map(({ status }) => status).sort()).toEqual(tenJudged(40));
  });

  it('counts however the address is written', async () => {
    const { email } = await owner();
    const written = [email, email.toUpperCase(), email.replace('p', 'P'), email.replace('example', 'EXAMPLE')];
    expect(await times(12, (index) => guess(written[index % 4] ?? email))).toEqual(tenJudged(12));
  });

  it.each([' ', '\t', '\u00a0', '\u200b', '\u0000', '\ufeff', '%20'])(
    'is one of no account with %j around it',
    async (space) => {
      const { email } = await owner();
      for (const text of [space + email, email + space]) expect(await guess(text, PASSWORD)).toBe(422);
    },
  );

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
});

describe('no visitor locks another out', () => {
  it('a browser that has signed in before is counted separately from strangers', async () => {
    const visitor = await owner();
    expect(await times(11, () => guess(visitor.email))).toEqual(tenJudged(11));
    expect(await signIn(visitor, visitor.email, PASSWORD)).toBe(303);
  });

  it('not even by using up a shared address', async () => {
    const visitor = await owner();
    // A text that can't be a password isn't hashed.
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
    await elsewhere.get('/account');
    await elsewhere.post('/account/password', { current: PASSWORD, next: NEXT });
    for (const { email } of [early, changed]) await times(10, () => guess(email));
    expect(await signIn(early, early.email, PASSWORD)).toBe(429);
    expect(await signIn(changed, changed.email, NEXT)).toBe(429);
    await elsewhere.post('/sign-out');
    expect(await signIn(elsewhere, changed.email, NEXT)).toBe(303);
  });

  it('a reset by mail resets its owner’s count, and makes that browser known', async () => {
    const { email } = await owner();
    await times(10, () => guess(email));
    const token = await tokenMailedTo(email);
    const visitor = portal.visitor();
    await visitor.get('/reset-password');
    expect((await visitor.post('/reset-password', { token, password: NEXT })).status).toBe(303);
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

  const BOUNDS: Readonly<Record<string, (path: string) => Promise<void>>> = {
    '/sign-up': byAddress,
    '/sign-in': async (path) => {
      await byAddress(path);
      await byNamedAccount(path);
    },
    // A refused sign-out would keep a session alive. Each needs a session, so the limit on sign-ins bounds it.
    '/sign-out': () => Promise.resolve(),
    '/forgotten-password': async (path) => {
      await byAddress(path);
      await byNamedAccount(path);
    },
    '/reset-password': byAddress,
    '/confirm-address': byAddress,
    '/confirm-new-address': byAddress,
    '/account/proof': (path) => byAccount(path, 30),
    '/account/password': (path) => byAccount(path, 10),
    '/account/close': (path) => byAccount(path, 10),
    '/account/address': (path) => byAccount(path, 10),
    // A refused sign-out would keep sessions alive, as above.
    '/account/sign-out-everywhere': () => Promise.resolve(),
    '/keys': (path) => byAccount(path, 30),
    '/keys/:id/rotate': (path) => byAccount(path, 30),
    '/keys/:id/revoke': (path) => byAccount(path, 30),
    '/keys/:id/name': (path) => byAccount(path, 30),
    '/keys/:id/disable': (path) => byAccount(path, 30),
    '/keys/:id/enable': (path) => byAccount(path, 30),
    '/catalogue': (path) => byAccount(path, 30),
    '/categories': (path) => byAccount(path, 30),
    '/categories/:id/name': (path) => byAccount(path, 30),
    '/categories/:id/remove': (path) => byAccount(path, 30),
  };

  it('has a limit that is tested here', () => {
    expect([...portal.forms].sort()).toEqual(Object.keys(BOUNDS).sort());
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
