import { describe, expect, it } from '@jest/globals';
import type { Scope } from '@adoption-store/domain';
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

  it('shows the animals of one category, newest first, or by the beginning of their names in any case, page by page', async () => {
    const id = newCategoryId();
    const names = Array.from({ length: 21 }, (_, index) => `Wïllow-${id}-${index + 10}.`);
    for (const name of names.toReversed()) await addAnimal(name, id, 'sold');
    await addAnimal(`Not-wïllow-${id}-10.`, id, 'sold');
    await addAnimal(`Wïllow-${id}-10.`, newCategoryId(), 'sold');
    const visitor = await portal.signedUp();
    const [path, found] = [`/catalogue?categoryId=${id}`, `find=${encodeURIComponent(`WI\u0308LLOW-${id}`)}`];
    const walked = (address: string) => walk(visitor, address, /((?:Not-w|W)ïllow-\w+-\d+\.)/g);
    expect(await walked(path)).toEqual([[`Not-wïllow-${id}-10.`, ...names.slice(0, 19)], names.slice(19)]);
    expect(await walked(`${path}&${found}`)).toEqual([names.slice(0, 20), names.slice(20)]);
    expect((await visitor.get(path)).text).toContain(`href="/catalogue?status=pending&amp;categoryId=${id}"`);
    const pending = `${path}&status=pending`;
    const none = `There is no pending animal in the category <bdi dir="auto">${id}</bdi>.`;
    expect((await visitor.get(pending)).text).toContain(none);
    expect((await visitor.get(`${pending}&${found}`)).text).toContain('There is no pending animal');
  });

  it.each([
    ['categoryId=cats', '#filter-categoryId', 'Category: Must be a whole number.'],
    [`find=${'x'.repeat(101)}`, '#filter-find', 'Name or id: Must be at most 100 characters'],
  ])('lists nothing for %s, and says why', async (query, link, problem) => {
    const refused = await (await portal.signedUp()).get(`/catalogue?${query}`);
    expect(refused).toMatchObject(refusal(`<a href="${link}">${problem}`));
    expect(refused.text).not.toContain('<tr id="animal-');
  });

  it('finds an animal by its id, and digits that are no id by name', async () => {
    const id = await addAnimal('Findus', newCategoryId());
    const visitor = await portal.signedUp();
    const { text } = await visitor.get(`/catalogue?find=${id}`);
    expect(text.match(/<tr id="animal-\d+"/g)).toEqual([`<tr id="animal-${id}"`]);
    const none = await visitor.get('/catalogue?find=999999999');
    expect(none.text).toContain(
      'There is no animal with that id, or whose name begins with “<bdi dir="auto">999999999</bdi>”.',
    );
    await addAnimal('999999999 & one', newCategoryId());
    expect((await visitor.get('/catalogue?find=999999999')).text).toContain('999999999 &amp; one</bdi>');
    expect((await visitor.get('/catalogue?find=99999999999999999999')).status).toBe(200);
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
    // Its position isn't known: nothing is counted.
    expect(page.text).not.toContain('aria-label="Pages"><span>');
    const before = await visitor.get(linkIn(page, 'prev') ?? '');
    // The first page is full again.
    expect(rowsIn(before)).toHaveLength(20);
    expect(before.text).not.toContain('First page');
    expect(before.text).toContain('neighbour 24<');
  });
});

describe('the page of an animal', () => {
  const animalOf = async (id: string) => (await call(`/v1/pets?id=${id}`)).json();

  it('changes what was shown: somebody else’s change is told, and replaced only by who has read of it', async () => {
    const category = newCategoryId();
    const id = await addAnimal('Luna', category);
    const visitor = await portal.signedUp();
    const path = `/catalogue/${id}`;
    expect((await visitor.get(`/catalogue?find=${id}`)).text).toContain(`<a href="${path}">`);
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
    expect(text).toContain(`<a href="/orders/${order}">`);
    expect(text).toContain('<title>Luna – Adoption Store API</title>');
    expect((await stranger.get(path)).text).toContain('You have no order of it.');
    const reason = 'An order for “\u2068Luna\u2069” is placed.';
    const sold = { name: 'Luna', categoryId: '1', status: 'sold' };
    for (const [who, linked] of [
      [visitor, true],
      [stranger, false],
    ] as const) {
      const version = versionIn(await who.get(path));
      for (const refused of [await who.post(path, { ...sold, version }), await who.fillIn(`${path}/withdraw`)]) {
        expect(refused).toMatchObject(refusal(reason));
        expect(refused.text.includes(`<a href="/orders/${order}">Your order</a>`)).toBe(linked);
      }
    }
    await make(`/v1/store/orders/${order}/cancel`, '', key);
    expect((await sent(visitor, `${path}/withdraw`, {})).text).toContain('The animal is withdrawn.');
    expect((await visitor.get(path)).status).toBe(404);
  });
});

/** Digits of no int64. */
const BEYOND = '12345678901234567890';

it.each([
  ['/categories', { name: ' ', id: BEYOND }, 'name', 'id">Id (optional): Must be a whole number from -'],
  ['/categories', { name: ' ', id: 'x1' }, 'name', 'id">Id (optional): Must be a whole number.'],
  ['/catalogue', { name: '', categoryId: BEYOND }, 'add-name', 'add-categoryId">Category: Must be a whole'],
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
  const ROW = /<th scope="row"><a href="\/orders\/(\d+)">/g;

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

  /** A person with a placed order. */
  async function orderer() {
    const visitor = await portal.signedUp();
    const animal = await addAnimal('Luna <b>', newCategoryId());
    const order = await make('/v1/store/orders', `{"petId": ${animal}}`, await visitor.issueKey());
    return { visitor, animal, path: `/orders/${order}` };
  }

  it.each([
    ['complete', 'completed', 'sold'],
    ['cancel', 'cancelled', 'available'],
  ])(
    'have a page each, which tells the animal and the times, and where one is ended for good: %s',
    async (way, status, left) => {
      const { visitor, animal, path } = await orderer();
      const placed = await visitor.get(path);
      expect(placed.text).toContain(`<a href="/catalogue/${animal}"><bdi dir="auto">Luna &lt;b&gt;</bdi>`);
      expect(placed.text).toMatch(/<dt>Placed<\/dt><dd><time .*UTC<\/time>/);
      expect(placed.text).toMatch(/<dt>Expires<\/dt><dd><time .*UTC<\/time><br><small>in \d+ (h|days)<\/small>/);
      expect(placed.text).toContain('This can’t be undone.');
      const ended = await sent(visitor, `${path}/${way}`, {});
      expect(ended.text).toContain(`The order is ${status}.`);
      expect(ended.text).toContain('final');
      expect(ended.text).not.toContain(`action="${path}`);
      expect(await (await call(`/v1/pets?id=${animal}`)).json()).toMatchObject([{ status: left }]);
      expect(await visitor.post(`${path}/cancel`)).toMatchObject(refusal(`is ${status} already`));
    },
  );

  it('are ended by whose scopes allow it, and seen by their own account alone', async () => {
    const { visitor, path } = await orderer();
    const stranger = await portal.signedUp();
    const buttons = async () => {
      const { text } = await visitor.get(path);
      return ['complete', 'cancel'].filter((way) => text.includes(`action="${path}/${way}"`));
    };
    const limit = (...scopes: Scope[]) => portal.application.changeScopes.execute({ email: visitor.email, scopes });
    expect(await buttons()).toEqual(['complete', 'cancel']);
    await limit('orders:write');
    expect(await buttons()).toEqual(['cancel']);
    expect((await visitor.get(path)).text).toContain('To complete the order, contact the operator of this service.');
    expect((await visitor.post(`${path}/complete`)).status).toBe(403);
    await limit('orders:read');
    expect(await buttons()).toEqual([]);
    expect((await visitor.post(`${path}/cancel`)).status).toBe(403);
    for (const address of [path, '/orders/x', '/orders/9223372036854775807'])
      expect([address, (await stranger.get(address)).status]).toEqual([address, 404]);
    await stranger.get('/orders');
    for (const way of ['complete', 'cancel']) expect((await stranger.post(`${path}/${way}`)).status).toBe(404);
  });

  it('are found by the animal’s name or id, and by their own number', async () => {
    const visitor = await portal.signedUp();
    const key = await visitor.issueKey();
    const order = async (name: string) => {
      const animal = await addAnimal(name, newCategoryId());
      return { animal, id: await make('/v1/store/orders', `{"petId": ${animal}}`, key) };
    };
    const [luna, milo] = [await order('Luna the BRÂVE'), await order('Milo')];
    const found = async (text: string) =>
      [...(await visitor.get(`/orders?find=${encodeURIComponent(text)}`)).text.matchAll(ROW)].map(([, id]) => id);
    for (const text of ['bra\u0302ve', luna.animal, ` ${luna.id}`])
      expect([text, await found(text)]).toEqual([text, [luna.id]]);
    expect(await found('l')).toEqual([milo.id, luna.id]);
    expect(await found('nobody')).toEqual([]);
    expect((await visitor.get('/orders?find=nobody')).text).toContain('Searched: your newest 1,000 orders.');
  });

  it('say of an animal that was withdrawn that it was', async () => {
    const visitor = await portal.signedUp();
    const key = await visitor.issueKey();
    const animal = await addAnimal('Luna', newCategoryId());
    const order = await make('/v1/store/orders', `{"petId": ${animal}}`, key);
    await make(`/v1/store/orders/${order}/cancel`, '', key);
    expect((await call(`/v1/pets/${animal}`, undefined, { method: 'DELETE' })).status).toBe(204);
    for (const path of ['/orders', `/orders/${order}`])
      expect((await visitor.get(path)).text).toContain(`Withdrawn <small>${animal}</small>`);
  });
});

it('the messages are the account’s own, page by page, each with its text', async () => {
  const [visitor, stranger] = [await portal.signedUp(), await portal.signedUp()];
  const key = await visitor.issueKey();
  const ids: string[] = [];
  for (let index = 0; index < 22; index += 1)
    ids.push(await make('/v1/messages', { message: `message ${index} <b>` }, key));
  const theirs = await make('/v1/messages', { message: 'a secret' }, await stranger.issueKey());
  const pages = await walk(visitor, '/messages', /<a href="\/messages\/(msg_\w+)">/g);
  expect(pages.flat().sort()).toEqual(ids.toSorted());
  const found = await visitor.get('/messages?find=SAGE%207');
  expect(found.text.match(/<a href="\/messages\/msg_/g)).toHaveLength(1);
  expect(found.text).toContain('Searched: your newest 1,000 messages.');
  expect((await visitor.get('/messages?find=secret')).text).toContain('None.');
  const page = await visitor.get(`/messages/${ids[3]}`);
  expect(page.text).toContain('<p class="message" dir="auto">message 3 &lt;b&gt;</p>');
  for (const path of [`/messages/${theirs}`, '/messages/msg_unknown', '/messages/%00']) {
    expect([path, (await visitor.get(path)).status]).toEqual([path, 404]);
  }
  expect((await visitor.get('/messages')).text).not.toContain('a secret');
});
