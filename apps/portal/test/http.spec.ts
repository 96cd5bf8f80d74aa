import { describe, expect, it } from '@jest/globals';
import { PASSWORD, usePortal, Visitor } from './support/portal-visitor.js';
import { MINUTE } from '@adoption-store/domain';
import { createPortal } from '../src/create-portal.js';
import { keysFor, type Purpose, signerFor } from '../src/http/secrets.js';
import Fastify from 'fastify';
import { AfterAnswer } from '../src/http/after-answer.js';

const POLICY =
  "default-src 'none';script-src 'self';style-src 'self';img-src 'self';font-src 'self';form-action 'self';" +
  "base-uri 'none';frame-ancestors 'none'";

const portal = usePortal({ portalUrl: 'https://portal.example.com' });
const gone = usePortal();

describe('a form', () => {
  it.each([
    ['without a token', () => ''],
    ['with a token that was made up', () => 'made-up'],
    ['with somebody else’s token', (other: string) => other],
  ])('%s is refused and does nothing', async (_what, token) => {
    const [visitor, other] = [await portal.signedUp(), await portal.signedUp()];
    await visitor.get('/account');
    await other.get('/account');
    for (const path of ['/account/close', '/keys', '/sign-out', '/catalogue', '/sign-in', '/nowhere']) {
      const { status } = await visitor.post(path, { _csrf: token(other.token), password: PASSWORD });
      expect([path, status]).toEqual([path, 403]);
    }
    expect((await visitor.get('/account')).status).toBe(200);
  });

  it('refused for its token can be sent again with its values, except passwords', async () => {
    const visitor = await portal.signedUp();
    const typed = { name: 'Rex <b>"1"</b>', categoryId: '7', status: 'pending' };
    const refused = await visitor.post('/catalogue?status=sold', { ...typed, _csrf: 'too old' });
    expect(refused.status).toBe(403);
    expect(refused.text).toContain('action="/catalogue?status=sold"');
    expect(refused.text).toContain('name="name" type="text" value="Rex &lt;b&gt;&quot;1&quot;&lt;/b&gt;"');
    expect(refused.text).toMatch(/name="categoryId" type="text" value="7"/);
    expect((await visitor.post('/catalogue?status=sold', typed)).status).toBe(303);

    const password = await visitor.post('/account/password', {
      current: PASSWORD,
      next: 'another pass phrase',
      _csrf: '',
    });
    expect(password.text).toMatch(/name="current" type="password"(?! value)/);
    expect(password.text).not.toContain(PASSWORD);
    expect(password.text).not.toContain('another pass phrase');
  });

  it('whose target begins with another host is not shown again, as it would be sent there', async () => {
    const visitor = await portal.signedUp();
    await visitor.get('/keys');
    const refused = await visitor.post('//evil.example/keys', { _csrf: 'made-up', name: 'shop' });
    expect(refused.status).toBe(403);
    expect(refused.text).not.toContain('evil.example');
  });

  it('to add an animal is neither shown to nor taken from an account that may not write', async () => {
    const visitor = await portal.signedUp();
    await portal.application.holdToScopes.execute({ email: visitor.email, scopes: ['pets:read', 'orders:write'] });
    const page = await visitor.get('/catalogue');
    expect(page.status).toBe(200);
    expect(page.text).not.toContain('Add an animal');
    const typed = { name: 'Nobody', categoryId: '1', status: 'available' };
    const refused = await visitor.post('/catalogue', typed);
    expect(refused.status).toBe(403);
    expect(refused.text).toContain('Not allowed');
    expect(refused.text).toContain('Contact the operator of this service.');
    await portal.application.holdToScopes.execute({ email: visitor.email, scopes: ['pets:write'] });
    expect((await visitor.get('/catalogue')).text).toContain('Add an animal');
    expect((await visitor.post('/catalogue', typed)).status).toBe(303);
    const { items } = await portal.application.listAnimals.execute({ limit: 100 });
    expect(items.filter(({ name }) => name === 'Nobody')).toHaveLength(1);
  });

  it('without any cookie is refused', async () => {
    const visitor = portal.visitor();
    await visitor.get('/sign-in');
    visitor.cookies.clear();
    expect((await visitor.post('/sign-in', { email: 'a@example.com', password: PASSWORD })).status).toBe(403);
  });

  it.each([
    ['too large', 413, { headers: {}, body: new URLSearchParams({ name: 'x'.repeat(20_000) }) }],
    ['not a form', 415, { headers: {}, body: new Blob(['{}'], { type: 'application/json' }) }],
  ])('that is %s is answered with a page: %d', async (_what, status, init) => {
    const answer = await portal.visitor().send('/sign-in', { method: 'POST', ...init });
    expect(answer.status).toBe(status);
    expect(answer.headers.get('content-type')).toContain('text/html');
  });
});

describe('every page', () => {
  it.each(['/', '/sign-up', '/sign-in', '/keys', '/nowhere'])(
    '%s is kept nowhere and loads nothing else',
    async (path) => {
      const { headers } = await portal.visitor().get(path);
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('content-security-policy')).toBe(POLICY);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
    },
  );

  it('has no inline script or style', async () => {
    const visitor = await portal.signedUp();
    for (const path of ['/keys', '/usage', '/plan', '/quickstart', '/catalogue', '/account']) {
      const { text } = await visitor.get(path);
      expect(text).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\sstyle=|\son[a-z]+=/);
    }
  });

  it('names its files by their content, so that browsers can cache them', async () => {
    const { text } = await portal.visitor().get('/');
    const [address = ''] = /\/public\/style\.css\?[\w-]+/.exec(text) ?? [];
    const file = await fetch(portal.origin + address);
    expect(file.status).toBe(200);
    expect(file.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect((await fetch(`${portal.origin}/public/style.css`)).headers.get('cache-control')).toBe('no-cache');
  });

  it('over TLS, sets cookies that are sent only over TLS', async () => {
    const visitor = portal.visitor();
    await visitor.get('/sign-up');
    const { headers } = await visitor.post('/sign-up', { email: 'tls@example.com', password: PASSWORD });
    const cookies = headers.getSetCookie();
    expect(cookies.map((cookie) => cookie.split('=')[0]).sort()).toEqual([
      '__Host-device',
      '__Host-notice',
      '__Host-session',
    ]);
    for (const cookie of cookies) expect(cookie).toMatch(/Path=\/; HttpOnly.*Secure.*SameSite=Lax/);
  });
});

describe('without the database', () => {
  it('the page asks people to come back, and reveals no internals', async () => {
    const visitor = gone.visitor();
    await visitor.get('/sign-up');
    gone.loseDatabase();
    const { status, headers, text } = await visitor.post('/sign-up', { email: 'gone@example.com', password: PASSWORD });
    expect([status, headers.get('retry-after')]).toEqual([503, '5']);
    expect(text).toContain('Temporarily unavailable');
    expect(text).not.toContain('ECONN');
  });
});

describe('cookies', () => {
  const FORMER = 'the former secret of 32 characters';
  const NEWER = 'the newer secret, of 32 characters';

  interface Route {
    readonly method: string;
    readonly url: string;
  }

  /** Each with a path that matches it. */
  const portalRoutes: Route[] = [];
  const portal = usePortal({
    secrets: [FORMER],
    onRoute: ({ method, url }) => {
      for (const each of [method].flat()) portalRoutes.push({ method: each, url: url.replace(/:[^/]+/g, '1') });
    },
  });
  const gone = usePortal();

  /** RFC 9111 §3: whether a cache may store the response, because no-store is missing. */
  const isStorable = (headers: Headers) => !/\bno-store\b/.test(headers.get('cache-control') ?? '');

  describe('no answer that a cache may keep has a cookie,', () => {
    it('whichever route of the portal it is of, a minute after the session was used', async () => {
      const person = await portal.signedUp();
      const { text } = await person.get('/account');
      const files = [...text.matchAll(/(?:href|src)="(\/public\/[^"]+)"/g)].map(([, address = '']) => address);
      expect(files).toHaveLength(3);
      const routes = [
        ...portalRoutes,
        ...files.map((url) => ({ method: 'GET', url })),
        { method: 'GET', url: '/nowhere' },
      ];
      expect(routes.length).toBeGreaterThan(40);
      const cookies = new Map(person.cookies);
      const found = [];
      for (const { method, url } of routes.filter((route) => route.url !== '/sign-out')) {
        // With everything that a browser may send, and with only the session.
        for (const more of [
          [],
          [
            ['notice', 'signed-up'],
            ['next', '/keys'],
          ],
        ] as const) {
          portal.clock.advance(MINUTE);
          for (const [name, value] of [...cookies, ...more]) person.cookies.set(name, value);
          const { headers } = await person.send(url, { method });
          if (headers.getSetCookie().length > 0 && isStorable(headers)) found.push(`${method} ${url}`);
        }
      }
      expect(found).toEqual([]);
    });
  });

  describe('without the database', () => {
    it('style, script and health are answered, also to people who are signed in', async () => {
      const person = await gone.signedUp();
      const { text } = await person.get('/account');
      const files = [...text.matchAll(/(?:href|src)="(\/public\/[^"]+)"/g)].map(([, address = '']) => address);
      gone.clock.advance(MINUTE);
      gone.loseDatabase();
      for (const path of [...files, '/livez']) {
        const { status, headers } = await person.send(path, {});
        expect([path, status, headers.getSetCookie()]).toEqual([path, 200, []]);
      }
      expect((await person.get('/account')).status).toBe(503);
    });
  });

  describe('a signature of the portal', () => {
    it.each(['x', 'a\u0000b', 'x'.repeat(3_000)])(
      'for a form is worth nothing as a session, and no cookie that was chosen is used for it (%#)',
      async (chosen) => {
        const visitor = portal.visitor();
        visitor.cookies.set('csrf', encodeURIComponent(chosen));
        expect((await visitor.get('/sign-in')).status).toBe(200);
        const cookie = decodeURIComponent(visitor.cookies.get('csrf') ?? '');
        // The hash may contain hyphens.
        const [person = '', salt = '', ...rest] = visitor.token.split('-');
        const hash = rest.join('-');
        expect(hash).not.toBe('');
        for (const forged of [cookie, `${person}-${salt}-${chosen}.${hash}`, `${chosen}.${hash}`]) {
          const other = portal.visitor();
          other.cookies.set('session', encodeURIComponent(forged));
          expect((await other.get('/account')).status).toBe(303);
        }
        expect(cookie).not.toBe(chosen);
      },
    );

    it.each([
      ['goes on', 'before the former one', [NEWER, FORMER], 200, 303],
      ['is over', 'alone', [NEWER], 303, 403],
    ])('%s with a new secret %s', async (_what, _where, secrets, page, form) => {
      const { application, clock } = portal;
      const isReady = () => Promise.resolve(true);
      const next = await createPortal({ application, clock, secrets, apiUrl: 'http://api.example.com', isReady });
      await next.listen(0, '127.0.0.1');
      const person = await portal.signedUp();
      await person.get('/account');
      const there = new Visitor(await next.getUrl(), '2001:db8::1');
      for (const [name, value] of person.cookies) there.cookies.set(name, value);
      const { token } = person;
      expect((await there.get('/account')).status).toBe(page);
      expect((await there.post('/account/proof', { _csrf: token })).status).toBe(form);
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
        expect(line).not.toMatch(/; Domain=/i);
      }
    });
  });
});

describe('secrets', () => {
  const PURPOSES: readonly Purpose[] = ['session', 'form', 'device'];
  const [OLD, NEW] = ['the former secret of 32 characters', 'the newer secret, of 32 characters'];

  describe('a signature of the portal', () => {
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
});

describe('work after an answer', () => {
  function open() {
    const lines: string[] = [];
    const fastify = Fastify({ logger: { level: 'error', stream: { write: (line: string) => lines.push(line) } } });
    return { fastify, work: AfterAnswer.of(fastify), lines };
  }

  it('a failed task is logged, and the next one still runs', async () => {
    const { fastify, work, lines } = open();
    const done: string[] = [];
    work.take('a reset', () => Promise.reject(new Error('the database is away')));
    work.take('a reset', async () => void done.push('second'));
    await fastify.close();
    expect(done).toEqual(['second']);
    expect(lines).toEqual([
      expect.stringMatching(/"work":"a reset".*the database is away.*an accepted task has failed/),
    ]);
  });

  it('closing waits for the accepted tasks, one after another', async () => {
    const { fastify, work } = open();
    let underWay = 0;
    const seen: number[] = [];
    for (let piece = 0; piece < 3; piece += 1) {
      work.take('a reset', async () => {
        underWay += 1;
        await new Promise(setImmediate);
        seen.push(underWay);
        underWay -= 1;
      });
    }
    await fastify.close();
    expect(seen).toEqual([1, 1, 1]);
  });

  it('refuses a task while its queue is full, and accepts more once it has room', async () => {
    const { fastify, work } = open();
    const nothing = () => Promise.resolve();
    for (let piece = 0; piece < 1_000; piece += 1) work.take('a reset', nothing);
    expect(() => {
      work.take('a reset', nothing);
    }).toThrow('too many tasks are waiting');
    await fastify.close();
    expect(() => {
      work.take('a reset', nothing);
    }).not.toThrow();
  });
});
