import { describe, expect, it } from '@jest/globals';
import { createApi } from '@adoption-store/api';
import { MINUTE } from '@adoption-store/domain';
import { usePortal } from '../support/portal-visitor.js';

interface Route {
  readonly method: string;
  readonly url: string;
}

/** A hook that collects the routes, each with a path that matches it. */
const listingIn =
  (routes: Route[]) =>
  ({ method, url }: { readonly method: string | readonly string[]; readonly url: string }) => {
    for (const each of [method].flat()) routes.push({ method: each, url: url.replace(/:[^/]+/g, '1') });
  };
const portalRoutes: Route[] = [];
const apiRoutes: Route[] = [];
const portal = usePortal({ onRoute: listingIn(portalRoutes) });
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

  it('whichever route of the API and its pages it is of', async () => {
    const api = await createApi({
      application: portal.application,
      clock: portal.clock,
      isReady: () => Promise.resolve(true),
      configure: (api) => api.getHttpAdapter().getInstance().addHook('onRoute', listingIn(apiRoutes)),
    });
    await api.listen(0, '127.0.0.1');
    const origin = await api.getUrl();
    const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];
    const routes = apiRoutes.filter(({ method }) => methods.includes(method));
    expect(routes.length).toBeGreaterThan(10);
    for (const { method, url } of routes) {
      const headers = { cookie: 'session=a; csrf=b; __Host-session=c' };
      const answer = await fetch(origin + url.replaceAll('*', 'nowhere'), { method, headers });
      await answer.arrayBuffer();
      expect([method, url, answer.headers.getSetCookie()]).toEqual([method, url, []]);
    }
    await api.close();
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
