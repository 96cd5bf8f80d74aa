import { describe, expect, it } from '@jest/globals';
import { HOUR, MINUTE } from '@adoption-store/domain';
import { useApi } from './support/portal-api.js';
import { PASSWORD, usePortal } from './support/portal-visitor.js';

const portal = usePortal();
const api = useApi(portal);

describe('the page of the account', () => {
  it('shows the scopes that it is held to', async () => {
    const visitor = await portal.signedUp();
    const shown = async () => /<dt>Scopes<\/dt><dd>([\s\S]*?)<\/dd>/.exec((await visitor.get('/account')).text)?.[1];
    expect(await shown()).toMatch(/^\s*<span>All<\/span>\s*$/);
    await portal.application.holdToScopes.execute({ email: visitor.email, scopes: ['pets:read', 'orders:read'] });
    expect(await shown()).toMatch(/>pets:read<[\s\S]*>orders:read<[\s\S]*can do no more/);
  });
});

describe('signing up', () => {
  it('leads to the keys page with a session', async () => {
    const visitor = await portal.signedUp();
    const { status, text } = await visitor.get('/keys');
    expect(status).toBe(200);
    expect(text).toContain(visitor.email);
  });

  it.each([
    ['a short password', { email: 'short@example.com', password: 'short' }, 'at least 12 characters'],
    ['no e-mail address', { email: 'nobody', password: PASSWORD }, 'must be an e-mail address'],
  ])('says what is wrong with %s, and never shows the password again', async (_what, fields, message) => {
    const visitor = portal.visitor();
    await visitor.get('/sign-up');
    const { status, text } = await visitor.post('/sign-up', fields);
    expect(status).toBe(422);
    expect(text.toLowerCase()).toContain(message.toLowerCase());
    expect(text).not.toContain(`value="${fields.password}"`);
    expect(visitor.cookies.has('session')).toBe(false);
  });

  it('says all problems of the form at once', async () => {
    const visitor = portal.visitor();
    await visitor.get('/sign-up');
    const { text } = await visitor.post('/sign-up', { email: 'nobody', password: 'short' });
    const summary = /<div class="problems"[\s\S]*?<\/div>/.exec(text)?.[0];
    expect(summary).toMatch(
      /href="#email">E-mail address: Must be[\s\S]*href="#password">Password: Must be at least 12/,
    );
  });

  it('never takes over an existing account', async () => {
    const { email } = await portal.signedUp();
    const visitor = portal.visitor();
    await visitor.get('/sign-up');
    const { status, text } = await visitor.post('/sign-up', { email, password: 'another long pass phrase' });
    expect(status).toBe(422);
    expect(text).toContain('Already registered. <a href="/sign-in">Sign in?</a>');
    expect(visitor.cookies.has('session')).toBe(false);
  });
});

it.each(['/sign-up', '/sign-in', '/forgotten-password'])('%s refuses what is no e-mail address', async (path) => {
  const visitor = portal.visitor();
  await visitor.get(path);
  const { status, text } = await visitor.post(path, { email: 'nobody', password: PASSWORD });
  expect(status).toBe(422);
  expect(text).toContain('href="#email">E-mail address: Must be an e-mail address, such as dev@example.com.');
});

describe('signing in', () => {
  it('answers a wrong password and an unknown address in the same way', async () => {
    const { email } = await portal.signedUp();
    const answers = [];
    for (const tried of [email, 'unknown-1@example.com']) {
      const visitor = portal.visitor();
      await visitor.get('/sign-in');
      const { status, text } = await visitor.post('/sign-in', { email: tried, password: 'the wrong pass phrase' });
      answers.push({ status, text: text.replaceAll(tried, '').replace(/(name="_csrf" value=")[^"]+/g, '$1') });
      expect(visitor.cookies.has('session')).toBe(false);
    }
    expect(answers[0]?.status).toBe(422);
    expect(answers[1]).toEqual(answers[0]);
  });

  it('begins a session with a new id, and ends the browser’s previous one', async () => {
    const { email } = await portal.signedUp();
    const attacker = await portal.signedUp();
    const planted = attacker.cookies.get('session') ?? '';
    const victim = portal.visitor();
    victim.cookies.set('session', planted);
    await victim.get('/account');
    expect((await victim.post('/sign-in', { email, password: PASSWORD })).status).toBe(303);
    expect(victim.cookies.get('session')).not.toBe(planted);
    expect((await victim.get('/account')).text).toContain(email);
    expect((await attacker.get('/account')).headers.get('location')).toBe('/sign-in');
  });

  it('leads to the requested page', async () => {
    const { email } = await portal.signedUp();
    const visitor = portal.visitor();
    const refused = await visitor.get('/catalogue?status=sold');
    expect([refused.status, refused.headers.get('location')]).toEqual([303, '/sign-in']);
    await visitor.get('/sign-in');
    const { headers } = await visitor.post('/sign-in', { email, password: PASSWORD });
    expect(headers.get('location')).toBe('/catalogue?status=sold');
  });

  it.each(['//evil.example', '/%5Cevil.example', '/%09/evil.example', 'https://evil.example', '/..//evil.example'])(
    'never leads to %s',
    async (wanted) => {
      const { email } = await portal.signedUp();
      const visitor = portal.visitor();
      await visitor.get('/sign-in');
      visitor.cookies.set('next', wanted);
      const { headers } = await visitor.post('/sign-in', { email, password: PASSWORD });
      expect(headers.get('location')).toBe('/keys');
    },
  );

  it('is refused for a while after ten attempts at one account from anywhere, and says for how long', async () => {
    const { email } = await portal.signedUp();
    const answers = [];
    for (let attempt = 0; attempt < 11; attempt += 1) {
      const visitor = portal.visitor();
      await visitor.get('/sign-in');
      answers.push(await visitor.post('/sign-in', { email, password: 'x' }));
    }
    expect(answers.slice(0, 10).map(({ status }) => status)).toEqual(Array(10).fill(422));
    expect(answers[10]?.status).toBe(429);
    const seconds = Number(answers[10]?.headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(800);
    expect(seconds).toBeLessThanOrEqual(900);
    expect(answers[10]?.text).toContain('The limit is 10 attempts to sign in to one account in 15 minutes.');
    expect(answers[10]?.text).toMatch(/You can try again in 15 minutes, at <time [^>]*>[^<]* UTC</);
  });

  it('is refused for a while after sixty attempts from one address, at any accounts', async () => {
    const visitor = portal.visitor();
    await visitor.get('/sign-in');
    const statuses = [];
    // A text that can't be a password isn't hashed.
    const password = 'x'.repeat(200);
    for (let attempt = 0; attempt < 61; attempt += 1) {
      statuses.push((await visitor.post('/sign-in', { email: `nobody-${attempt}@example.com`, password })).status);
    }
    expect(statuses).toEqual([...Array<number>(60).fill(422), 429]);
  });
});

describe('a session', () => {
  it('ends at sign-out, even for holders of its cookie', async () => {
    const visitor = await portal.signedUp();
    const session = visitor.cookies.get('session') ?? '';
    await visitor.get('/account');
    expect((await visitor.post('/sign-out')).headers.get('location')).toBe('/');
    expect(visitor.cookies.has('session')).toBe(false);
    visitor.cookies.set('session', session);
    expect((await visitor.get('/keys')).headers.get('location')).toBe('/sign-in');
  });

  it('ends when the account’s password is changed in another browser', async () => {
    const here = await portal.signedUp();
    const there = portal.visitor();
    await there.get('/sign-in');
    await there.post('/sign-in', { email: here.email, password: PASSWORD });
    expect((await there.get('/keys')).status).toBe(200);
    const before = here.cookies.get('session');
    await here.get('/account');
    const changed = await here.post('/account/password', { current: PASSWORD, next: 'quite another pass phrase' });
    expect([changed.status, changed.headers.get('location')]).toEqual([303, '/account']);
    expect(here.cookies.get('session')).not.toBe(before);
    expect((await here.get('/account')).status).toBe(200);
    expect((await there.get('/keys')).headers.get('location')).toBe('/sign-in');
  });

  it('lasts while it is used at least every half hour, and at most twelve hours', async () => {
    const visitor = await portal.signedUp();
    for (let spell = 0; spell < 24; spell += 1) {
      expect((await visitor.get('/plan')).status).toBe(200);
      portal.clock.advance(30 * MINUTE - 1);
    }
    portal.clock.advance(24);
    expect((await visitor.get('/plan')).status).toBe(303);
    const idle = await portal.signedUp();
    portal.clock.advance(HOUR / 2);
    expect((await idle.get('/plan')).status).toBe(303);
  });

  it('is never given to visitors', async () => {
    const visitor = portal.visitor();
    for (const path of ['/', '/sign-in', '/sign-up']) await visitor.get(path);
    expect([...visitor.cookies.keys()]).toEqual(['csrf']);
  });
});

describe('an account', () => {
  it('can be closed only with its password, with its keys and sessions', async () => {
    const visitor = await portal.signedUp();
    const key = await visitor.issueKey();
    await visitor.get('/account');
    expect((await visitor.post('/account/close', { password: 'the wrong pass phrase' })).status).toBe(422);
    const call = () => fetch(`${api.origin}/v1/pets?status=available`, { headers: { authorization: `Bearer ${key}` } });
    expect((await call()).status).toBe(200);
    expect((await visitor.post('/account/close', { password: PASSWORD })).headers.get('location')).toBe('/');
    expect((await call()).status).toBe(401);
    expect((await visitor.get('/keys')).headers.get('location')).toBe('/sign-in');
    await visitor.get('/sign-in');
    expect((await visitor.post('/sign-in', { email: visitor.email, password: PASSWORD })).status).toBe(422);
  });
});
