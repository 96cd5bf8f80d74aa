import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { isDescribed, type Described } from '../src/openapi/schema.js';
import { describingFiles } from '../src/openapi/description.js';
import { useApi } from './support/api.js';
import { createPet } from './support/pets-client.js';
import { request } from './support/raw-http.js';

const files = describingFiles();
const description = JSON.parse(files['openapi.json']) as Described;
const edition30 = JSON.parse(files['openapi-3.0.json']) as Described;

interface Part {
  /** As in a JSON pointer: `#/paths/~1pets/get`. */
  readonly pointer: string;
  readonly part: Described;
}

/** Every object of the description but the values of examples. */
function partsOf(part: unknown, pointer = '#'): readonly Part[] {
  if (Array.isArray(part)) return part.flatMap((each, index) => partsOf(each, `${pointer}/${index}`));
  if (!isDescribed(part)) return [];
  const within = Object.entries(part)
    .filter(([name]) => name !== 'examples')
    .flatMap(([name, each]) => partsOf(each, `${pointer}/${name.replaceAll('/', '~1')}`));
  return [{ pointer, part }, ...within];
}

const parts = partsOf(description);
const responses = parts.filter(({ pointer }) => /\/responses\/\w+$/.test(pointer));

function resolved(part: Described): Described {
  return parts.find(({ pointer }) => pointer === part['$ref'])?.part ?? part;
}

/** The parts that a response uses, also by references. */
function usedBy({ pointer, part }: Part, seen = new Set<string>()): readonly Part[] {
  return partsOf(part, pointer).flatMap((each) => {
    const reference = each.part['$ref'];
    if (typeof reference !== 'string' || seen.has(reference)) return [each];
    seen.add(reference);
    return [each, ...usedBy({ pointer: reference, part: resolved(each.part) }, seen)];
  });
}

const ajv = new Ajv2020({ strict: false });
formats.default(ajv, ['date-time', 'uri']);
ajv.addFormat('int64', { type: 'number', validate: Number.isSafeInteger });
ajv.addSchema({ $id: 'https://adoption-store.example/', components: description['components'] });

/** The examples that the schema refuses. */
function wrongExamples(schema: Described, examples: readonly unknown[]): readonly unknown[] {
  const absolute = JSON.parse(
    JSON.stringify(schema).replaceAll('"#/', '"https://adoption-store.example/#/'),
  ) as Described;
  const validate = ajv.compile(absolute);
  return examples.filter((example) => !validate(example));
}

describe('for generators of clients, the description', () => {
  it('has Error by plain reference in every error response', () => {
    const schemas = responses
      .filter(({ part }) => JSON.stringify(part).includes('schemas/Error'))
      .map(({ part }) => (part['content'] as { 'application/json': Described })['application/json']['schema']);
    expect(schemas.length).toBeGreaterThan(15);
    for (const schema of schemas) expect(schema).toEqual({ $ref: '#/components/schemas/Error' });
  });

  it('has no closed set of words in a response', () => {
    expect(responses.length).toBeGreaterThan(18);
    const used = responses.flatMap((each) => usedBy(each));
    expect(used.some(({ part }) => 'x-extensible-enum' in part)).toBe(true);
    expect(used.filter(({ part }) => 'enum' in part)).toEqual([]);
  });

  it('has closed sets of words in requests', () => {
    const closed = (name: string) => (resolved({ $ref: `#/components/schemas/${name}` })['enum'] as string[]).join();
    expect([closed('PetStatus'), closed('OrderStatus')]).toEqual([
      'available,pending,sold',
      'placed,completed,cancelled,expired',
    ]);
  });

  it('has no default of a property, which openapi-typescript would make required', () => {
    expect(parts.filter(({ pointer, part }) => /\/properties\/\w+$/.test(pointer) && 'default' in part)).toEqual([]);
  });

  const schemas = parts.filter(({ pointer }) =>
    /\/schema$|\/components\/schemas\/\w+$|\/properties\/\w+$/.test(pointer),
  );

  it.each(schemas.map(({ pointer, part }) => [pointer, part] as const))(
    'has a valid example of %s',
    (pointer, part) => {
      const inMedia = /^(.*\/application~1[\w+-]+)\/schema$/.exec(pointer)?.[1];
      const media = parts.find((each) => each.pointer === inMedia)?.part;
      const named = (media?.['examples'] ?? {}) as Readonly<Record<string, { readonly value: unknown }>>;
      const examples = media ? Object.values(named).map(({ value }) => value) : resolved(part)['examples'];
      // A choice of null and an object: the object's properties have their examples.
      if (Array.isArray(part['oneOf'])) return;
      expect(examples).toEqual(expect.arrayContaining([expect.anything()]));
      expect(wrongExamples(part, examples as unknown[])).toEqual([]);
    },
  );

  it('finds an example that its schema refuses, and none of an int64 that is rounded', () => {
    expect(wrongExamples({ $ref: '#/components/schemas/NewPet' }, [{ name: 'Luna' }])).toHaveLength(1);
    expect(wrongExamples({ type: 'integer', format: 'int64' }, [2 ** 60, '1', 1])).toEqual([2 ** 60, '1']);
  });
});

describe('the edition in OpenAPI 3.0', () => {
  it('has the same operations, responses and schemas', () => {
    expect([description['openapi'], edition30['openapi']]).toEqual(['3.1.0', '3.0.3']);
    const named = (of: Described) =>
      partsOf(of)
        .map(({ pointer }) => pointer)
        .filter((pointer) => /^#\/(paths\/[^/]+\/\w+|components\/\w+\/[\w-]+)(\/responses\/\d+)?$/.test(pointer));
    expect(named(edition30)).toEqual(named(description));
    expect(named(edition30).length).toBeGreaterThan(200);
  });

  it('has no keyword of 3.1 alone', () => {
    for (const { pointer, part } of partsOf(edition30)) {
      const ofLater = ['const', 'identifier', 'prefixItems', 'if', '$defs', '$schema'].filter((word) => word in part);
      expect([pointer, ofLater]).toEqual([pointer, []]);
      expect([pointer, Array.isArray(part['examples']), Array.isArray(part['type'])]).toEqual([pointer, false, false]);
      if ('$ref' in part) expect([pointer, Object.keys(part)]).toEqual([pointer, ['$ref']]);
      expect([pointer, part['type']]).not.toEqual([pointer, 'null']);
    }
  });

  it('lets the ban be null, and keeps words that another schema describes', () => {
    const { RateLimit, NewPet } = (edition30['components'] as { schemas: Readonly<Record<string, Described>> }).schemas;
    expect(RateLimit).toMatchObject({ properties: { ban: { type: 'object', nullable: true, required: ['until'] } } });
    expect(NewPet).toMatchObject({
      properties: { status: { allOf: [{ $ref: '#/components/schemas/PetStatus' }], description: expect.any(String) } },
    });
  });
});

interface PostmanRequest {
  readonly method: string;
  readonly url: { readonly raw: string; readonly query: readonly { readonly key: string; readonly value: string }[] };
  readonly header: readonly { readonly key: string; readonly value: string; readonly disabled?: boolean }[];
  readonly body?: { readonly raw: string };
}

interface Collection {
  readonly auth: unknown;
  readonly variable: readonly { readonly key: string; readonly value: string }[];
  readonly item: readonly {
    readonly name: string;
    readonly item: readonly { readonly name: string; readonly request: PostmanRequest }[];
  }[];
}

describe('the Postman collection', () => {
  const api = useApi();
  const collection = JSON.parse(files['postman_collection.json']) as Collection;
  const requests = collection.item.flatMap(({ item }) => item);

  it('has a request for each operation, and no key', () => {
    const operations = Object.values(description['paths'] as Readonly<Record<string, Described>>).flatMap((methods) =>
      Object.values(methods),
    );
    expect(requests.map(({ name }) => name)).toEqual(
      operations.map((operation) => (operation as { summary: string }).summary),
    );
    expect(collection.auth).toEqual({
      type: 'bearer',
      bearer: [{ key: 'token', value: '{{apiKey}}', type: 'string' }],
    });
    expect(collection.variable).toContainEqual({ key: 'apiKey', value: '' });
  });

  /** As Postman does, with variables of what the store has. */
  async function variables(): Promise<Readonly<Record<string, string>>> {
    const { application } = api;
    const idOf = async (answer: Promise<{ readonly body: string }>) =>
      (JSON.parse((await answer).body) as { id: number | string }).id;
    const post = (path: string, body: object) =>
      request(api, path, {
        method: 'POST',
        headers: { Authorization: `Bearer ${api.key}`, 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      });
    const ordered = await idOf(createPet(api, '{"name":"Milo","categoryId":1}'));
    // A request with the same name may have been sent before.
    const { items } = await application.listCategories.execute({ limit: 100 });
    for (const { id, name } of items)
      if (!name.startsWith('Category')) await application.removeCategory.execute({ id });
    const category = await application.addCategory.execute({ name: `Category ${ordered}` });
    return {
      $guid: randomUUID(),
      apiKey: api.key,
      baseUrl: `${api.origin}/v1`,
      petId: String(await idOf(createPet(api, '{"name":"Luna","categoryId":1}'))),
      categoryId: String(category.id),
      orderId: String(await idOf(post('/v1/store/orders', { petId: ordered }))),
      messageId: String(await idOf(post('/v1/messages', { message: 'Is Luna still there?' }))),
    };
  }

  it.each(requests.map(({ name, request: { method, url, header, body } }) => ({ name, method, url, header, body })))(
    'can send “$name” as it is, and with each optional parameter',
    async ({ method, url, header, body }) => {
      const send = async (query: string, headers: PostmanRequest['header']) => {
        const values = await variables();
        const filled = (text: string) => text.replace(/\{\{(\$?\w+)\}\}/g, (_all, name: string) => values[name] ?? '');
        return request(api, filled(url.raw).slice(api.origin.length) + query, {
          method,
          headers: {
            Authorization: filled('Bearer {{apiKey}}'),
            ...Object.fromEntries(headers.map(({ key, value }) => [key, filled(value)])),
          },
          ...(body && { body: filled(body.raw) }),
        });
      };
      const always = header.filter(({ disabled }) => disabled !== true);
      expect([200, 201, 202, 204]).toContain((await send('', always)).status);
      for (const each of header.filter(({ disabled }) => disabled === true)) {
        const { status } = await send('', [...always, each]);
        // A condition of the example may not hold.
        expect(each.key.startsWith('If-') ? [200, 201, 204, 304, 412] : [200, 201, 202, 204]).toContain(status);
      }
      for (const { key, value } of url.query) {
        const { status, body: answer } = await send(`?${key}=${encodeURIComponent(value)}`, always);
        // The example of a cursor is one of animals.
        const expected = key === 'cursor' && !url.raw.endsWith('/pets') ? 400 : 200;
        expect([key, status, answer]).toEqual([key, expected, expect.anything()]);
      }
    },
  );
});
