import { describe, expect, it } from '@jest/globals';
import { createPortal } from '@adoption-store/portal';
import { usePortal, Visitor } from '../support/portal-visitor.js';

const FORMER = 'the former secret of 32 characters';
const NEWER = 'the newer secret, of 32 characters';

const portal = usePortal({ secrets: [FORMER] });

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
    const next = await createPortal({ application, clock, secrets, apiUrl: portal.api, isReady });
    await next.listen(0, '127.0.0.1');
    const person = await portal.signedUp();
    await person.get('/account');
    const there = new Visitor(await next.getUrl(), '2001:db8::1');
    for (const [name, value] of person.cookies) there.cookies.set(name, value);
    const { token } = person;
    expect((await there.get('/account')).status).toBe(page);
    expect((await there.post('/sign-out', { _csrf: token })).status).toBe(form);
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
