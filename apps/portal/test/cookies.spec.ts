import { describe, expect, it } from '@jest/globals';
import { MINUTE } from '@adoption-store/domain';
import { createPortal } from '../src/create-portal.js';
import { usePortal, Visitor } from './support/portal-visitor.js';

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
