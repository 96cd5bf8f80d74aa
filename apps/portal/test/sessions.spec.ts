import { describe, expect, it } from '@jest/globals';
import { MINUTE } from '@adoption-store/domain';
import { pino } from 'pino';
import { createPortal } from '../src/create-portal.js';
import { type Purpose, signerFor } from '../src/http/cookies.js';
import { usePortal } from './support/portal.js';
import { type Answer, browsersAt, PASSWORD, type Person, type Visitor } from './support/portal-visitor.js';

const ANIMAL = { name: 'Bella <b>', categoryId: '9', status: 'pending' };
const NEXT = 'quite another pass phrase';
const [OLD, NEW] = ['the former secret of 32 characters', 'the newer secret, of 32 characters'];

const portal = usePortal({ secrets: [OLD] });
const lines: string[] = [];
const logger = pino({ level: 'error' }, { write: (line) => lines.push(line) });
const gone = usePortal({ log: { logger } });
const secure = usePortal({ portalUrl: 'https://portal.example.com' });

const signIn = (person: Person) => person.post('/sign-in', { email: person.email, password: PASSWORD });

describe('a form that is sent after its session has ended', () => {
  const idle = async () => {
    portal.clock.advance(30 * MINUTE);
  };
  const signOutElsewhere = async (person: Person) => {
    const { token } = person;
    await person.get('/account');
    await person.post('/sign-out');
    person.token = token;
  };

  it.each([
    ['after 30 minutes without use', idle],
    ['by signing out in another tab', signOutElsewhere],
  ])('%s, does nothing and is not shown again; signing in leads back to its page', async (_how, end) => {
    const person = await portal.signedUp();
    await person.get('/catalogue');
    await end(person);
    const { status, text } = await person.post('/catalogue?status=sold', ANIMAL);
    expect(status).toBe(403);
    expect(text).toContain('<h1>You have been signed out</h1>');
    expect(text).toContain('Your form was not saved.');
    expect(text).not.toContain('Bella');
    expect((await signIn(person)).location).toBe('/catalogue?status=sold');
    expect((await portal.application.listAnimals.execute({ limit: 100 })).items).toEqual([]);
  });
});

describe('after its session has ended', () => {
  it('a page says so, and comes back after signing in', async () => {
    const person = await portal.signedUp();
    portal.clock.advance(30 * MINUTE);
    expect((await person.get('/catalogue?status=sold')).location).toBe('/sign-in');
    expect((await person.get('/sign-in')).text).toContain('You have been signed out. This happens after 30 minutes');
    expect((await signIn(person)).location).toBe('/catalogue?status=sold');
  });

  it('the warning leads to the page around a form that was refused', async () => {
    const person = await portal.signedUp();
    const linkIn = ({ text }: Answer) => /data-when="over" href="([^"]*)"/.exec(text)?.[1];
    expect(linkIn(await person.get('/catalogue?status=sold'))).toBe('/catalogue?status=sold');
    expect(linkIn(await person.fillIn('/account/password', { current: 'wrong', next: PASSWORD }))).toBe('/account');
    expect(linkIn(await person.get('//evil.example/keys'))).toBe('/');
  });
});

/** Another browser with the same cookies, as of somebody who has copied them. */
function copyOf({ cookies, token }: Visitor): Visitor {
  const copy = portal.visitor();
  for (const [name, value] of cookies) copy.cookies.set(name, value);
  copy.token = token;
  return copy;
}

describe('a session', () => {
  const ENDS = {
    'signing out': (person: Person) => person.post('/sign-out'),
    'signing out everywhere': (person: Person) => person.post('/account/sign-out-everywhere'),
    'changing the password': (person: Person) => person.post('/account/password', { current: PASSWORD, next: NEXT }),
    'resetting the password': async ({ email }: Person) => {
      await portal.application.requestPasswordReset.execute({ email });
      const token = await portal.tokenMailedTo(email, 'reset');
      return portal.visitor().fillIn('/reset-password', { token, password: NEXT });
    },
  };

  it.each(Object.entries(ENDS))('is ended by %s, also for whoever has copied its cookie', async (how, end) => {
    const person = await portal.signedUp();
    await person.get('/account');
    const copy = copyOf(person);
    expect((await end(person)).status).toBe(303);
    expect((await copy.get('/account')).location).toBe('/sign-in');
    expect((await person.get('/account')).status).toBe(how === 'changing the password' ? 200 : 303);
  });

  it('that ends while a form is on its way has ended for that form', async () => {
    const person = await portal.signedUp();
    await person.get('/keys');
    const form = new URLSearchParams({ _csrf: person.token, access: 'full' }).toString();
    const { readable: body, writable } = new TextEncoderStream();
    const writer = writable.getWriter();
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const answer = copyOf(person).send('/keys', { method: 'POST', headers, body, duplex: 'half' });
    await writer.write(form.slice(0, 10));
    await person.post('/sign-out');
    await writer.write(form.slice(10));
    await writer.close();
    expect((await answer).status).toBe(403);
    expect(await portal.application.listAllKeys.execute({ email: person.email })).toEqual([]);
  });
});

describe('cookies', () => {
  /** The icon, the two styles and the script. */
  async function filesOf(person: Person): Promise<readonly string[]> {
    const { text } = await person.get('/account');
    const files = [...text.matchAll(/(?:href|src)="(\/public\/[^"]+)"/g)].map(([, address = '']) => address);
    expect(files).toHaveLength(4);
    return files;
  }

  it('no answer of any route that a cache may keep has one', async () => {
    const person = await portal.signedUp();
    const routes = [...portal.routes, ...(await filesOf(person)).map((url) => ({ method: 'GET', url }))];
    expect(routes.length).toBeGreaterThan(40);
    for (const { method, url } of routes.filter((route) => route.url !== '/sign-out')) {
      person.cookies.set('adoption-store-notice', 'signed-up').set('adoption-store-next', '/keys');
      const { headers } = await person.send(url.replace(/:[^/]+/g, '1'), { method });
      const isStorable = headers.get('cache-control') !== 'no-store';
      expect({ method, url, cookies: isStorable ? headers.getSetCookie() : [] }).toEqual({ method, url, cookies: [] });
    }
  });

  it('without the database, style, script and health are answered, and a page asks to come back, which is logged as no defect', async () => {
    const person = await gone.signedUp();
    lines.length = 0;
    const files = await filesOf(person);
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
    const failures = lines.map((line) => JSON.parse(line) as Record<'msg' | 'stack', string>);
    expect(new Set(failures.map(({ msg }) => msg))).toEqual(new Set(['service_unavailable']));
    expect(failures[0]?.stack).toMatch(/caused by .*ECONN|caused by .*terminated/);
  });

  it('that was chosen is not used for the tokens of forms, and theirs is worth nothing as a session', async () => {
    const visitor = portal.visitor();
    visitor.cookies.set('adoption-store-csrf', 'chosen');
    await visitor.get('/sign-in');
    const cookie = visitor.cookies.get('adoption-store-csrf') ?? 'chosen';
    expect(cookie).not.toBe('chosen');
    visitor.cookies.set('adoption-store-session', cookie);
    expect((await visitor.get('/account')).status).toBe(303);
  });

  it('signed with the former secret are valid beside a new one, and so are the tokens of forms', async () => {
    const { application, clock } = portal;
    const isReady = () => true;
    const secrets = [NEW, OLD];
    const next = await createPortal({ application, clock, secrets, apiUrl: 'http://api.example.com', isReady });
    await next.listen(0, '127.0.0.1');
    const person = await portal.signedUp();
    await person.get('/account');
    const { token } = person;
    const there = browsersAt(await next.getUrl(), () => Promise.resolve('')).visitor();
    for (const [name, value] of person.cookies) there.cookies.set(name, value);
    expect((await there.get('/account')).status).toBe(200);
    expect((await there.post('/account/sign-out-everywhere', { _csrf: token })).status).toBe(303);
    await next.close();
  });

  it('over TLS can be set by no other host', async () => {
    const lines: string[] = [];
    const visitor = secure.visitor();
    const keep = ({ headers }: Answer) => lines.push(...headers.getSetCookie());
    keep(await visitor.get('/keys'));
    keep(await visitor.get('/sign-up'));
    keep(await visitor.post('/sign-up', { email: 'tls@example.com' }));
    const token = await secure.tokenMailedTo('tls@example.com', 'sign-up');
    keep(await visitor.fillIn('/finish-sign-up', { token, password: PASSWORD }));
    keep(await visitor.get('/account'));
    keep(await visitor.post('/sign-out'));
    const names = ['csrf', 'device', 'next', 'notice', 'session'].map((name) => `__Host-adoption-store-${name}`);
    expect([...new Set(lines.map((line) => line.split('=')[0]))].sort()).toEqual(names);
    for (const line of lines) {
      const attributes = line.split('; ').slice(1);
      expect(attributes).toEqual(expect.arrayContaining(['Path=/', 'Secure', 'HttpOnly', 'SameSite=Lax']));
      expect(line).not.toMatch(/; Domain=/i);
    }
  });
});

it('a signature for one purpose is invalid for another', () => {
  const PURPOSES: readonly Purpose[] = ['session', 'form', 'device'];
  for (const purpose of PURPOSES) {
    const signed = signerFor(purpose, [NEW]).sign('value');
    expect(PURPOSES.filter((each) => signerFor(each, [NEW]).unsign(signed).valid)).toEqual([purpose]);
  }
});
