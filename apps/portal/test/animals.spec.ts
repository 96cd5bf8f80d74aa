import { describe, expect, it } from '@jest/globals';
import { ask } from '@adoption-store/test-support';
import { type Answer, linkIn, refusal, type Visitor, walk } from './support/portal-visitor.js';
import { addAnimal, call, make, nameCategory, nameOf, newCategoryId, portal } from './support/store.js';

/** Posts a form, and follows to the page that it leads to. */
async function sent(visitor: Visitor, path: string, fields: Record<string, string>) {
  const answer = await visitor.post(path, fields);
  expect(answer.status).toBe(303);
  return visitor.get(answer.location);
}

/** The version of what the page's form shows. */
const versionIn = ({ text }: Answer) => /name="version" value="(\w*)"/.exec(text)?.[1] ?? '';

describe('the page of categories', () => {
  it('adds one under an id that no animal has, or under the one that was typed', async () => {
    const visitor = await portal.signedUp();
    const id = newCategoryId();
    await visitor.get('/categories');
    const added = await sent(visitor, '/categories', { name: `Bären ${id} <b>`, id: '' });
    expect(added.text).toContain('The category is added.');
    expect(added.text).toContain(`Bären ${id} &lt;b&gt;`);
    expect(added.text).not.toContain(`Bären ${id} <b>`);
    const typed = await sent(visitor, '/categories', { name: `Otters ${id}`, id: `-${id}` });
    expect(typed.text).toContain(`Otters ${id}`);
    expect(await nameOf(-id)).toBe(`Otters ${id}`);
  });

  const named = newCategoryId();
  it.each([
    ['a name that is taken', { name: `SEALS ${named}`, id: '' }, 'Another category has the name &quot;SEALS'],
    ['an id that has a name', { name: 'Cats', id: `${named}` }, 'Already named “Seals'],
  ])('shows %s as a problem, with what was typed', async (_case, fields, problem) => {
    await nameCategory(named, `Seals ${named}`);
    const refused = await (await portal.signedUp()).fillIn('/categories', fields);
    expect(refused).toMatchObject(refusal(problem));
    for (const typed of Object.values(fields)) expect(refused.text).toContain(`value="${typed}"`);
  });

  it('renames one, and names a number that has none', async () => {
    const [foxes, none] = [newCategoryId(), newCategoryId()];
    await nameCategory(foxes, `Foxes ${foxes}`);
    const visitor = await portal.signedUp();
    const page = await visitor.get(`/categories/${foxes}/name`);
    expect(page.text).toContain(`value="Foxes ${foxes}"`);
    const fields = { name: `Red foxes ${foxes}`, version: versionIn(page) };
    const renamed = await sent(visitor, `/categories/${foxes}/name`, fields);
    expect(renamed.text).toContain('The category has its new name.');
    expect(renamed.text).toContain(fields.name);
    expect((await visitor.get(`/categories/${none}/name`)).text).toContain(`Name the category ${none}`);
    await sent(visitor, `/categories/${none}/name`, { name: `Foxes ${foxes}` });
    expect(await nameOf(none)).toBe(`Foxes ${foxes}`);
  });

  it('renames only what was shown: somebody else’s change is told, and replaced only by who has read of it', async () => {
    const id = newCategoryId();
    await nameCategory(id, `Cats ${id}`);
    const visitor = await portal.signedUp();
    const version = versionIn(await visitor.get(`/categories/${id}/name`));
    await nameCategory(id, `Tigers ${id}`);
    const refused = await visitor.post(`/categories/${id}/name`, { name: `Lions ${id}`, version });
    expect(refused).toMatchObject(refusal(`its name is “Tigers ${id}” now`));
    expect(refused.text).toContain(`value="Lions ${id}"`);
    expect(await nameOf(id)).toBe(`Tigers ${id}`);
    await sent(visitor, `/categories/${id}/name`, { name: `Lions ${id}`, version: versionIn(refused) });
    expect(await nameOf(id)).toBe(`Lions ${id}`);
  });

  it('removes one after a confirmation, unless an animal has it', async () => {
    const [unused, used] = [newCategoryId(), newCategoryId()];
    for (const id of [unused, used]) await nameCategory(id, `Kind ${id}`);
    await addAnimal('Luna', used);
    const visitor = await portal.signedUp();
    expect((await visitor.get(`/categories/${unused}/remove`)).text).toContain('Remove the category');
    expect(await nameOf(unused)).toBeDefined();
    expect((await sent(visitor, `/categories/${unused}/remove`, {})).text).toContain('The category is removed.');
    expect(await nameOf(unused)).toBeUndefined();
    expect((await visitor.get(`/categories/${used}/remove`)).text).not.toContain('Remove the category');
    const refused = await visitor.post(`/categories/${used}/remove`);
    expect(refused).toMatchObject(refusal(`An animal has the category ${used}.`));
    expect(await nameOf(used)).toBeDefined();
  });

  it.each(['x', '9223372036854775808'])('is not there for the number %s', async (id) => {
    const visitor = await portal.signedUp();
    await visitor.get('/categories');
    for (const path of [`/categories/${id}/name`, `/categories/${id}/remove`]) {
      expect((await visitor.get(path)).status).toBe(404);
      expect((await visitor.post(path, { name: 'Cats' })).status).toBe(404);
    }
  });
});

describe('the catalogue', () => {
  it('shows the name of a category beside its number, and offers the category that is shown', async () => {
    const [named, unnamed] = [newCategoryId(), newCategoryId()];
    await nameCategory(named, `Geckos ${named} <b>`);
    for (const id of [named, unnamed]) await addAnimal('Gex', id);
    const visitor = await portal.signedUp();
    const name = `Geckos ${named} &lt;b&gt;`;
    const { text } = await visitor.get(`/catalogue?categoryId=${named}`);
    expect(text).toContain(
      `<td class="words" data-label="Category"><bdi dir="auto">${name}</bdi> <small>${named}</small></td>`,
    );
    expect(text).toContain(`<option value="${named}" selected>\u2068${name}\u2069 (${named})</option>`);
    const { text: other } = await visitor.get(`/catalogue?categoryId=${unnamed}`);
    expect(other).toContain(`<td data-label="Category">${unnamed}</td>`);
    expect(other).toContain(`<option value="${unnamed}" selected>${unnamed}</option>`);
  });

  it('shows the animals of one category, on every page and with every status', async () => {
    const id = newCategoryId();
    const names = Array.from({ length: 21 }, (_, index) => `of-${id}-${index}.`);
    for (const name of names) await addAnimal(name, id, 'sold');
    await addAnimal('of-another-1.', newCategoryId(), 'sold');
    const visitor = await portal.signedUp();
    const pages = await walk(visitor, `/catalogue?categoryId=${id}`, /(of-\w+-\d+\.)/g);
    expect(pages).toEqual([names.slice(0, 20), names.slice(20)]);
    const { text } = await visitor.get(`/catalogue?categoryId=${id}`);
    expect(text).toContain(`href="/catalogue?status=pending&amp;categoryId=${id}"`);
    const pending = await visitor.get(`/catalogue?status=pending&categoryId=${id}`);
    expect(pending.text).toContain(`There is no pending animal in the category <bdi dir="auto">${id}</bdi>.`);
  });

  it.each([
    ['categoryId=cats', '#filter-categoryId', 'Category: Must be a whole number.'],
    ['id=12345678901234567890', '#filter-id', 'Id: Must be a whole number from -9223372036854775808'],
  ])('lists nothing for %s, and says why', async (query, link, problem) => {
    const refused = await (await portal.signedUp()).get(`/catalogue?${query}`);
    expect(refused).toMatchObject(refusal(`<a href="${link}">${problem}`));
    expect(refused.text).not.toContain('<tr id="animal-');
  });

  it('finds an animal by its id', async () => {
    const id = await addAnimal('Findus', newCategoryId());
    const visitor = await portal.signedUp();
    const { text } = await visitor.get(`/catalogue?id=${id}`);
    expect(text.match(/<tr id="animal-\d+"/g)).toEqual([`<tr id="animal-${id}"`]);
    expect((await visitor.get('/catalogue?id=999999999')).text).toContain('There is no animal with the id 999999999.');
  });

  it('shows an animal that was added among its neighbours, marked, and leads back to the first page', async () => {
    const id = newCategoryId();
    for (let index = 0; index < 25; index += 1) await addAnimal(`neighbour ${index}`, id);
    const visitor = await portal.signedUp();
    const path = `/catalogue?categoryId=${id}`;
    const answer = await visitor.fillIn(path, { name: 'חתול <b>', categoryId: `${id}`, status: '' });
    const [shown = '', fragment] = answer.location.split('#');
    const page = await visitor.get(shown);
    const rowsIn = ({ text }: Answer) => [...text.matchAll(/<tr id="(animal-\d+)"( class="added")?>/g)];
    expect(rowsIn(page)).toHaveLength(20);
    expect(rowsIn(page).flatMap(([, row, mark]) => (mark === undefined ? [] : [row]))).toEqual([fragment]);
    expect(page.text).toContain('<bdi dir="auto">חתול &lt;b&gt;</bdi></a> <span class="tag good">New</span>');
    expect(page.text).not.toContain('Next page');
    // Its position isn't known: nothing is counted.
    expect(page.text).not.toContain('aria-label="Pages"><span>');
    const before = await visitor.get(linkIn(page, 'prev') ?? '');
    // The first page is full again.
    expect(rowsIn(before)).toHaveLength(20);
    expect(before.text).not.toContain('First page');
    expect(before.text).toContain('neighbour 0<');
  });
});

describe('the page of an animal', () => {
  const animalOf = async (id: string) => (await call(`/v1/pets?id=${id}`)).json();

  it('changes what was shown: somebody else’s change is told, and replaced only by who has read of it', async () => {
    const category = newCategoryId();
    const id = await addAnimal('Luna', category);
    const visitor = await portal.signedUp();
    const path = `/catalogue/${id}`;
    expect((await visitor.get(`/catalogue?id=${id}`)).text).toContain(`<a href="${path}">`);
    const fields = { name: 'Lunette', categoryId: `${category}`, status: 'pending' };
    const stale = versionIn(await visitor.get(path));
    const body = JSON.stringify({ name: 'Moon' });
    await call(`/v1/pets/${id}`, undefined, { method: 'PATCH', body });
    const refused = await visitor.post(path, { ...fields, version: stale });
    expect(refused).toMatchObject(refusal('has changed this animal meanwhile'));
    expect(refused.text).toContain('<h1><bdi dir="auto">Moon</bdi></h1>');
    expect(await animalOf(id)).toMatchObject([{ name: 'Moon', status: 'available' }]);
    const changed = await sent(visitor, path, { ...fields, version: versionIn(refused) });
    expect(changed.text).toContain('The animal is changed.');
    expect(await animalOf(id)).toMatchObject([{ name: 'Lunette', status: 'pending' }]);
  });

  it('shows the account’s own orders of it, and is withdrawn only while none is placed', async () => {
    const id = await addAnimal('Luna', newCategoryId());
    const [visitor, stranger] = [await portal.signedUp(), await portal.signedUp()];
    const key = await visitor.issueKey();
    const order = await make('/v1/store/orders', `{"petId": ${id}}`, key);
    const path = `/catalogue/${id}`;
    const { text } = await visitor.get(path);
    expect(text).toContain(`<th scope="row">${order}</th>`);
    expect(text).toContain('<title>Luna – Adoption Store API</title>');
    expect((await stranger.get(path)).text).toContain('You have no order of it.');
    const refused = await visitor.fillIn(`${path}/withdraw`);
    expect(refused).toMatchObject(refusal('is placed, so it can'));
    await make(`/v1/store/orders/${order}/cancel`, '', key);
    expect((await sent(visitor, `${path}/withdraw`, {})).text).toContain('The animal is withdrawn.');
    expect((await visitor.get(path)).status).toBe(404);
  });
});

it.each([
  [
    '/categories',
    { name: ' ', id: '12345678901234567890' },
    'name',
    'id">Id (optional): Must be a whole number from -',
  ],
  ['/categories', { name: ' ', id: 'x1' }, 'name', 'id">Id (optional): Must be a whole number.'],
  [
    '/catalogue',
    { name: '', categoryId: '12345678901234567890' },
    'add-name',
    'add-categoryId">Category: Must be a whole',
  ],
  [
    '/catalogue',
    { name: '', categoryId: '\0' },
    'add-name',
    'add-categoryId">Category: Must be the name of a category',
  ],
  [
    '/catalogue/…',
    { name: ' ', categoryId: '', status: 'lost' },
    'edit-name',
    'edit-categoryId">Category: Must be a name',
  ],
])(
  'the form of %s tells all problems at once, and bounds only of what is beyond them',
  async (path, fields, name, other) => {
    const visitor = await portal.signedUp();
    const id = await addAnimal('Luna', newCategoryId());
    const refused = await visitor.fillIn(path.replace('…', id), fields);
    expect(refused).toMatchObject(refusal(`<a href="#${name}">Name: `));
    expect(refused.text).toContain(`<a href="#${other}`);
  },
);

describe('the category of an animal', () => {
  const animalIn = async (location: string) =>
    (await call(`/v1/pets?id=${/added=(\d+)/.exec(location)?.[1] ?? ''}`)).json();

  it('is chosen by its id, its name, or as it is offered, when an animal is added and changed', async () => {
    const [dogs, digits, nested, unnamed] = [newCategoryId(), newCategoryId(), newCategoryId(), newCategoryId()];
    await nameCategory(dogs, ` Großer  Hund\t${dogs}`);
    // A name of digits is never meant by digits, and what is offered of one category may be the name of another.
    await nameCategory(digits, `${unnamed}`);
    await nameCategory(nested, `${unnamed} (${digits})`);
    const visitor = await portal.signedUp();
    await visitor.get('/catalogue');
    for (const [typed, categoryId] of [
      [`0${dogs}`, dogs],
      [` +${unnamed} `, unnamed],
      [`${unnamed}`, unnamed],
      [`GROSSER HUND ${dogs} (${dogs})`, dogs],
      [` Großer  Hund\t${dogs}`, dogs],
      [`${unnamed} (${digits})`, digits],
      [`${unnamed} (${digits}) (${nested})`, nested],
    ] as const) {
      const { location } = await visitor.post('/catalogue', { name: 'Luna', categoryId: typed, status: '' });
      expect({ typed, animals: await animalIn(location) }).toMatchObject({ typed, animals: [{ categoryId }] });
    }
    const path = `/catalogue/${await addAnimal('Luna', dogs)}`;
    const page = await visitor.get(path);
    expect(page.text).toContain(`value="Großer Hund ${dogs} (${dogs})"`);
    const fields = { name: 'Luna', categoryId: `Hund (${dogs})`, status: 'available', version: versionIn(page) };
    expect(await visitor.post(path, fields)).toMatchObject(refusal('Must be the name of a category, or an id.'));
    const changed = await sent(visitor, path, { ...fields, categoryId: `${unnamed}` });
    expect(changed.text).toContain(`value="${unnamed}"`);
  });

  it('is found by its name among more than a thousand, of which the first are offered', async () => {
    const last = Array.from({ length: 1_000 }, newCategoryId).at(-1) ?? 0;
    const values = `SELECT id, 'Kind ' || id, 'kind ' || id FROM generate_series(${last - 999}, ${last}) AS all_ids (id)`;
    await ask(portal.databaseUrl, `INSERT INTO categories (id, name, name_key) ${values}`);
    const visitor = await portal.signedUp();
    const { text } = await visitor.get('/catalogue');
    expect(text.match(/<option value="[^"]+ \(-?\d+\)">/g)).toHaveLength(100);
    const { location } = await visitor.post('/catalogue', { name: 'Luna', categoryId: `KIND ${last}`, status: '' });
    expect(await animalIn(location)).toMatchObject([{ categoryId: last }]);
  });
});

describe('the orders', () => {
  const ROW = /<th scope="row">(\d+)<\/th>/g;

  it('are the account’s own, newest first, by status, page by page', async () => {
    const [visitor, stranger] = [await portal.signedUp(), await portal.signedUp()];
    const key = await visitor.issueKey();
    const order = async (name: string, itsKey: string) =>
      make('/v1/store/orders', `{"petId": ${await addAnimal(name, newCategoryId())}}`, itsKey);
    const theirs = await order('Theirs', await stranger.issueKey());
    const ids: string[] = [];
    for (let index = 0; index < 21; index += 1) ids.unshift(await order(`Animal ${index} <b>`, key));
    await make(`/v1/store/orders/${ids[3]}/cancel`, '', key);
    const pages = await walk(visitor, '/orders', ROW);
    expect(pages.flat()).toEqual(ids);
    expect(pages).toHaveLength(2);
    expect(await walk(visitor, '/orders?status=cancelled', ROW)).toEqual([[ids[3]]]);
    expect(await walk(stranger, '/orders', ROW)).toEqual([[theirs]]);
    const { text } = await visitor.get('/orders');
    expect(text).toContain('<bdi dir="auto">Animal 20 &lt;b&gt;</bdi>');
    expect(text).toContain('<a href="/orders" aria-current="page">');
    expect((await visitor.get('/orders?status=lost')).status).toBe(422);
  });

  it('say of an animal that was withdrawn that it was', async () => {
    const visitor = await portal.signedUp();
    const key = await visitor.issueKey();
    const animal = await addAnimal('Luna', newCategoryId());
    const order = await make('/v1/store/orders', `{"petId": ${animal}}`, key);
    await make(`/v1/store/orders/${order}/cancel`, '', key);
    expect((await call(`/v1/pets/${animal}`, undefined, { method: 'DELETE' })).status).toBe(204);
    expect((await visitor.get('/orders')).text).toContain(`Withdrawn <small>${animal}</small>`);
  });
});

describe('the messages', () => {
  it('are the account’s own, page by page, each with its text', async () => {
    const [visitor, stranger] = [await portal.signedUp(), await portal.signedUp()];
    const key = await visitor.issueKey();
    const ids: string[] = [];
    for (let index = 0; index < 22; index += 1)
      ids.push(await make('/v1/messages', { message: `message ${index} <b>` }, key));
    const theirs = await make('/v1/messages', { message: 'a secret' }, await stranger.issueKey());
    const pages = await walk(visitor, '/messages', /<a href="\/messages\/(msg_\w+)">/g);
    expect(pages.flat().sort()).toEqual(ids.toSorted());
    const page = await visitor.get(`/messages/${ids[3]}`);
    expect(page.text).toContain('<p class="message" dir="auto">message 3 &lt;b&gt;</p>');
    for (const path of [`/messages/${theirs}`, '/messages/msg_unknown', '/messages/%00']) {
      expect([path, (await visitor.get(path)).status]).toEqual([path, 404]);
    }
    expect((await visitor.get('/messages')).text).not.toContain('a secret');
  });
});
