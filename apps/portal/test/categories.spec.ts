import { describe, expect, it } from '@jest/globals';
import { usePortal, type Visitor } from './support/portal-visitor.js';

const portal = usePortal();

let named = 0;
const newName = () => `Kind ${(named += 1)}`;
const name = (id: bigint, text = newName()) => portal.application.nameCategory.execute({ id, name: text });
const find = (id: bigint) => portal.application.getCategory.execute(id).catch(() => undefined);

/** Posts a form, and follows to the page that it leads to. */
async function sent(visitor: Visitor, path: string, fields: Record<string, string>) {
  const answer = await visitor.post(path, fields);
  expect(answer.status).toBe(303);
  return visitor.get(answer.headers.get('location') ?? '');
}

describe('the page of categories', () => {
  it('adds one under a number that no animal has, or under the one that was typed', async () => {
    const visitor = await portal.signedUp();
    await visitor.get('/categories');
    const added = await sent(visitor, '/categories', { name: 'Bären <b>', number: '' });
    expect(added.text).toContain('The category is added.');
    expect(added.text).toContain('Bären &lt;b&gt;');
    expect(added.text).not.toContain('Bären <b>');
    const typed = await sent(visitor, '/categories', { name: 'Otters', number: '-77' });
    expect(typed.text).toContain('Otters');
    expect(await find(-77n)).toEqual({ id: -77n, name: 'Otters' });
  });

  it.each([
    ['a blank name', { name: ' ', number: '' }, 'Must not be empty or only white space.'],
    ['a name that is taken', { name: 'SEALS', number: '' }, 'Another category has the name &quot;SEALS&quot;.'],
    ['such a name for a number', { name: 'SEALS', number: '501' }, 'Another category has the name'],
    [
      'a word as its number',
      { name: 'Cats', number: 'one' },
      'Must be a whole number from -9223372036854775808 to 9223372036854775807.',
    ],
    ['a number beyond int64', { name: 'Cats', number: '9223372036854775808' }, 'Must be a whole number from'],
    ['a number that has a name', { name: 'Cats', number: '500' }, 'Already named “Seals”.'],
  ])('shows %s as a problem, with what was typed', async (_case, fields, problem) => {
    await name(500n, 'Seals');
    const visitor = await portal.signedUp();
    await visitor.get('/categories');
    const refused = await visitor.post('/categories', fields);
    expect(refused.status).toBe(422);
    expect(refused.text).toContain(problem);
    expect(refused.text).toContain(`value="${fields.name}"`);
    expect(refused.text).toContain(`value="${fields.number}"`);
    expect(await find(501n)).toBeUndefined();
  });

  it('renames one, and names a number that has none', async () => {
    await name(600n, 'Foxes');
    const visitor = await portal.signedUp();
    expect((await visitor.get('/categories/600/name')).text).toContain('value="Foxes"');
    const version600 = /name="version" value="(\w+)"/.exec((await visitor.get('/categories/600/name')).text)?.[1] ?? '';
    const renamed = await sent(visitor, '/categories/600/name', { name: 'Red foxes', version: version600 });
    expect(renamed.text).toContain('The category has its new name.');
    expect(renamed.text).toContain('Red foxes');
    expect((await visitor.get('/categories/601/name')).text).toContain('Name the category 601');
    await sent(visitor, '/categories/601/name', { name: 'Foxes' });
    const page = await visitor.get('/categories/601/name');
    const version = /name="version" value="(\w+)"/.exec(page.text)?.[1] ?? '';
    const refused = await visitor.post('/categories/601/name', { name: 'red FOXES', version });
    expect(refused.status).toBe(422);
    expect(refused.text).toMatch(/id="name-problem">Another category has the name/);
    expect(await find(601n)).toMatchObject({ name: 'Foxes' });
  });

  it('renames only what was shown: somebody else’s change is told, and replaced only by who has read of it', async () => {
    await name(610n, 'Cats');
    const visitor = await portal.signedUp();
    const versionIn = (text: string) => /name="version" value="(\w*)"/.exec(text)?.[1] ?? '';
    const version = versionIn((await visitor.get('/categories/610/name')).text);
    await name(610n, 'Tigers');
    const refused = await visitor.post('/categories/610/name', { name: 'Lions', version });
    expect(refused.status).toBe(422);
    expect(refused.text).toContain('its name is “Tigers” now');
    expect(refused.text).toContain('value="Lions"');
    expect(await find(610n)).toMatchObject({ name: 'Tigers' });
    await sent(visitor, '/categories/610/name', { name: 'Lions', version: versionIn(refused.text) });
    expect(await find(610n)).toMatchObject({ name: 'Lions' });
  });

  it('tells all problems of its form at once', async () => {
    const visitor = await portal.signedUp();
    await visitor.get('/categories');
    const { text } = await visitor.post('/categories', { name: ' ', number: '12345678901234567890' });
    expect(text).toContain('<a href="#name">Name: Must not be empty or only white space.</a>');
    expect(text).toContain('<a href="#number">Number (optional): Must be a whole number from');
  });

  it('removes one after a confirmation, unless an animal has it', async () => {
    for (const id of [700n, 701n]) await name(id);
    await portal.application.addAnimal.execute({ name: 'Luna', categoryId: 701n });
    const visitor = await portal.signedUp();
    expect((await visitor.get('/categories/700/remove')).text).toContain('Remove the category');
    expect(await find(700n)).toBeDefined();
    expect((await sent(visitor, '/categories/700/remove', {})).text).toContain('The category is removed.');
    expect(await find(700n)).toBeUndefined();
    const refused = await visitor.post('/categories/701/remove');
    expect(refused.status).toBe(422);
    expect(refused.text).toContain('An animal has the category 701.');
    expect(await find(701n)).toBeDefined();
  });

  it('shows all of them, page by page', async () => {
    for (let id = 8_000n; id < 8_045n; id += 1n) await name(id, `page-${id}.`);
    const visitor = await portal.signedUp();
    const seen = [];
    let next: string | undefined = '/categories';
    while (next !== undefined) {
      const { text } = await visitor.get(next);
      seen.push(...(text.match(/"auto">page-\d+\.<\/bdi><\/th>/g) ?? []));
      next = /href="(\/categories\?after=-?\d+)" rel="next"/.exec(text)?.[1];
    }
    expect(new Set(seen).size).toBe(45);
  });

  it.each(['x', '9223372036854775808', '1.5'])('is not there for the number %s', async (id) => {
    const visitor = await portal.signedUp();
    await visitor.get('/categories');
    for (const path of [`/categories/${id}/name`, `/categories/${id}/remove`]) {
      expect((await visitor.get(path)).status).toBe(404);
      expect((await visitor.post(path, { name: 'Cats' })).status).toBe(404);
    }
  });

  it('offers nothing to an account that may not write, and takes nothing from it', async () => {
    await name(900n, 'Lynxes');
    const visitor = await portal.signedUp();
    await portal.application.holdToScopes.execute({ email: visitor.email, scopes: ['pets:read'] });
    const page = await visitor.get('/categories');
    expect(page.status).toBe(200);
    for (const each of ['Add a category', 'Rename', 'Remove']) expect(page.text).not.toContain(each);
    for (const path of ['/categories', '/categories/900/name', '/categories/900/remove']) {
      const refused = await visitor.post(path, { name: 'Nobody', number: '901' });
      expect([path, refused.status]).toEqual([path, 403]);
    }
    for (const path of ['/categories/900/name', '/categories/900/remove'])
      expect((await visitor.get(path)).status).toBe(403);
    expect(await find(900n)).toMatchObject({ name: 'Lynxes' });
    expect(await find(901n)).toBeUndefined();
  });
});

describe('the catalogue', () => {
  it('shows the name of a category beside its number', async () => {
    await name(1_000n, 'Geckos <b>');
    const { id } = await portal.application.addAnimal.execute({ name: 'Gex', categoryId: 1_000n });
    await portal.application.addAnimal.execute({ name: 'Unnamed', categoryId: 1_001n });
    const visitor = await portal.signedUp();
    const { text } = await visitor.get(`/catalogue?after=${id - 1n}`);
    expect(text).toContain(
      '<td data-label="Category"><span><bdi dir="auto">Geckos &lt;b&gt;</bdi> <small>1000</small></span></td>',
    );
    expect(text).toContain('<td data-label="Category">1001</td>');
    expect(text).toContain('<option value="1000" label="Geckos &lt;b&gt;">');
  });

  it('shows the animals of one category, on every page and with every status', async () => {
    const status = 'sold' as const;
    for (let index = 0; index < 25; index += 1)
      await portal.application.addAnimal.execute({ name: `of-1100-${index}.`, categoryId: 1_100n, status });
    await portal.application.addAnimal.execute({ name: 'of another', categoryId: 1_101n, status });
    const visitor = await portal.signedUp();
    const first = await visitor.get('/catalogue?categoryId=1100');
    expect(first.text.match(/of-1100-\d+\./g)).toHaveLength(20);
    const next = /href="(\/catalogue\?categoryId=1100&amp;after=\d+)"/.exec(first.text)?.[1] ?? '';
    const second = await visitor.get(next.replace('&amp;', '&'));
    expect(second.text.match(/of-1100-\d+\./g)).toHaveLength(5);
    expect(first.text + second.text).not.toContain('of another');
    expect(first.text).toContain('href="/catalogue?status=pending&amp;categoryId=1100"');
    const pending = await visitor.get('/catalogue?status=pending&categoryId=1100');
    expect(pending.text).toContain('There is no pending animal in the category <bdi dir="auto">1100</bdi>.');
  });

  it('offers the named categories, and the one that is shown', async () => {
    await name(1_200n, 'Newts');
    const visitor = await portal.signedUp();
    const optionsOf = (text: string) => text.match(/<option value="-?\d+"[^>]*>[^<]+<\/option>/g) ?? [];
    const unnamed = optionsOf((await visitor.get('/catalogue?categoryId=1201')).text);
    expect(unnamed[0]).toBe('<option value="1201" dir="auto" selected>1201</option>');
    const options = optionsOf((await visitor.get('/catalogue?categoryId=1200')).text);
    expect(options).toContain('<option value="1200" dir="auto" selected>Newts (1200)</option>');
  });

  it.each([
    ['categoryId=cats', '#filter-categoryId', 'Category: Must be a whole number from'],
    ['categoryId=9223372036854775808', '#filter-categoryId', 'Category: Must be a whole number from'],
    ['categoryId=1&categoryId=2', '#filter-categoryId', 'Category: Must be given once.'],
    ['id=12345678901234567890', '#filter-id', 'Id: Must be a whole number from -9223372036854775808'],
  ])('lists nothing for %s, and says why', async (query, link, problem) => {
    await portal.application.addAnimal.execute({ name: 'never listed', categoryId: 1n });
    const visitor = await portal.signedUp();
    const { status, text } = await visitor.get(`/catalogue?${query}`);
    expect(status).toBe(422);
    expect(text).toContain(`<a href="${link}">${problem}`);
    expect(text).not.toContain('never listed');
  });

  it('finds an animal by its id', async () => {
    const { id } = await portal.application.addAnimal.execute({ name: 'Findus', categoryId: 1n });
    const visitor = await portal.signedUp();
    const { text } = await visitor.get(`/catalogue?id=${id}`);
    expect(text.match(/<tr id="animal-\d+"/g)).toEqual([`<tr id="animal-${id}"`]);
    expect((await visitor.get('/catalogue?id=999999999')).text).toContain('There is no animal with the id 999999999.');
  });

  it('tells all problems of a new animal at once, and the range of its category', async () => {
    const visitor = await portal.signedUp();
    await visitor.get('/catalogue');
    const { status, text } = await visitor.post('/catalogue', {
      name: '',
      categoryId: '12345678901234567890',
      status: '',
    });
    expect(status).toBe(422);
    expect(text).toContain('<a href="#add-name">Name: ');
    expect(text).toContain(
      '<a href="#add-categoryId">Category number: Must be a whole number from -9223372036854775808',
    );
  });

  it('shows an animal that was added among its neighbours, marked, and leads back to the first page', async () => {
    for (let index = 0; index < 45; index += 1)
      await portal.application.addAnimal.execute({ name: `neighbour ${index}`, categoryId: 1_300n });
    const visitor = await portal.signedUp();
    await visitor.get('/catalogue?categoryId=1300');
    const answer = await visitor.post('/catalogue?categoryId=1300', { name: 'חתול', categoryId: '1300', status: '' });
    const [path, fragment = ''] = (answer.headers.get('location') ?? '').split('#');
    let { text } = await visitor.get(path ?? '');
    const rows = (page: string) => [...page.matchAll(/<tr id="(animal-\d+)"( class="added")?>/g)];
    expect(rows(text)).toHaveLength(20);
    expect(
      rows(text)
        .filter(([, , mark]) => mark !== undefined)
        .map(([, id]) => id),
    ).toEqual([fragment]);
    expect(text).toContain('<bdi dir="auto">חתול</bdi> <span class="tag good">New</span>');
    expect(text).not.toContain('Next page');
    const lengths = [];
    for (;;) {
      const previous = /href="([^"]+)" rel="prev"/.exec(text)?.[1]?.replaceAll('&amp;', '&');
      if (previous === undefined) break;
      text = (await visitor.get(previous)).text;
      lengths.push(rows(text).length);
    }
    // The last one is the first page, which is full again.
    expect(lengths).toEqual([20, 20]);
    expect(text).not.toContain('First page');
    expect(text).toContain('neighbour 0<');
  });
});
