import { Writable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import type { Log } from '@adoption-store/telemetry';
import { SCOPES } from '@adoption-store/domain';
import { ask } from '@adoption-store/test-support';
import { pino } from 'pino';
import { useApi } from './support/portal-api.js';
import { type Answer, boxesIn, keyIn, usePortal } from './support/portal-visitor.js';

const lines: string[] = [];
const logger = pino(
  { level: 'trace' },
  new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(chunk.toString());
      done();
    },
  }),
);
const log: Log = { logger, gather: (fields) => lines.push(fields), close: () => Promise.resolve() };
const portal = usePortal({ log, logRequests: true });
const api = useApi(portal);

/** Every box is checked, as in a new form. */
const ALL = { scopes: SCOPES };

const call = async (key: string) => {
  const headers = { authorization: `Bearer ${key}` };
  return (await fetch(`${api.origin}/v1/pets?status=available`, { headers })).status;
};

const scopesIn = ({ text }: Answer) => [...text.matchAll(/<code class="scope">([^<]+)</g)].map(([, scope]) => scope);

const keysOf = async (email: string) => (await portal.application.listKeys.execute({ email })).map(({ key }) => key);

describe('a key', () => {
  it('opens the API, can be rotated, and is revoked for good', async () => {
    const visitor = await portal.signedUp();
    const text = await visitor.issueKey({ name: 'laptop', expiresIn: '30' });
    expect(await call(text)).toBe(200);
    const [key] = await keysOf(visitor.email);
    expect(key).toMatchObject({ name: 'laptop' });
    await visitor.get(`/keys/${key?.id}/rotate`);
    const replacement = keyIn(await visitor.post(`/keys/${key?.id}/rotate`, { overlap: '1' }));
    expect([await call(text), await call(replacement)]).toEqual([200, 200]);
    for (const { id } of await keysOf(visitor.email)) {
      await visitor.get(`/keys/${id}/revoke`);
      const revoked = await visitor.post(`/keys/${id}/revoke`);
      expect([revoked.status, revoked.headers.get('location')]).toEqual([303, '/keys']);
    }
    expect([await call(text), await call(replacement)]).toEqual([401, 401]);
  });

  it('is shown once: neither a reload nor its page shows it again or makes a second one', async () => {
    const visitor = await portal.signedUp();
    await visitor.get('/keys');
    const form = visitor.token;
    const shown = await visitor.post('/keys', ALL);
    expect(shown.status).toBe(200);
    expect(shown.headers.get('cache-control')).toBe('no-store');
    const again = await visitor.post('/keys', { ...ALL, _csrf: form });
    expect([again.status, again.headers.get('location')]).toEqual([303, '/keys']);
    const page = await visitor.get('/keys');
    expect(page.text).toContain('already sent');
    expect(page.text).not.toContain(keyIn(shown));
    expect(await keysOf(visitor.email)).toHaveLength(1);
  });

  it('is made once by a form that is sent several times at the same time', async () => {
    const visitor = await portal.signedUp();
    await visitor.get('/keys');
    const form = { ...ALL, _csrf: visitor.token };
    const answers = await Promise.all([1, 2, 3].map(() => visitor.post('/keys', form)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 303, 303]);
    expect(await keysOf(visitor.email)).toHaveLength(1);
  });

  it('of another account is not found', async () => {
    const owner = await portal.signedUp();
    const text = await owner.issueKey();
    const [key] = await keysOf(owner.email);
    const other = await portal.signedUp();
    await other.get('/keys');
    for (const step of ['rotate', 'revoke']) {
      expect((await other.get(`/keys/${key?.id}/${step}`)).status).toBe(404);
      expect((await other.post(`/keys/${key?.id}/${step}`, { overlap: '0' })).status).toBe(404);
    }
    expect(await call(text)).toBe(200);
  });

  it('has the scopes whose boxes were checked, which its pages and its replacement’s show', async () => {
    const visitor = await portal.signedUp();
    expect(boxesIn(await visitor.get('/keys'))).toEqual({ offered: SCOPES, checked: SCOPES });
    const shown = await visitor.post('/keys', { scopes: ['orders:read', 'pets:write'] });
    expect(await call(keyIn(shown))).toBe(403);
    const [key] = await keysOf(visitor.email);
    expect(key?.scopes).toEqual(['pets:write', 'orders:read']);
    const pages = await Promise.all(
      ['', `/${key?.id}/rotate`, `/${key?.id}/revoke`].map((page) => visitor.get(`/keys${page}`)),
    );
    for (const page of [shown, ...pages]) expect(scopesIn(page)).toEqual(['pets:write', 'orders:read']);
    await visitor.get(`/keys/${key?.id}/rotate`);
    expect(scopesIn(await visitor.post(`/keys/${key?.id}/rotate`, { overlap: '0' }))).toEqual([
      'pets:write',
      'orders:read',
    ]);
    expect((await keysOf(visitor.email)).at(-1)?.scopes).toEqual(['pets:write', 'orders:read']);
  });

  it('with every box checked has all scopes, also later ones; one box is enough', async () => {
    const visitor = await portal.signedUp();
    await visitor.issueKey();
    await visitor.issueKey({ scopes: 'pets:read' });
    expect((await keysOf(visitor.email)).map(({ scopes }) => scopes)).toEqual([undefined, ['pets:read']]);
  });

  it.each([
    ['no box', {}],
    ['an unknown scope', { scopes: ['pets:delete', 'constructor'] }],
  ])('is not made of %s checked, which is a problem beside the boxes', async (_what, fields) => {
    const visitor = await portal.signedUp();
    await visitor.get('/keys');
    const refused = await visitor.post('/keys', { name: 'laptop', expiresIn: '0', ...fields });
    expect(refused.status).toBe(422);
    expect(refused.text).toContain('<a href="#scopes">What the key may do: Choose at least one.</a>');
    expect(refused.text).toContain('<a href="#expiresIn">');
    expect(refused.text).toContain('value="laptop"');
    expect(boxesIn(refused)).toEqual({ offered: SCOPES, checked: [] });
    expect(await keysOf(visitor.email)).toEqual([]);
  });

  it('that is refused for another field keeps its boxes', async () => {
    const visitor = await portal.signedUp();
    await visitor.get('/keys');
    const refused = await visitor.post('/keys', { expiresIn: '0', scopes: ['pets:read', 'orders:write'] });
    expect(boxesIn(refused).checked).toEqual(['pets:read', 'orders:write']);
    const expired = await visitor.post('/keys', { scopes: ['pets:read', 'orders:write'], _csrf: 'too old' });
    expect(expired.status).toBe(403);
    expect(boxesIn(expired).checked).toEqual(['pets:read', 'orders:write']);
  });

  it('is offered only scopes that its account has, and shows what it can do', async () => {
    const visitor = await portal.signedUp();
    const writes = await visitor.issueKey({ scopes: ['pets:read', 'pets:write'] });
    const { holdToScopes } = portal.application;
    await holdToScopes.execute({ email: visitor.email, scopes: ['pets:read', 'orders:read'] });
    const page = await visitor.get('/keys');
    expect(boxesIn(page)).toEqual({ offered: ['pets:read', 'orders:read'], checked: ['pets:read', 'orders:read'] });
    expect(scopesIn(page)).toEqual(['pets:read']);
    expect(await call(writes)).toBe(200);
    await visitor.post('/keys', { scopes: ['pets:write', 'pets:read'] });
    await visitor.issueKey();
    expect((await keysOf(visitor.email)).map(({ scopes }) => scopes)).toEqual([
      ['pets:read', 'pets:write'],
      ['pets:read'],
      undefined,
    ]);
    await holdToScopes.execute({ email: visitor.email, scopes: ['messages:read'] });
    expect((await visitor.get('/keys')).text).toMatch(/data-label="Scopes">\s*<span>None</);
  });

  it.each([{ expiresIn: '0' }, { expiresIn: '1.5' }, { expiresIn: '99999' }, { name: 'x'.repeat(101) }])(
    'is not made of %j, which is shown again',
    async (fields) => {
      const visitor = await portal.signedUp();
      await visitor.get('/keys');
      const { status, text } = await visitor.post('/keys', { ...ALL, ...fields });
      expect(status).toBe(422);
      expect(text).toContain(`value="${Object.values(fields)[0]}"`);
      expect(await keysOf(visitor.email)).toEqual([]);
    },
  );

  it('is not made at the account’s limit, and the page says so', async () => {
    const visitor = await portal.signedUp();
    const accountId = (await portal.application.listAccounts.execute()).find(
      ({ email }) => email === visitor.email,
    )?.id;
    if (accountId === undefined) throw new Error('nobody has signed up');
    for (let made = 0; made < 25; made += 1) await portal.application.issueKey.execute({ accountId });
    await visitor.get('/keys');
    const { status, text } = await visitor.post('/keys', ALL);
    expect(status).toBe(422);
    expect(text).toContain('revoke one first');
  });

  it('is not made at the daily limit, and the page says so', async () => {
    const visitor = await portal.signedUp();
    await ask(
      portal.databaseUrl,
      `INSERT INTO api_keys (account_id, hash, ending, created_at, revoked_at)
       SELECT id, encode(sha256((id || ' ' || n)::text::bytea), 'hex'), 'abcd', $2::timestamptz, $2::timestamptz
       FROM accounts, generate_series(1, 1000) AS n WHERE email = $1`,
      [visitor.email, new Date(portal.clock.now())],
    );
    await visitor.get('/keys');
    const { status, text } = await visitor.post('/keys', ALL);
    expect(status).toBe(422);
    expect(text).toContain('made 1000 API keys today');
    expect(keyIn({ status, text, headers: new Headers() })).toBe('');
  });

  it('never appears in an address or the log, nor does a password', async () => {
    lines.length = 0;
    const visitor = await portal.signedUp();
    const key = await visitor.issueKey();
    await visitor.get('/account');
    await visitor.post('/account/password', { current: 'wrong wrong wrong', next: 'next next next' });
    await visitor.get(`/nowhere?key=${key}`);
    const text = lines.join('');
    expect(text).toContain('"route":"/account/password"');
    for (const secret of [key, 'pass phrase', 'wrong wrong', 'next next', visitor.email]) {
      expect(text).not.toContain(secret);
    }
  });
});

describe('the other pages', () => {
  it('show the account’s own figures', async () => {
    const visitor = await portal.signedUp();
    for (const path of ['/usage', '/plan', '/quickstart', '/catalogue', '/account']) {
      expect([path, (await visitor.get(path)).status]).toEqual([path, 200]);
    }
    expect((await visitor.get('/quickstart')).text).toContain('http://api.example.com');
  });

  it('show an animal that was added by a form', async () => {
    const visitor = await portal.signedUp();
    await visitor.get('/catalogue');
    const refused = await visitor.post('/catalogue', { name: 'Bär <b>', categoryId: 'one', status: 'pending' });
    expect(refused.status).toBe(422);
    const added = await visitor.post('/catalogue', { name: 'Bär <b>', categoryId: '1', status: 'pending' });
    expect(added.status).toBe(303);
    const { text } = await visitor.get(added.headers.get('location') ?? '');
    expect(text).toContain('Bär &lt;b');
    expect(text).not.toContain('Bär <b>');
  });

  it('show all animals, page by page', async () => {
    const visitor = await portal.signedUp();
    const names = Array.from({ length: 45 }, (_, index) => `sold-${index}.`);
    for (const name of names) await portal.application.addAnimal.execute({ name, categoryId: 1n, status: 'sold' });
    const seen = [];
    let next: string | undefined = '/catalogue?status=sold';
    while (next !== undefined) {
      const { text } = await visitor.get(next);
      seen.push(...(text.match(/sold-\d+\./g) ?? []));
      next = /href="(\/catalogue\?status=sold&amp;cursor=\d+)"/.exec(text)?.[1]?.replace('&amp;', '&');
    }
    expect([...new Set(seen)]).toEqual(names);
  });
});
