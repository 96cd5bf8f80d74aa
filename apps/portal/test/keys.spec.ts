import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createApi } from '@adoption-store/api';
import { DAY, HOUR, MINUTE, SCOPES, startOf } from '@adoption-store/domain';
import type { Log } from '@adoption-store/telemetry';
import { ask, until } from '@adoption-store/test-support';
import { getPetDeprecation } from '@adoption-store/web';
import { pino } from 'pino';
import { REFUSAL_MEANINGS } from '../src/limits/refusal-meanings.js';
import { untilKeyIs, usePortal } from './support/portal.js';
import {
  type Answer,
  boxesIn,
  keyIn,
  linkIn,
  PASSWORD,
  type Person,
  type Visitor,
  walk,
} from './support/portal-visitor.js';

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
let api: Awaited<ReturnType<typeof createApi>>;
let apiUrl: string;

beforeAll(async () => {
  const { application, clock } = portal;
  api = await createApi({ application, clock, isReady: () => Promise.resolve(true) });
  await api.listen(0, '127.0.0.1');
  apiUrl = await api.getUrl();
});
afterAll(() => api.close());

/** As in a new form. */
const ALL = { access: 'full' };

const call = (key: string, path = '/v1/pets?status=available', method = 'GET') =>
  fetch(apiUrl + path, { method, headers: { authorization: `Bearer ${key}` } });

const statusOf = async (key: string) => (await call(key)).status;

/** Waits until the page contains the text, and returns the page. */
async function shows(visitor: Visitor, path: string, text: string): Promise<string> {
  await until(async () => (await visitor.get(path)).text.includes(text));
  return (await visitor.get(path)).text;
}

const rowsOf = (page: string) =>
  [...page.matchAll(/<tr><th scope="row">.*?<\/tr>/g)].map(([row]) =>
    row
      .replaceAll(/<\/t[hd]>/g, '|')
      .replaceAll(/<[^>]+>/g, '')
      .split('|')
      .slice(0, -1),
  );

describe('the log of refused requests', () => {
  it('shows why a request was refused, which its id finds', async () => {
    const visitor = await portal.signedUp();
    const key = await visitor.issueKey({ name: 'קופה' });
    const refused = await call(key, '/v1/pets?limit=0');
    const id = refused.headers.get('x-request-id') ?? '';
    expect([refused.status, id]).toEqual([400, expect.stringMatching(/^.{10,}$/)]);
    const page = await shows(visitor, `/refusals?request=${id}`, 'invalid_parameter');
    expect(rowsOf(page)).toEqual([
      ['21 Nov, 12:00:00', `קופה …${key.slice(-4)}`, 'GET /v1/pets', 'invalid_parameter', id],
    ]);
    expect(page).toContain('<bdi dir="auto">קופה</bdi>');
    expect(page).toContain('A parameter or a field of the body breaks a rule.');
    for (const other of [id.slice(1), `${id}0`, '%00', '<script>', 'x'.repeat(1_000)]) {
      const { status, text } = await visitor.get(`/refusals?request=${encodeURIComponent(other)}`);
      expect(status).toBe(200);
      expect(text).toContain('No refused request has the id');
      expect(text).not.toContain('<script>');
    }
    const stranger = await portal.signedUp();
    expect((await stranger.get(`/refusals?request=${id}`)).text).toContain('No refused request has the id');
  });

  it('shows the last 100, the latest first, page by page', async () => {
    const visitor = await portal.signedUp();
    const { accountId, keyId } = await portal.application.authenticate.execute(await visitor.issueKey());
    for (let index = 0; index < 130; index += 1) {
      const refusal = { operation: 'POST /v1/pets', code: 'rate_limited', requestId: `number-${index}` };
      portal.application.recordRequest.execute({ accountId, keyId }, { isUse: true, refusal });
      portal.clock.advance(1);
    }
    await shows(visitor, '/refusals', 'number-129<');
    const pages = await walk(visitor, '/refusals', />(number-\d+)</g);
    expect(pages.flat()).toEqual(Array.from({ length: 100 }, (_, index) => `number-${129 - index}`));
    expect((await visitor.get('/refusals?page=2')).text).toContain('<span>26–50 of 100</span>');
    for (const page of ['0', '5', '-1', 'x', '99999'])
      expect([page, (await visitor.get(`/refusals?page=${page}`)).status]).toEqual([page, 200]);
  });

  it('has words for every code of a refusal that the API describes', () => {
    const text = readFileSync(join(import.meta.dirname, '../../api/openapi.json'), 'utf8');
    const { components } = JSON.parse(text) as {
      components: { schemas: { ErrorCode: { 'x-extensible-enum': string[] } } };
    };
    const ofTheServer = ['internal_error', 'service_unavailable'];
    expect(Object.keys(REFUSAL_MEANINGS).sort()).toEqual(
      components.schemas.ErrorCode['x-extensible-enum'].filter((code) => !ofTheServer.includes(code)).sort(),
    );
  });
});

describe('the usage page', () => {
  it('shows the hours or days that are asked for, of all keys or of one, with each key’s share', async () => {
    const visitor = await portal.signedUp();
    const [till, shop] = [await visitor.issueKey({ name: 'till' }), await visitor.issueKey({ name: 'shop' })];
    const send = async (key: string, times: number) => {
      for (let sent = 0; sent < times; sent += 1) expect((await call(key, '/v1/pets')).status).toBe(200);
    };
    await send(till, 3);
    // In steps, because an unused session ends.
    for (let step = 0; step < 3; step += 1) {
      portal.clock.advance(HOUR / 3);
      await visitor.get('/plan');
    }
    await send(shop, 1);
    const page = await shows(visitor, '/usage', '<strong>4 requests</strong> admitted');
    expect(rowsOf(page)).toEqual([
      ['21 Nov 2026', '4', '0'],
      [`till …${till.slice(-4)}`, '3', '3', '3', '75\u00a0%', '0'],
      [`shop …${shop.slice(-4)}`, '1', '1', '1', '25\u00a0%', '0'],
    ]);
    expect(page).toContain('title="21 Nov 2026, 13:00 UTC">just now</time>; later ones follow within seconds.');
    expect(page).toContain('title="22 Nov 2026, 00:00 UTC">in 11 h</time>');
    const { keyId } = await portal.application.authenticate.execute(till);
    const hours = (await visitor.get('/usage?range=48+hours')).text;
    expect(rowsOf(hours).slice(0, 2)).toEqual([
      ['21 Nov, 13:00', '1', '0'],
      ['21 Nov, 12:00', '3', '0'],
    ]);
    for (const [range, bars] of [
      ['7 days', 7],
      ['90 days', 90],
    ] as const) {
      const { text } = await visitor.get(`/usage?range=${range}&key=${keyId}`);
      expect(text).toContain(`viewBox="0 0 ${bars} 100"`);
      expect(text).toContain(`href="/usage?key=${keyId}&amp;range=48+hours"`);
    }
    const own = (await visitor.get(`/usage?key=${keyId}`)).text;
    expect(rowsOf(own)[0]).toEqual(['21 Nov 2026', '3', '0']);
    expect(own).toContain(`<option value="${keyId}" dir="auto" selected>`);
  });

  it('is not found for what is no key of the account, an unknown range, or a filter that is given twice', async () => {
    const [visitor, stranger] = [await portal.signedUp(), await portal.signedUp()];
    const { keyId } = await portal.application.authenticate.execute(await stranger.issueKey());
    const usages = [keyId, 'x', '-1', '99999999999999999999', '%00', '1&key=2'].map((key) => `/usage?key=${key}`);
    for (const path of [...usages, '/usage?range=31+days', '/refusals?request=a&request=b'])
      expect([path, (await visitor.get(path)).status]).toEqual([path, 404]);
    expect((await visitor.get('/usage?key=')).status).toBe(200);
  });
});

const scopesIn = ({ text }: Answer) => [...text.matchAll(/<code class="scope">([^<]+)</g)].map(([, scope]) => scope);

/** The page of the person's first key. */
const pathOf = async ({ email }: Person) => `/keys/${(await keysOf(email))[0]?.id}`;

const keysOf = async (email: string) => (await portal.application.listKeys.execute({ email })).map(({ key }) => key);

describe('a key', () => {
  it('opens the API, can be rotated, and is revoked for good', async () => {
    const visitor = await portal.signedUp();
    const text = await visitor.issueKey({ name: 'laptop', expiresIn: '30' });
    expect(await statusOf(text)).toBe(200);
    const [key] = await keysOf(visitor.email);
    expect(key).toMatchObject({ name: 'laptop' });
    const replacement = keyIn(await visitor.fillIn(`/keys/${key?.id}/rotate`, { overlap: '1' }));
    expect([await statusOf(text), await statusOf(replacement)]).toEqual([200, 200]);
    for (const { id } of await keysOf(visitor.email)) {
      const revoked = await visitor.fillIn(`/keys/${id}/revoke`);
      expect([revoked.status, revoked.headers.get('location')]).toEqual([303, '/keys']);
    }
    await untilKeyIs(portal, replacement, 'revoked_api_key');
  });

  it('is shown once: neither a reload nor its page shows it again or makes a second one', async () => {
    const visitor = await portal.signedUp();
    await visitor.get('/keys');
    const form = { ...ALL, _csrf: visitor.token };
    const answers = await Promise.all([1, 2, 3].map(() => visitor.post('/keys', form)));
    answers.push(await visitor.post('/keys', form));
    const [shown, ...again] = answers.sort((one, other) => one.status - other.status);
    expect([shown?.status, shown?.headers.get('cache-control')]).toEqual([200, 'no-store']);
    for (const { status, headers } of again) expect([status, headers.get('location')]).toEqual([303, '/keys']);
    const page = await visitor.get('/keys');
    expect(page.text).toContain('already sent');
    expect(page.text).not.toContain(/aas_live_\w+/.exec(shown?.text ?? '')?.[0]);
    expect(await keysOf(visitor.email)).toHaveLength(1);
  });

  it('is made by the same form sent again, if it could not be made before', async () => {
    const visitor = await portal.signedUp();
    const { accountId } = await portal.application.authenticate.execute(await visitor.issueKey());
    for (let made = 1; made < 25; made += 1) await portal.application.issueKey.execute({ accountId });
    const [rotated, ...others] = await keysOf(visitor.email);
    for (const path of ['/keys', `/keys/${rotated?.id}/rotate`]) {
      await visitor.get('/keys');
      const form = { ...ALL, overlap: '1', _csrf: visitor.token };
      const refused = await visitor.post(path, form);
      expect([refused.status, refused.text]).toEqual([422, expect.stringContaining('which is the most')]);
      await portal.application.revokeKey.execute({ id: others.pop()?.id ?? 0n });
      expect(keyIn(await visitor.post(path, form))).not.toBe('');
      expect((await visitor.post(path, form)).headers.get('location')).toBe('/keys');
    }
  });

  it('of another account is not found', async () => {
    const [owner, other] = [await portal.signedUp(), await portal.signedUp()];
    const text = await owner.issueKey();
    const path = await pathOf(owner);
    await other.get('/keys');
    for (const step of ['', '/rotate', '/revoke']) expect((await other.get(path + step)).status).toBe(404);
    for (const step of ['rotate', 'revoke', 'disable', 'enable', 'name'])
      expect((await other.post(`${path}/${step}`, { overlap: '0' })).status).toBe(404);
    expect(await statusOf(text)).toBe(200);
  });

  it('of restricted access has the scopes whose boxes were checked, which its pages and its replacement’s show', async () => {
    const visitor = await portal.signedUp();
    const scopes = ['pets:write', 'orders:read'];
    expect(boxesIn(await visitor.get('/keys'))).toEqual({ offered: SCOPES, checked: [] });
    const shown = await visitor.post('/keys', { scopes: scopes.toReversed() });
    expect(await statusOf(keyIn(shown))).toBe(403);
    const path = await pathOf(visitor);
    const pages = [await visitor.get(path), await visitor.get(`${path}/revoke`)];
    const rotated = await visitor.fillIn(`${path}/rotate`, { overlap: '0' });
    for (const page of [shown, ...pages, rotated]) expect(scopesIn(page)).toEqual(scopes);
    await visitor.issueKey();
    await visitor.issueKey({ scopes: 'pets:read' });
    await visitor.issueKey({ scopes: SCOPES });
    // Only full access grows: with a list, even of all, it has nothing that is added later.
    const made = (await keysOf(visitor.email)).map((key) => key.scopes);
    expect(made).toEqual([scopes, scopes, undefined, ['pets:read'], SCOPES]);
    const words = [...(await visitor.get('/keys')).text.matchAll(/data-label="May do">([^<]+)</g)];
    expect(words.map(([, word]) => word)).toEqual([`${SCOPES.length} scopes`, 'Read only', 'Full access', '2 scopes']);
  });

  it.each([
    ['no box', {}],
    ['an unknown scope', { scopes: ['pets:delete', 'constructor'] }],
  ])('is not made of %s checked: all problems are told at once, by the labels of the fields', async (_what, fields) => {
    const visitor = await portal.signedUp();
    const refused = await visitor.fillIn('/keys', { name: 'x'.repeat(101), expiresIn: '0', ...fields });
    expect(refused.status).toBe(422);
    const [, summary = ''] = /<div class="problems"[^>]*>([^]*?)<\/div>/.exec(refused.text) ?? [];
    const problems = [...summary.matchAll(/<a href="#(\w+)">([^:]+):/g)].map(([, id = '', label = '']) => [id, label]);
    expect(problems.map(([id]) => id)).toEqual(['name', 'expiresIn', 'scopes']);
    for (const [id, label] of problems.slice(0, 2))
      expect(refused.text).toContain(`<label for="${id}">${label}</label>`);
    expect(summary).toContain('<a href="#scopes">What the key may do: Must be at least one.</a>');
    expect(boxesIn(refused)).toEqual({ offered: SCOPES, checked: [] });
    expect(await keysOf(visitor.email)).toEqual([]);
  });

  it('that is refused for another field keeps its boxes and values', async () => {
    const visitor = await portal.signedUp();
    await visitor.get('/keys');
    const scopes = ['pets:read', 'orders:write'];
    for (const expiresIn of ['0', '1.5', '99999']) {
      const refused = await visitor.post('/keys', { scopes, expiresIn });
      expect(refused.status).toBe(422);
      expect(boxesIn(refused).checked).toEqual(scopes);
      expect(refused.text).toContain(`value="${expiresIn}"`);
    }
    expect(await keysOf(visitor.email)).toEqual([]);
  });

  it('is offered only scopes that its account has, and shows what it can do', async () => {
    const visitor = await portal.signedUp();
    await visitor.issueKey({ scopes: ['pets:read', 'pets:write'] });
    const { changeScopes } = portal.application;
    await changeScopes.execute({ email: visitor.email, scopes: ['pets:read', 'orders:read'] });
    const page = await visitor.get('/keys');
    expect(boxesIn(page)).toEqual({ offered: ['pets:read', 'orders:read'], checked: [] });
    expect(page.text).toContain('data-label="May do">Read only<');
    await visitor.post('/keys', { scopes: ['pets:write', 'pets:read'] });
    expect((await keysOf(visitor.email)).at(-1)?.scopes).toEqual(['pets:read']);
    await changeScopes.execute({ email: visitor.email, scopes: ['messages:read'] });
    expect((await visitor.get('/keys')).text).toContain('data-label="May do">None<');
  });

  it('is not made at the account’s limit, and the page says so', async () => {
    const visitor = await portal.signedUp();
    const { accountId } = await portal.application.authenticate.execute(await visitor.issueKey());
    for (let made = 1; made < 25; made += 1) await portal.application.issueKey.execute({ accountId });
    const { status, text } = await visitor.fillIn('/keys', ALL);
    expect(status).toBe(422);
    expect(text).toContain('revoke one first');
  });

  it('never appears in an address or the log, nor does a password', async () => {
    lines.length = 0;
    const visitor = await portal.signedUp();
    const key = await visitor.issueKey();
    await visitor.fillIn('/account/password', { current: 'wrong wrong wrong', next: 'next next next' });
    await visitor.get(`/nowhere?key=${key}`);
    const text = lines.join('');
    expect(text).toContain('"route":"/account/password"');
    for (const secret of [key, 'pass phrase', 'wrong wrong', 'next next', visitor.email]) {
      expect(text).not.toContain(secret);
    }
  });
});

describe('the list of keys', () => {
  it('says of a banned key that it is banned, and until when', async () => {
    const visitor = await portal.signedUp();
    const key = await visitor.issueKey({ name: 'laptop' });
    await visitor.issueKey({ name: 'other' });
    for (let sent = 0; sent < 60 + 50; sent += 1) await call(key);
    const until = `until <time datetime="${new Date(portal.clock.now() + 5 * MINUTE).toISOString()}">`;
    const list = await visitor.get('/keys');
    expect(list.text).toMatch(/<span class="tag bad">Banned<\/span> <small>ends <time [^>]+>in 5 min</);
    expect(list.text.match(/<span class="tag [a-z]+">(?:Active|Banned)/g)).toHaveLength(2);
    const path = await pathOf(visitor);
    expect((await visitor.get(path)).text).toContain(`<strong>Banned ${until}`);
    portal.clock.advance(5 * MINUTE);
    for (const page of ['/keys', path]) expect((await visitor.get(page)).text).not.toContain('Banned');
  });

  it('has a page for each state, and finds a part of a name', async () => {
    const visitor = await portal.signedUp();
    for (const name of ['Shop one', 'shop two', 'laptop', 'old shop']) await visitor.issueKey({ name });
    const [one, two, laptop, old] = (await keysOf(visitor.email)).map(({ id }) => `${id}`);
    await visitor.get(`/keys/${two}`);
    await visitor.post(`/keys/${two}/disable`);
    await visitor.post(`/keys/${old}/revoke`);
    for (const [query, listed] of [
      ['', [laptop, two, one]],
      ['?state=active', [laptop, one]],
      ['?state=disabled', [two]],
      ['?state=revoked', [old]],
      ['?state=expired', []],
      ['?state=all&name=SHOP', [old, two, one]],
    ] as const)
      expect(await walk(visitor, `/keys${query}`, /<th scope="row"><a href="\/keys\/(\d+)">/g)).toEqual([listed]);
  });

  it.each([
    ['state=active&state=revoked', 'Must be given once'],
    ['name=a&name=b', 'Must be given once'],
    ['state=lost', 'Must be one of current, active, disabled'],
    [`name=${'x'.repeat(101)}`, 'Must be at most 100 characters'],
  ])('lists nothing for %s, and says why', async (query, problem) => {
    const visitor = await portal.signedUp();
    await visitor.issueKey({ name: 'laptop' });
    const { status, text } = await visitor.get(`/keys?${query}`);
    expect(status).toBe(422);
    expect(text).toContain(problem);
    expect(text).not.toContain('laptop');
  });

  it('walks through all keys, forwards and back to the first page', async () => {
    const visitor = await portal.signedUp();
    await visitor.issueKey({ name: 'newest' });
    await ask(
      portal.databaseUrl,
      `INSERT INTO api_keys (account_id, hash, ending, name, created_at, revoked_at)
       SELECT id, encode(sha256((email || n)::text::bytea), 'hex'), 'abcd', 'key ' || n, $2::timestamptz, $2::timestamptz
       FROM accounts, generate_series(1, 80) AS n WHERE email = $1`,
      [visitor.email, new Date(portal.clock.now())],
    );
    const pages = await walk(visitor, '/keys?state=all', /<bdi dir="auto">((?:key \d+)|newest)<\/bdi><\/a>/g);
    expect(pages.flat()).toEqual([...Array.from({ length: 80 }, (_, index) => `key ${80 - index}`), 'newest']);
    expect(pages.map(({ length }) => length)).toEqual([25, 25, 25, 6]);
    const second = await visitor.get(linkIn(await visitor.get('/keys?state=all'), 'next') ?? '');
    expect(second.text).toContain('<a href="/keys?state=all">First page</a>');
    expect((await visitor.get(linkIn(second, 'prev') ?? '')).text).toContain('key 80<');
    const third = await visitor.get(linkIn(second, 'next') ?? '');
    const again = await visitor.get(linkIn(third, 'prev') ?? '');
    const last = await visitor.get(linkIn(third, 'next') ?? '');
    const ranges = [second, third, again, last].map(({ text }) => /aria-label="Pages"><span>([^<]+)/.exec(text)?.[1]);
    expect(ranges).toEqual(['26–50', '51–75', '26–50', '76–81 of 81']);
    for (const place of ['x', '-', '1-', '0', '99999999999999999999', '%00'])
      for (const side of ['after', 'before'])
        expect((await visitor.get(`/keys?${side}=${place}`)).text).toContain('newest');
  });
});

describe('the page of a key', () => {
  it('gives it another name, or none', async () => {
    const visitor = await portal.signedUp();
    await visitor.issueKey({ name: 'laptop' });
    const path = await pathOf(visitor);
    const refused = await visitor.fillIn(`${path}/name`, { name: 'x'.repeat(101) });
    expect(refused.status).toBe(422);
    expect(refused.text).toContain('<a href="#name">Name (optional): Must be 1 to 100 printable characters.</a>');
    const renamed = await visitor.post(`${path}/name`, { name: ' مفتاح ' });
    expect([renamed.status, renamed.headers.get('location')]).toEqual([303, path]);
    expect((await visitor.get(path)).text).toContain('<h1><bdi dir="auto">مفتاح</bdi>');
    await visitor.post(`${path}/name`, { name: '' });
    expect((await keysOf(visitor.email))[0]?.name).toBeUndefined();
  });

  it('disables it, with 401 from then on, and enables it again', async () => {
    const visitor = await portal.signedUp();
    const text = await visitor.issueKey();
    const path = await pathOf(visitor);
    expect((await visitor.get(path)).text).toContain('Disable the key');
    expect((await visitor.post(`${path}/disable`)).headers.get('location')).toBe(path);
    await untilKeyIs(portal, text, 'disabled_api_key');
    const disabled = await visitor.get(path);
    expect(disabled.text).toContain('>Disabled</span>');
    expect(disabled.text).not.toContain('/rotate');
    await visitor.post(`${path}/enable`);
    await untilKeyIs(portal, text, 'valid');
  });

  it('tells that its state has changed, to whoever changes it in another tab', async () => {
    const visitor = await portal.signedUp();
    const text = await visitor.issueKey();
    const path = await pathOf(visitor);
    const isNotChanged = async (action: string) => {
      expect((await visitor.post(path + action, { overlap: '1' })).headers.get('location')).toBe(path);
      expect((await visitor.get(path)).text).toContain('Nothing was changed: the key was disabled, rotated or revoked');
    };
    await visitor.fillIn(`${path}/disable`);
    await visitor.get(`${path}/rotate`);
    await isNotChanged('/rotate');
    await visitor.post(`${path}/revoke`);
    await visitor.get(path);
    await isNotChanged('/enable');
    await untilKeyIs(portal, text, 'revoked_api_key');
    expect(await keysOf(visitor.email)).toHaveLength(1);
  });

  it('shows when each operation was last called', async () => {
    const visitor = await portal.signedUp();
    const text = await visitor.issueKey();
    const path = await pathOf(visitor);
    expect((await visitor.get(path)).text).toContain('Never used.');
    const first = portal.clock.now();
    for (const target of ['/v1/pets?status=sold', '/v1/pets/7', '/v1/nowhere']) await call(text, target);
    portal.clock.advance(MINUTE);
    await call(text, '/v1/pets', 'HEAD');
    const USE = /<th scope="row"><code>([^<]+)<\/code>.*?<\/th>.*?datetime="([^"]+)"/g;
    const uses = async () =>
      [...(await visitor.get(path)).text.matchAll(USE)].map(([, operation, at = '']) => [operation, Date.parse(at)]);
    await until(async () => (await uses()).length === 2);
    expect(await uses()).toEqual([
      ['GET /v1/pets', startOf(MINUTE, portal.clock.now())],
      ['GET /v1/pets/{petId}', startOf(MINUTE, first)],
    ]);
  });
});

describe('a key that calls a deprecated operation', () => {
  const { operation } = getPetDeprecation;
  const MARK = '<span class="tag wait">Deprecated call</span>';
  const WARNING = 'Use <code>GET /v1/pets?id={petId}</code> instead.';

  it('is marked for five weeks in the list and on its page, with the end and the replacement', async () => {
    const visitor = await portal.signedUp();
    const [text] = [await visitor.issueKey({ name: 'old' }), await visitor.issueKey({ name: 'new' })];
    const [key, other] = await keysOf(visitor.email);
    expect(await statusOf(text)).toBe(200);
    expect((await visitor.get('/keys')).text).not.toContain(MARK);
    await call(text, '/v1/pets/1');
    const keys = await shows(visitor, '/keys', MARK);
    expect(keys.split(MARK)).toHaveLength(2);
    expect(keys).toContain(`still use <code>${operation}</code>`);
    const { text: page } = await visitor.get(`/keys/${key?.id}`);
    for (const html of [keys, page]) {
      expect(html).toMatch(/It will be removed on <time datetime="2030-12-05T00:00:00.000Z">5 Dec 2030<\/time>/);
      expect(html).toContain(WARNING);
    }
    expect(page.match(/<code>GET \/v1\/pets\/\{petId\}<\/code> <span class="tag wait">Deprecated/g)).toHaveLength(1);
    expect((await visitor.get(`/keys/${other?.id}`)).text).not.toContain(WARNING);
    portal.clock.advance(36 * DAY);
    await visitor.fillIn('/sign-in', { email: visitor.email, password: PASSWORD });
    for (const path of ['/keys', `/keys/${key?.id}`]) {
      const { status, text: html } = await visitor.get(path);
      expect(status).toBe(200);
      expect(html).not.toContain(WARNING);
    }
  });
});
