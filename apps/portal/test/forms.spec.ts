import { describe, expect, it } from '@jest/globals';
import { PASSWORD, usePortal } from './support/portal-visitor.js';

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
