import { describe, expect, it } from '@jest/globals';
import { HOUR, MINUTE } from '@adoption-store/domain';
import { createPortal } from '../src/create-portal.js';
import { keysFor, type Purpose, signerFor } from '../src/http/secrets.js';
import { usePortal } from './support/portal.js';
import { type Answer, browsersAt, PASSWORD, type Person, type Visitor } from './support/portal-visitor.js';

const ANIMAL = { name: 'Bella <b>', categoryId: '9', status: 'pending' };
const NEXT = 'quite another pass phrase';
const [OLD, NEW] = ['the former secret of 32 characters', 'the newer secret, of 32 characters'];

const portal = usePortal({ secrets: [OLD] });
const gone = usePortal();

const signIn = (person: Person, password = PASSWORD) => person.post('/sign-in', { email: person.email, password });

const animals = async () => {
  const { items } = await portal.application.listAnimals.execute({ limit: 100 });
  return items.map(({ name }) => name);
};

const ENDS = {
  'after 30 minutes without use': async () => {
    portal.clock.advance(30 * MINUTE);
  },
  'by signing out in another tab': async (person: Person) => {
    const form = person.token;
    await person.get('/account');
    await person.post('/sign-out');
    person.token = form;
  },
  'by a password that was changed elsewhere': async ({ email }: Person) => {
    const other = portal.visitor();
    await other.fillIn('/sign-in', { email, password: PASSWORD });
    await other.fillIn('/account/password', { current: PASSWORD, next: NEXT });
  },
};

describe('a form that is sent after its session has ended', () => {
  it.each(Object.entries(ENDS))(
    '%s, does nothing and is not shown again; signing in leads back to its page',
    async (how, end) => {
      const person = await portal.signedUp();
      await person.get('/catalogue');
      await end(person);
      const told = await person.post('/catalogue?status=sold', ANIMAL);
      expect(told.status).toBe(403);
      expect(told.text).toContain('<h1>You have been signed out</h1>');
      expect(told.text).toContain('Your form was not saved.');
      expect(told.text).not.toContain('Bella');
      const { status, headers } = await signIn(person, how.includes('password') ? NEXT : PASSWORD);
      expect([status, headers.get('location')]).toEqual([303, '/catalogue?status=sold']);
      expect(await animals()).not.toContain(ANIMAL.name);
    },
  );
});

describe('after its session has ended', () => {
  it('a page says so, and comes back after signing in', async () => {
    const person = await portal.signedUp();
    portal.clock.advance(30 * MINUTE);
    expect((await person.get('/catalogue?status=sold')).headers.get('location')).toBe('/sign-in');
    expect((await person.get('/sign-in')).text).toContain('You have been signed out. This happens after 30 minutes');
    expect((await signIn(person)).headers.get('location')).toBe('/catalogue?status=sold');
  });

  it('the warning leads to the page around a form that was refused', async () => {
    const person = await portal.signedUp();
    const linkIn = ({ text }: Answer) => /data-when="over" href="([^"]*)"/.exec(text)?.[1];
    expect(linkIn(await person.get('/catalogue?status=sold'))).toBe('/catalogue?status=sold');
    expect(linkIn(await person.fillIn('/account/password', { current: 'wrong', next: PASSWORD }))).toBe('/account');
    expect(linkIn(await person.get('//evil.example/keys'))).toBe('/');
  });
});

describe('asking for the session', () => {
  it('makes it last another half hour, and tells what is left of both', async () => {
    const person = await portal.signedUp();
    const times = async () => JSON.parse((await person.get('/session')).text) as unknown;
    expect(await times()).toEqual({ left: 30 * MINUTE, most: 12 * HOUR });
    portal.clock.advance(28 * MINUTE);
    expect(await times()).toEqual({ left: 30 * MINUTE, most: 12 * HOUR - 28 * MINUTE });
    portal.clock.advance(30 * MINUTE);
    for (const each of [person, portal.visitor()]) expect((await each.get('/session')).status).toBe(401);
  });

  it('is allowed to scripts only on pages of a session', async () => {
    const policy = ({ headers }: Answer) => headers.get('content-security-policy');
    const person = await portal.signedUp();
    expect(policy(await person.get('/keys'))).toMatch(/;connect-src 'self'$/);
    expect(policy(await portal.visitor().get('/'))).not.toContain('connect-src');
  });
});

describe('what ends sessions', () => {
  /** The actions that end a person's sessions. The browser that does it may continue with a new session. */
  const ENDS = {
    'signing out': (person: Person) => person.post('/sign-out'),
    'signing out everywhere': (person: Person) => person.post('/account/sign-out-everywhere'),
    'changing the password': (person: Person) => person.post('/account/password', { current: PASSWORD, next: NEXT }),
    'resetting the password': async ({ email }: Person) => {
      const owner = portal.visitor();
      await portal.application.requestPasswordReset.execute({ email });
      const token = portal.mailer.resets.findLast((mail) => mail.email === email)?.token ?? '';
      return owner.fillIn('/reset-password', { token, password: NEXT });
    },
  } as const;

  /** Another tab of the same browser. */
  function tabOf(person: Person): Visitor {
    const tab = portal.visitor();
    for (const [name, value] of person.cookies) tab.cookies.set(name, value);
    tab.token = person.token;
    return tab;
  }

  /** A form that is sent completely only by calling what is returned. */
  function slowForm(tab: Visitor, path: string): () => Promise<unknown> {
    const form = new URLSearchParams({ _csrf: tab.token, name: 'slow', scopes: 'pets:read' }).toString();
    const { readable: body, writable } = new TextEncoderStream();
    const writer = writable.getWriter();
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const answered = tab.send(path, { method: 'POST', headers, body, duplex: 'half' });
    void writer.write(form.slice(0, 10));
    return () => Promise.all([writer.write(form.slice(10)), writer.close(), answered]);
  }

  /** The sessions that wrongly still work after that end, while others of the person's requests are under way. */
  async function survivors(kind: keyof typeof ENDS, person: Person): Promise<readonly number[]> {
    const tabs = Array.from({ length: 6 }, () => tabOf(person));
    const [first, second, third, form, password, slow] = tabs as [Visitor, Visitor, Visitor, Visitor, Visitor, Visitor];
    const before = person.cookies.get('session') ?? '';
    const finish = slowForm(slow, '/keys');
    const signingIn = portal.visitor();
    await signingIn.get('/sign-in');
    const [ended] = await Promise.all([
      ENDS[kind](person),
      first.get('/keys'),
      second.get('/account'),
      third.get('/plan'),
      form.post('/keys', { name: 'laptop', scopes: 'pets:read' }),
      password.post('/account/password', { current: 'the wrong pass phrase', next: NEXT }),
      kind.startsWith('signing out')
        ? undefined
        : signingIn.post('/sign-in', { email: person.email, password: PASSWORD }),
    ]);
    await finish();
    expect(ended.status).toBe(303);
    if (kind === 'changing the password') {
      expect(person.cookies.get('session')).not.toBe(before);
      expect((await person.get('/account')).status).toBe(200);
    }
    const given = [...tabs, signingIn].flatMap(({ cookies }) => cookies.get('session') ?? []);
    const statuses: number[] = [];
    for (const session of new Set([before, ...given])) {
      const other = portal.visitor();
      other.cookies.set('session', session);
      statuses.push((await other.get('/account')).status);
    }
    return statuses.filter((status) => status !== 303);
  }

  it.each(
    (Object.keys(ENDS) as (keyof typeof ENDS)[]).flatMap((kind) => [[kind, MINUTE] as const, [kind, 0] as const]),
  )('%s is final %d ms after its last use: nothing that was under way brings it back', async (kind, idle) => {
    const person = await portal.signedUp();
    await person.get('/account');
    portal.clock.advance(idle);
    expect(await survivors(kind, person)).toEqual([]);
  });
});

describe('cookies', () => {
  /** RFC 9111 §3: whether a cache may store the response, because no-store is missing. */
  const isStorable = (headers: Headers) => !/\bno-store\b/.test(headers.get('cache-control') ?? '');

  it('no answer of any route that a cache may keep has one, a minute after the session was used', async () => {
    const person = await portal.signedUp();
    const { text } = await person.get('/account');
    const files = [...text.matchAll(/(?:href|src)="(\/public\/[^"]+)"/g)].map(([, address = '']) => address);
    expect(files).toHaveLength(3);
    const routes = [
      ...portal.routes.map(({ method, url }) => ({ method, url: url.replace(/:[^/]+/g, '1') })),
      ...[...files, '/nowhere'].map((url) => ({ method: 'GET', url })),
    ];
    expect(routes.length).toBeGreaterThan(40);
    const session = [...person.cookies];
    const found = [];
    for (const { method, url } of routes.filter((route) => route.url !== '/sign-out')) {
      // With only the session, and with everything that a browser may send.
      for (const cookies of [session, [...session, ['notice', 'signed-up'], ['next', '/keys']] as const]) {
        portal.clock.advance(MINUTE);
        for (const [name, value] of cookies) person.cookies.set(name, value);
        const { headers } = await person.send(url, { method });
        if (headers.getSetCookie().length > 0 && isStorable(headers)) found.push(`${method} ${url}`);
      }
    }
    expect(found).toEqual([]);
  });

  it('without the database, style, script and health are answered, and a page asks to come back', async () => {
    const person = await gone.signedUp();
    const { text } = await person.get('/account');
    const files = [...text.matchAll(/(?:href|src)="(\/public\/[^"]+)"/g)].map(([, address = '']) => address);
    gone.clock.advance(MINUTE);
    gone.loseDatabase();
    for (const path of [...files, '/livez']) {
      const { status, headers } = await person.send(path, {});
      expect([path, status, headers.getSetCookie()]).toEqual([path, 200, []]);
    }
    for (const answer of [await person.get('/account'), await person.post('/sign-up', { email: 'x@example.com' })]) {
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
      expect(answer.text).toContain('Temporarily unavailable');
      expect(answer.text).not.toContain('ECONN');
    }
  });

  describe('a signature of the portal', () => {
    it('for a form is worth nothing as a session, and no cookie that was chosen is used for it', async () => {
      const visitor = portal.visitor();
      visitor.cookies.set('csrf', 'chosen');
      await visitor.get('/sign-in');
      const cookie = visitor.cookies.get('csrf') ?? 'chosen';
      expect(cookie).not.toBe('chosen');
      visitor.cookies.set('session', cookie);
      expect((await visitor.get('/account')).status).toBe(303);
    });

    it('goes on with a new secret before the former one', async () => {
      const { application, clock } = portal;
      const isReady = () => Promise.resolve(true);
      const secrets = [NEW, OLD];
      const next = await createPortal({ application, clock, secrets, apiUrl: 'http://api.example.com', isReady });
      await next.listen(0, '127.0.0.1');
      const person = await portal.signedUp();
      await person.get('/account');
      const there = browsersAt(await next.getUrl()).visitor();
      for (const [name, value] of person.cookies) there.cookies.set(name, value);
      const { token } = person;
      expect((await there.get('/account')).status).toBe(200);
      expect((await there.post('/account/proof', { _csrf: token })).status).toBe(303);
      await next.close();
    });
  });

  describe('over TLS', () => {
    const secure = usePortal({ portalUrl: 'https://portal.example.com' });

    it('no other host can set any cookie', async () => {
      const lines: string[] = [];
      const visitor = secure.visitor();
      const keep = ({ headers }: { readonly headers: Headers }) => lines.push(...headers.getSetCookie());
      keep(await visitor.get('/keys'));
      keep(await visitor.get('/sign-up'));
      keep(await visitor.post('/sign-up', { email: 'tls@example.com', password: 'a fairly long pass phrase' }));
      keep(await visitor.get('/keys'));
      keep(await visitor.get('/account'));
      keep(await visitor.post('/sign-out'));
      expect([...new Set(lines.map((line) => line.split('=')[0]))].sort()).toEqual(
        ['csrf', 'device', 'next', 'notice', 'session'].map((name) => `__Host-${name}`),
      );
      for (const line of lines) {
        expect(line).toMatch(/; Path=\/(;|$)/);
        expect(line).toMatch(/; Secure(;|$)/);
        expect(line).toMatch(/; HttpOnly(;|$)/);
        expect(line).toMatch(/; SameSite=Lax(;|$)/);
        expect(line).not.toMatch(/; Domain=/i);
      }
    });
  });
});

describe('a secret’s signature', () => {
  const PURPOSES: readonly Purpose[] = ['session', 'form', 'device'];

  it('for one purpose is invalid for another', () => {
    for (const purpose of PURPOSES) {
      const signed = signerFor(purpose, [NEW]).sign('value');
      const valid = PURPOSES.filter((each) => signerFor(each, [NEW]).unsign(signed).valid);
      expect(valid).toEqual([purpose]);
    }
  });

  it('is made with the first secret and verified with all of them', () => {
    const signed = signerFor('session', [NEW, OLD]).sign('value');
    expect(signerFor('session', [NEW]).unsign(signed)).toMatchObject({ valid: true, value: 'value' });
    expect(signerFor('session', [OLD]).unsign(signed).valid).toBe(false);
    const former = signerFor('session', [OLD]).sign('value');
    expect(signerFor('session', [NEW, OLD]).unsign(former)).toMatchObject({ valid: true, renew: true });
    expect(signerFor('session', [NEW]).unsign(former).valid).toBe(false);
  });

  it('is never made with a secret itself', () => {
    const keys = PURPOSES.flatMap((purpose) => keysFor(purpose, [OLD, NEW]));
    expect(new Set([...keys, OLD, NEW]).size).toBe(keys.length + 2);
  });
});
