import { describe, expect, it } from '@jest/globals';
import { MINUTE } from '@adoption-store/domain';
import { usePortal } from './support/portal-visitor.js';

interface Route {
  readonly method: string;
  readonly url: string;
}

/** Each with a path that matches it. */
const portalRoutes: Route[] = [];
const portal = usePortal({
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
