import { describe, expect, it } from '@jest/globals';
import { DAY, MINUTE, SCOPES, startOf } from '@adoption-store/domain';
import { ask, until } from '@adoption-store/test-support';
import { getPetDeprecation } from '@adoption-store/web';
import { pino } from 'pino';
import { untilKeyIs, usePortal } from './support/portal.js';
import {
  type Answer,
  boxesIn,
  keyIn,
  linkIn,
  type Person,
  redirectTo,
  refusal,
  walk,
} from './support/portal-visitor.js';

const lines: string[] = [];
const logger = pino({ level: 'trace' }, { write: (line) => lines.push(line) });
const portal = usePortal({ log: { logger }, logRequests: true });

const callerOf = (key: string) => portal.application.authenticate.execute(key);

const keysOf = async ({ email }: Person) =>
  (await portal.application.listAllKeys.execute({ email })).map(({ key }) => key);

/** A person with one key: its text, and the path of its page. */
async function owner(fields?: Parameters<Person['issueKey']>[0]) {
  const person = await portal.signedUp();
  const text = await person.issueKey(fields);
  const { key } = await callerOf(text);
  return { person, text, accountId: key.accountId, path: `/keys/${key.id}` };
}

describe('a key', () => {
  it('can be rotated and revoked', async () => {
    const { person, text, path } = await owner({ name: 'laptop', expiresIn: '30' });
    const { key } = await callerOf(text);
    expect(key).toMatchObject({ name: 'laptop', expiresAt: portal.clock.now() + 30 * DAY });
    const replacement = keyIn(await person.fillIn(`${path}/rotate`, { overlap: '1' }));
    expect((await callerOf(replacement)).key.name).toBe('laptop');
    await untilKeyIs(portal, text, 'valid');
    expect(await person.post(`${path}/revoke`)).toMatchObject(redirectTo('/keys'));
    await untilKeyIs(portal, text, 'revoked_api_key');
  });

  it('is shown once: neither a reload nor its page shows it again or makes a second one', async () => {
    const person = await portal.signedUp();
    await person.get('/keys');
    const form = { access: 'full', _csrf: person.token };
    const answers = await Promise.all([1, 2, 3].map(() => person.post('/keys', form)));
    answers.push(await person.post('/keys', form));
    const [shown, ...again] = answers.sort((one, other) => one.status - other.status);
    expect([shown?.status, shown?.headers.get('cache-control')]).toEqual([200, 'no-store']);
    for (const answer of again) expect(answer).toMatchObject(redirectTo('/keys'));
    const page = await person.get('/keys');
    expect(page.text).toContain('already sent');
    expect(page.text).not.toContain(shown && keyIn(shown));
    expect(await keysOf(person)).toHaveLength(1);
  });

  it('is made by the same form sent again, if it could not be made before', async () => {
    const { person, accountId } = await owner();
    for (let made = 1; made < 25; made += 1) await portal.application.issueKey.execute({ accountId });
    const [rotated, ...others] = await keysOf(person);
    for (const path of ['/keys', `/keys/${rotated?.id}/rotate`]) {
      await person.get('/keys');
      const form = { access: 'full', overlap: '1', _csrf: person.token };
      const refused = await person.post(path, form);
      expect([refused.status, refused.text]).toEqual([
        422,
        expect.stringMatching(/which is the most[^]*revoke one first/),
      ]);
      await portal.application.revokeKey.execute({ id: others.pop()?.id ?? 0n });
      expect(keyIn(await person.post(path, form))).not.toBe('');
      expect((await person.post(path, form)).location).toBe('/keys');
    }
  });

  it('of another account is not found', async () => {
    const [{ text, path }, stranger] = [await owner(), await portal.signedUp()];
    await stranger.get('/keys');
    for (const step of ['', '/rotate', '/revoke']) expect((await stranger.get(path + step)).status).toBe(404);
    for (const step of ['rotate', 'revoke', 'disable', 'enable', 'name'])
      expect([step, (await stranger.post(`${path}/${step}`, { overlap: '0' })).status]).toEqual([step, 404]);
    await untilKeyIs(portal, text, 'valid');
  });

  it('never appears in an address or the log, nor does a password', async () => {
    lines.length = 0;
    const { person, text } = await owner();
    await person.fillIn('/account/password', { current: 'wrong wrong wrong', next: 'next next next' });
    await person.get(`/nowhere?key=${text}`);
    const logged = lines.join('');
    expect(logged).toContain('"route":"/account/password"');
    for (const secret of [text, 'pass phrase', 'wrong wrong', 'next next', person.email])
      expect(logged).not.toContain(secret);
  });
});

describe('the scopes of a key', () => {
  const scopesIn = ({ text }: Answer) => [...text.matchAll(/<code class="scope">([^<]+)</g)].map(([, scope]) => scope);
  const scopesOf = async (person: Person) => (await keysOf(person)).map(({ scopes }) => scopes);

  it('are those whose boxes were checked, which its pages and its replacement’s show', async () => {
    const scopes = ['pets:write', 'orders:read'];
    const person = await portal.signedUp();
    expect(boxesIn(await person.get('/keys'))).toEqual({ offered: SCOPES, checked: [] });
    const shown = await person.post('/keys', { scopes: scopes.toReversed() });
    const path = `/keys/${(await keysOf(person))[0]?.id}`;
    const pages = [await person.get(path), await person.get(`${path}/revoke`)];
    const rotated = await person.fillIn(`${path}/rotate`, { overlap: '0' });
    for (const page of [shown, ...pages, rotated]) expect(scopesIn(page)).toEqual(scopes);
    expect(await scopesOf(person)).toEqual([scopes, scopes]);
  });

  it('are in the list of keys in words', async () => {
    const { person } = await owner({ scopes: ['pets:write', 'orders:read'] });
    await person.issueKey();
    await person.issueKey({ scopes: 'pets:read' });
    await person.issueKey({ scopes: SCOPES });
    const words = [...(await person.get('/keys')).text.matchAll(/data-label="May do">([^<]+)</g)];
    expect(words.map(([, word]) => word)).toEqual([`${SCOPES.length} scopes`, 'Read only', 'Full access', '2 scopes']);
    // Only full access grows: with a list, even of all, it has nothing that is added later.
    expect((await scopesOf(person)).slice(1)).toEqual([undefined, ['pets:read'], SCOPES]);
  });

  it('are at least one that there is: all problems are told at once, by the labels of the fields', async () => {
    const person = await portal.signedUp();
    const fields = { name: 'x'.repeat(101), expiresIn: '0', scopes: ['pets:delete', 'constructor'] };
    const refused = await person.fillIn('/keys', fields);
    expect(refused.status).toBe(422);
    const [, summary = ''] = /<div class="problems"[^>]*>([^]*?)<\/div>/.exec(refused.text) ?? [];
    const problems = [...summary.matchAll(/<a href="#(\w+)">([^:]+):/g)].map(([, id = '', label = '']) => [id, label]);
    expect(problems.map(([id]) => id)).toEqual(['name', 'expiresIn', 'scopes']);
    for (const [id, label] of problems.slice(0, 2))
      expect(refused.text).toContain(`<label for="${id}">${label}</label>`);
    expect(summary).toContain('<a href="#scopes">What the key may do: Must be at least one.</a>');
    expect(boxesIn(refused)).toEqual({ offered: SCOPES, checked: [] });
    expect(await keysOf(person)).toEqual([]);
  });

  it.each(['0', '1.5', '3651'])('stay checked while the form is refused for %s days', async (expiresIn) => {
    const person = await portal.signedUp();
    const scopes = ['pets:read', 'orders:write'];
    const refused = await person.fillIn('/keys', { scopes, expiresIn });
    expect(refused.status).toBe(422);
    expect(boxesIn(refused).checked).toEqual(scopes);
    expect(refused.text).toContain(`value="${expiresIn}"`);
    expect(await keysOf(person)).toEqual([]);
  });

  it('are only those of its account', async () => {
    const { person } = await owner({ scopes: ['pets:read', 'pets:write'] });
    const { changeScopes } = portal.application;
    await changeScopes.execute({ email: person.email, scopes: ['pets:read', 'orders:read'] });
    const page = await person.get('/keys');
    expect(boxesIn(page)).toEqual({ offered: ['pets:read', 'orders:read'], checked: [] });
    expect(page.text).toContain('data-label="May do">Read only<');
    await person.post('/keys', { scopes: ['pets:write', 'pets:read'] });
    expect((await scopesOf(person)).at(-1)).toEqual(['pets:read']);
    await changeScopes.execute({ email: person.email, scopes: ['messages:read'] });
    expect((await person.get('/keys')).text).toContain('data-label="May do">None<');
  });
});

describe('the list of keys', () => {
  it('says of a banned key that it is banned, and until when, as its page and the usage do', async () => {
    const { person, text, path } = await owner({ name: 'laptop' });
    await person.issueKey({ name: 'other' });
    const caller = await callerOf(text);
    for (let sent = 0; sent < 60 + 50; sent += 1) await portal.application.meterRequest.execute(caller);
    const list = (await person.get('/keys')).text;
    expect(list).toMatch(/<span class="tag bad">Banned<\/span> <small>ends <time [^>]+>in 5 min</);
    expect(list.match(/<span class="tag [a-z]+">(?:Active|Banned)/g)).toHaveLength(2);
    const end = `<time datetime="${new Date(portal.clock.now() + 5 * MINUTE).toISOString()}" data-shape="minute">`;
    expect((await person.get(path)).text).toContain(`<strong>Banned until ${end}`);
    expect((await person.get('/usage')).text).toMatch(/Banned: .*laptop.* it kept sending after 429s/);
    portal.clock.advance(5 * MINUTE);
    for (const page of ['/keys', path, '/usage']) expect((await person.get(page)).text).not.toContain('Banned');
  });

  it('has a page for each state, and finds a part of a name', async () => {
    const person = await portal.signedUp();
    for (const name of ['Shop one', 'shop two', 'laptop', 'old shop']) await person.issueKey({ name });
    const [one, two, laptop, old] = (await keysOf(person)).map(({ id }) => `${id}`);
    await person.get('/keys');
    await person.post(`/keys/${two}/disable`);
    await person.post(`/keys/${old}/revoke`);
    for (const [query, listed] of [
      ['', [laptop, two, one]],
      ['?state=active', [laptop, one]],
      ['?state=disabled', [two]],
      ['?state=revoked', [old]],
      ['?state=expired', []],
      ['?state=all&name=SHOP', [old, two, one]],
    ] as const)
      expect(await walk(person, `/keys${query}`, /<th scope="row"><a href="\/keys\/(\d+)">/g)).toEqual([listed]);
  });

  it.each([
    ['state=active&state=revoked', 'Must be given once'],
    ['state=lost', 'Must be one of current, active, disabled'],
    [`name=${'x'.repeat(101)}`, 'Must be at most 100 characters'],
  ])('lists nothing for %s, and says why', async (query, problem) => {
    const { person } = await owner({ name: 'laptop' });
    const refused = await person.get(`/keys?${query}`);
    expect(refused).toMatchObject(refusal(problem));
    expect(refused.text).not.toContain('laptop');
  });

  it('walks through all keys, forwards and back to the first page', async () => {
    const { person } = await owner({ name: 'newest' });
    await ask(
      portal.databaseUrl,
      `INSERT INTO api_keys (account_id, hash, ending, name, created_at, revoked_at)
       SELECT id, encode(sha256((email || n)::text::bytea), 'hex'), 'abcd', 'key ' || n, $2::timestamptz, $2::timestamptz
       FROM accounts, generate_series(1, 80) AS n WHERE email = $1`,
      [person.email, new Date(portal.clock.now())],
    );
    const pages = await walk(person, '/keys?state=all', /<bdi dir="auto">((?:key \d+)|newest)<\/bdi><\/a>/g);
    expect(pages.flat()).toEqual([...Array.from({ length: 80 }, (_, index) => `key ${80 - index}`), 'newest']);
    expect(pages.map(({ length }) => length)).toEqual([25, 25, 25, 6]);
    const follow = (page: Answer, rel: 'next' | 'prev') => person.get(linkIn(page, rel) ?? '');
    const second = await follow(await person.get('/keys?state=all'), 'next');
    expect(second.text).toContain('<a href="/keys?state=all">First page</a>');
    expect((await follow(second, 'prev')).text).toContain('key 80<');
    const third = await follow(second, 'next');
    const shown = [second, third, await follow(third, 'prev'), await follow(third, 'next')];
    const ranges = shown.map(({ text }) => /aria-label="Pages"><span>([^<]+)/.exec(text)?.[1]);
    expect(ranges).toEqual(['26–50', '51–75', '26–50', '76–81 of 81']);
  });

  it.each(['x', '0', '99999999999999999999', '%00'])('begins with its first page for the place %s', async (place) => {
    const { person } = await owner({ name: 'newest' });
    for (const side of ['after', 'before'])
      expect((await person.get(`/keys?${side}=${place}`)).text).toContain('newest');
  });
});

describe('the page of a key', () => {
  it('gives it another name, or none', async () => {
    const { person, path } = await owner({ name: 'laptop' });
    const problem = '<a href="#name">Name (optional): Must be 1 to 100 printable characters.</a>';
    expect(await person.fillIn(`${path}/name`, { name: 'x'.repeat(101) })).toMatchObject(refusal(problem));
    expect(await person.post(`${path}/name`, { name: ' مفتاح ' })).toMatchObject(redirectTo(path));
    expect((await person.get(path)).text).toContain('<h1><bdi dir="auto">مفتاح</bdi>');
    await person.post(`${path}/name`, { name: '' });
    expect((await keysOf(person))[0]?.name).toBeUndefined();
  });

  it('disables it, and enables it again', async () => {
    const { person, text, path } = await owner();
    expect((await person.get(path)).text).toContain('Disable the key');
    expect((await person.post(`${path}/disable`)).location).toBe(path);
    await untilKeyIs(portal, text, 'disabled_api_key');
    const disabled = await person.get(path);
    expect(disabled.text).toContain('>Disabled</span>');
    expect(disabled.text).not.toContain('/rotate');
    await person.post(`${path}/enable`);
    await untilKeyIs(portal, text, 'valid');
  });

  it.each([
    ['/rotate', 'disabled', '/disable'],
    ['/enable', 'revoked', '/revoke'],
  ])('says that %s changed nothing, because the key was %s in another tab', async (action, _how, before) => {
    const { person, path } = await owner();
    await person.fillIn(path + before);
    await person.get(path);
    expect((await person.post(path + action, { overlap: '1' })).location).toBe(path);
    expect((await person.get(path)).text).toContain('Nothing was changed: the key was disabled, rotated or revoked');
    expect(await keysOf(person)).toHaveLength(1);
  });

  it('shows when each operation was last called', async () => {
    const { person, text, path } = await owner();
    expect((await person.get(path)).text).toContain('Never used.');
    const caller = await callerOf(text);
    const first = portal.clock.now();
    for (const operation of ['GET /v1/pets', 'POST /v1/pets'])
      portal.application.recordRequest.execute(caller, { isUse: true, operation });
    portal.clock.advance(MINUTE);
    portal.application.recordRequest.execute(caller, { isUse: true, operation: 'GET /v1/pets' });
    const USE = /<th scope="row"><code>([^<]+)<\/code>.*?<\/th>.*?datetime="([^"]+)"/g;
    const uses = async () =>
      [...(await person.get(path)).text.matchAll(USE)].map(([, operation, at = '']) => [operation, Date.parse(at)]);
    await until(async () => (await uses()).length === 2);
    expect(await uses()).toEqual([
      ['GET /v1/pets', startOf(MINUTE, portal.clock.now())],
      ['POST /v1/pets', startOf(MINUTE, first)],
    ]);
  });
});

it('a key that calls a deprecated operation is marked, with the end and the replacement', async () => {
  const MARK = '<span class="tag wait">Deprecated call</span>';
  const WARNING = 'Use <code>GET /v1/pets?id={petId}</code> instead.';
  const { person, text, path } = await owner({ name: 'old' });
  await person.issueKey({ name: 'new' });
  const other = `/keys/${(await keysOf(person))[1]?.id}`;
  const { operation } = getPetDeprecation;
  portal.application.recordRequest.execute(await callerOf(text), { isUse: true, operation });
  await until(async () => (await person.get('/keys')).text.includes(MARK));
  const [keys, page] = [(await person.get('/keys')).text, (await person.get(path)).text];
  expect(keys.split(MARK)).toHaveLength(2);
  expect(keys).toContain(`still use <code>${operation}</code>`);
  for (const html of [keys, page]) {
    expect(html).toMatch(/It will be removed on <time datetime="2030-12-05T00:00:00.000Z">5 Dec 2030<\/time>/);
    expect(html).toContain(WARNING);
  }
  expect(page.match(/<code>GET \/v1\/pets\/\{petId\}<\/code> <span class="tag wait">Deprecated/g)).toHaveLength(1);
  expect((await person.get(other)).text).not.toContain(WARNING);
});
