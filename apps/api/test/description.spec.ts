import { limitsOf, plan } from '@adoption-store/domain';
import { DEPRECATIONS, getPetDeprecation } from '@adoption-store/web';
import { describe, expect, it } from '@jest/globals';
import { errorStatuses } from '../src/errors/error-codes.js';
import { description } from '../src/openapi/description.js';
import { operations as byName } from '../src/openapi/operations.js';
import { useApi } from './support/api.js';
import { problemsOf } from './support/description.js';
import { createPet, get, nextPageOf } from './support/pets-client.js';
import { type RawResponse, request } from './support/raw-http.js';

interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly responses: Readonly<Record<string, unknown>>;
  readonly requestBody?: {
    readonly content: { readonly 'application/json': { readonly schema: { readonly $ref: string } } };
  };
  readonly deprecated?: boolean;
  readonly 'x-deprecated-sunset'?: string;
  readonly 'x-stability'?: string;
}

interface Description {
  readonly info: { readonly version: string; readonly description: string };
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<
      Record<
        string,
        {
          readonly required?: readonly string[];
          readonly 'x-extensible-enum'?: readonly string[];
          readonly properties?: Readonly<Record<string, unknown>>;
          readonly examples?: readonly object[];
        }
      >
    >;
  };
}

const { info, servers, paths, components } = description as unknown as Description;
const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    name: `${method.toUpperCase()} ${path}`,
    path,
    ...operation,
  })),
);
const fieldsOfBodies = operations.flatMap(({ name, path, requestBody }) => {
  const { $ref } = requestBody?.content['application/json'].schema ?? {};
  const { properties = {}, examples: [example] = [] } = components.schemas[$ref?.split('/').at(-1) ?? ''] ?? {};
  const [method = ''] = name.split(' ');
  const target = `/v1${path.replace(/\{\w+\}/, '1')}`;
  return Object.keys(properties).map((field) => ({ method, path: target, field, example }));
});
const api = useApi();

describe('the description', () => {
  it('is of version 1.0.0, on servers with absolute addresses that end in /v1', () => {
    expect(info.version).toBe('1.0.0');
    expect(servers.length).toBeGreaterThanOrEqual(2);
    for (const { url } of servers) expect(url).toMatch(/^https:.*\/v1$/);
  });

  it('has names and groups for the operations', () => {
    expect(operations.map(({ name, operationId, tags }) => [name, operationId, ...tags])).toEqual([
      ['GET /pets', 'listPets', 'Pets'],
      ['POST /pets', 'createPet', 'Pets'],
      ['GET /pets/{petId}', 'getPet', 'Pets'],
      ['PATCH /pets/{petId}', 'changePet', 'Pets'],
      ['DELETE /pets/{petId}', 'withdrawPet', 'Pets'],
      ['GET /categories', 'listCategories', 'Categories'],
      ['POST /categories', 'createCategory', 'Categories'],
      ['GET /categories/{categoryId}', 'getCategory', 'Categories'],
      ['PUT /categories/{categoryId}', 'nameCategory', 'Categories'],
      ['DELETE /categories/{categoryId}', 'removeCategory', 'Categories'],
      ['GET /store/orders', 'listOrders', 'Store'],
      ['POST /store/orders', 'placeOrder', 'Store'],
      ['GET /store/orders/{orderId}', 'getOrder', 'Store'],
      ['POST /store/orders/{orderId}/complete', 'completeOrder', 'Store'],
      ['POST /store/orders/{orderId}/cancel', 'cancelOrder', 'Store'],
      ['POST /messages', 'queueMessage', 'Messages'],
      ['GET /messages/{messageId}', 'getMessage', 'Messages'],
      ['GET /rate_limit', 'getRateLimit', 'Limits'],
    ]);
  });

  it('has exactly the API’s methods at each path', async () => {
    for (const [path, methods] of Object.entries(paths)) {
      const target = `/v1${path.replace(/\{\w+\}/, '1')}`;
      const { headers } = await request(api, target, {
        method: 'OPTIONS',
        headers: { Authorization: `Bearer ${api.key}` },
      });
      const described = Object.keys(methods).map((method) => method.toUpperCase());
      const implied = described.includes('GET') ? ['HEAD', 'OPTIONS'] : ['OPTIONS'];
      expect([path, headers['allow']]).toEqual([path, [...described, ...implied].sort().join(', ')]);
    }
  });

  it('has 401, 429 and 503 on every operation', () => {
    for (const { name, responses } of operations) {
      expect([name, Object.keys(responses)]).toEqual([name, expect.arrayContaining(['401', '429', '503'])]);
    }
  });

  it.each(fieldsOfBodies)('has no unvalidated $field in a body of $method $path', async (of) => {
    const { method, path, field, example } = of;
    const headers = { Authorization: `Bearer ${api.key}`, 'Content-Type': 'application/json' };
    const body = JSON.stringify({ ...example, [field]: {} });
    const { status, body: answer } = await request(api, path, { method, headers, body });
    expect([status, JSON.parse(answer)]).toMatchObject([400, { message: expect.stringMatching(`^${field} must be`) }]);
  });

  it('describes the fields of a body', () => {
    expect(fieldsOfBodies.map(({ field }) => field)).toEqual(expect.arrayContaining(['name', 'petId', 'message']));
  });

  it('requires the same properties of an animal and an error as the original document', () => {
    expect(components.schemas).toMatchObject({
      NewPet: { required: ['name', 'categoryId'] },
      Pet: { required: ['id', 'name', 'categoryId', 'status'] },
      PetStatus: { enum: ['available', 'pending', 'sold'] },
      Error: { required: ['code', 'message', 'status'] },
    });
  });

  it('has every code of the registry', () => {
    expect(components.schemas['ErrorCode']?.['x-extensible-enum']).toEqual(Object.keys(errorStatuses).sort());
  });

  it('marks the deprecated operation with the code’s date, and those that may still change', () => {
    const marks = operations.map((each) => [
      each.operationId,
      each.deprecated,
      each['x-deprecated-sunset'],
      each['x-stability'],
    ]);
    const sunset = new Date(getPetDeprecation.sunset).toISOString().slice(0, 10);
    expect(sunset).toBe('2030-12-05');
    expect(marks.filter(([, deprecated]) => deprecated === true)).toEqual([['getPet', true, sunset, undefined]]);
    // Those that the portal and the metrics know, too.
    const ended = [...byName.values()].filter((each) => each.sunset !== undefined).map(({ id }) => id);
    expect(ended).toEqual(['getPet']);
    expect([...byName.values()].map(({ id }) => id)).toEqual(operations.map(({ operationId }) => operationId));
    for (const { operation } of DEPRECATIONS) expect(byName.has(operation)).toBe(true);
    expect(marks.filter(([, , , stability]) => stability === 'beta').map(([id]) => id)).toEqual([
      'changePet',
      'withdrawPet',
      'listCategories',
      'createCategory',
      'getCategory',
      'nameCategory',
      'removeCategory',
      'listOrders',
      'placeOrder',
      'getOrder',
      'completeOrder',
      'cancelOrder',
    ]);
    expect(marks.filter(([, , , stability]) => stability === 'experimental').map(([id]) => id)).toEqual([
      'queueMessage',
      'getMessage',
    ]);
  });

  it('shows the limits of the plans', () => {
    const { perMinute, perDay } = limitsOf(plan('business'));
    expect(info.description).toContain(
      `| business | ${perMinute.toLocaleString('en')} | ${perDay.toLocaleString('en')} |`,
    );
  });
});

interface Part {
  /** As in a JSON pointer: `#/paths/~1pets/get`. */
  readonly pointer: string;
  readonly part: Readonly<Record<string, unknown>>;
}

/** Every object of the description but the values of examples. */
function partsOf(part: unknown, pointer = '#'): readonly Part[] {
  if (Array.isArray(part)) return part.flatMap((each, index) => partsOf(each, `${pointer}/${index}`));
  if (typeof part !== 'object' || part === null) return [];
  const within = Object.entries(part)
    .filter(([name]) => name !== 'examples')
    .flatMap(([name, each]) => partsOf(each, `${pointer}/${name.replaceAll('/', '~1')}`));
  return [{ pointer, part: part as Part['part'] }, ...within];
}

describe('for generators of clients, the description', () => {
  // As it is sent: without the properties that are undefined.
  const parts = partsOf(JSON.parse(JSON.stringify(description)));
  const responses = parts.filter(({ pointer }) => /\/responses\/\w+$/.test(pointer));
  const resolved = (part: Part['part']) => parts.find(({ pointer }) => pointer === part['$ref'])?.part ?? part;

  /** The parts that a response uses, also by references. */
  function usedBy({ pointer, part }: Part, seen = new Set<string>()): readonly Part[] {
    return partsOf(part, pointer).flatMap((each) => {
      const reference = each.part['$ref'];
      if (typeof reference !== 'string' || seen.has(reference)) return [each];
      seen.add(reference);
      return [each, ...usedBy({ pointer: reference, part: resolved(each.part) }, seen)];
    });
  }

  it('has Error by plain reference in every error response', () => {
    const schemas = responses
      .filter(({ part }) => JSON.stringify(part).includes('schemas/Error'))
      .map(({ part }) => (part['content'] as { 'application/json': Part['part'] })['application/json']['schema']);
    expect(schemas.length).toBeGreaterThan(15);
    for (const schema of schemas) expect(schema).toEqual({ $ref: '#/components/schemas/Error' });
  });

  it('has closed sets of words in requests alone', () => {
    const used = responses.flatMap((each) => usedBy(each));
    expect(used.some(({ part }) => 'x-extensible-enum' in part)).toBe(true);
    expect(used.filter(({ part }) => 'enum' in part)).toEqual([]);
    const closed = (name: string) => resolved({ $ref: `#/components/schemas/${name}` })['enum'];
    expect(closed('PetStatus')).toEqual(['available', 'pending', 'sold']);
    expect(closed('OrderStatus')).toEqual(['placed', 'completed', 'cancelled', 'expired']);
  });

  it('has no default of a property, which openapi-typescript would make required', () => {
    expect(parts.filter(({ pointer, part }) => /\/properties\/\w+$/.test(pointer) && 'default' in part)).toEqual([]);
  });

  // The linters check them against their schemas.
  it('has an example of every named schema and every property', () => {
    const schemas = parts.filter(({ pointer }) => /\/components\/schemas\/\w+$|\/properties\/\w+$/.test(pointer));
    // A choice of null and an object: the object's properties have their examples.
    const without = schemas.filter(({ part }) => !('oneOf' in part) && resolved(part)['examples'] === undefined);
    expect(without.map(({ pointer }) => pointer)).toEqual([]);
  });
});

describe('a response is checked against the description, which detects', () => {
  const withBody = (response: RawResponse, change: (body: string) => string): RawResponse => ({
    ...response,
    body: change(response.body),
  });
  const withHeader = (response: RawResponse, name: string, value: string): RawResponse => ({
    ...response,
    headers: { ...response.headers, [name]: value },
  });
  const without = (response: RawResponse, name: string): RawResponse => ({
    ...response,
    headers: Object.fromEntries(Object.entries(response.headers).filter(([each]) => each !== name)),
  });

  const list = async () => {
    await createPet(api, '{"name":"Luna","categoryId":9223372036854775807}');
    await createPet(api, '{"name":"Milo","categoryId":-9223372036854775808}');
    return get(api, '/v1/pets?limit=1');
  };
  const refusal = () => get(api, '/v1/pets?limit=0');
  const problems = (response: RawResponse) => problemsOf('GET', '/v1/pets', response);

  it('no fault in the API’s own responses', async () => {
    expect(problems(await list())).toEqual([]);
    expect(problems(await refusal())).toEqual([]);
    expect(nextPageOf(await list())).toBeDefined();
  });

  it('a status that is not described', async () => {
    expect(problems({ ...(await list()), status: 202 })).toEqual(['status 202 is not described']);
    expect(problems({ ...(await refusal()), status: 404 })).toEqual(['status 404 is not described']);
    expect(problemsOf('GET', '/v1/cats', await list())).toEqual(['status 200 is not described']);
    expect(problemsOf('DELETE', '/v1/pets', await list())).toEqual(['status 200 is not described']);
  });

  it.each([
    ['x-inside', '1'],
    ['server', 'adoption-store'],
    ['deprecation', '@1764892800'],
    ['set-cookie', 'a=b'],
    ['retry-after', '1'],
  ])('a header that is not described, %s', async (name, value) => {
    expect(problems(withHeader(await list(), name, value))).toEqual([`header ${name} is not described`]);
  });

  it.each(['x-request-id', 'x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'ratelimit'])(
    'the lack of %s',
    async (name) => {
      expect(problems(without(await list(), name))).toEqual([`header ${name} is missing`]);
    },
  );

  it.each([
    ['x-ratelimit-reset', 'tomorrow'],
    ['x-ratelimit-remaining', '-1'],
    ['x-request-id', 'a, b'],
    ['link', 'next'],
  ])('a header of another form, %s: %s', async (name, value) => {
    expect(problems(withHeader(await list(), name, value))).toEqual([expect.stringMatching(`^header ${name} must `)]);
  });

  it('another media type', async () => {
    expect(problems(withHeader(await list(), 'content-type', 'application/json'))).toHaveLength(1);
  });

  it.each<[string, (body: string) => string]>([
    ['a property that is not described', (body) => body.replace('{', '{"born":2020,')],
    ['a property that is missing', (body) => body.replace(/"name":"[^"]*",/, '')],
    ['a status that is none', (body) => body.replace('available', 'lost')],
    ['an int64 that is one too many', (body) => body.replace('9223372036854775807', '9223372036854775808')],
    ['an int64 that is a string', (body) => body.replace('9223372036854775807', '"9223372036854775807"')],
    ['an int64 with a fraction', (body) => body.replace('9223372036854775807', '1.0')],
    ['an int64 with an exponent', (body) => body.replace('9223372036854775807', '1e3')],
    ['an envelope', (body) => `{"items":${body}}`],
    ['what is no JSON', (body) => body.slice(1)],
    ['nothing at all', () => ''],
  ])('in the body %s', async (_case, change) => {
    const response = await list();
    expect(change(response.body)).not.toBe(response.body);
    expect(problems(withBody(response, change))).toHaveLength(1);
  });

  it.each<[string, (body: string) => string]>([
    ['a code that the registry lacks', (body) => body.replace('invalid_parameter', 'invalid_limit')],
    ['a code of another status', (body) => body.replace('invalid_parameter', 'not_found')],
    ['another status than its own', (body) => body.replace('400', '404')],
    ['a property that is not described', (body) => body.replace('{', '{"stack":"",')],
  ])('in a refusal %s', async (_case, change) => {
    const response = await refusal();
    expect(change(response.body)).not.toBe(response.body);
    expect(problems(withBody(response, change))).not.toEqual([]);
  });
});
