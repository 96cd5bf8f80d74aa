import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { newAnimal, PLANS } from '@adoption-store/domain';
import { DEPRECATIONS, getPetDeprecation, readQuickStarts, readSamples } from '@adoption-store/web';
import { describe, expect, it } from '@jest/globals';
import { seedCatalogue } from '../../src/demo.js';
import { errorStatuses } from '../../src/http/answers/error-codes.js';
import { VISIBLE } from '../../src/http/operations/schema.js';
import { referencePage } from '../../src/docs/reference-page.js';
import { OPERATIONS } from '../../src/api.module.js';
import { descriptionOf, descriptionText } from '../../src/openapi/description.js';
import { llmsText } from '../../src/openapi/llms-text.js';
import { readmeRows } from '../../src/openapi/operations.js';
import { startApi, useApi } from '../support/api.js';
import { problemsOf } from '../support/description.js';
import { expectError } from '../support/expectations.js';
import { bearer, get, rawHead, sendOnce } from '../support/pets-client.js';
import { type RawResponse, request } from '../support/raw-http.js';

type Example = string | number | readonly (string | number)[];

interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly parameters: readonly object[];
  readonly responses: Readonly<Record<string, unknown>>;
  readonly requestBody?: {
    readonly content: {
      readonly 'application/json': {
        readonly schema: { readonly $ref: string };
        readonly examples: Readonly<Record<string, { readonly value: unknown }>>;
      };
    };
  };
  readonly deprecated?: boolean;
  readonly 'x-deprecated-sunset'?: string;
  readonly 'x-stability'?: string;
  readonly 'x-codeSamples'?: readonly object[];
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

const description = descriptionOf(OPERATIONS);
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
  const target = `/v1${path.replace(/\{\w+\}/g, '1')}`;
  return Object.keys(properties).map((field) => ({ method, path: target, field, example }));
});
const api = useApi();

describe('the description', () => {
  it('is of version 1.0.0, on servers with absolute addresses that end in /v1', () => {
    expect(info.version).toBe('1.0.0');
    expect(servers.length).toBeGreaterThanOrEqual(2);
    for (const { url } of servers) expect(url).toMatch(/^https:.*\/v1$/);
  });

  it('has names, groups and levels of stability for the operations', () => {
    expect(
      operations.map((each) => [each.name, each.operationId, ...each.tags, each['x-stability'] ?? 'stable']),
    ).toEqual([
      ['GET /pets', 'listPets', 'Pets', 'stable'],
      ['POST /pets', 'createPet', 'Pets', 'stable'],
      ['GET /pets/{petId}', 'getPet', 'Pets', 'stable'],
      ['PATCH /pets/{petId}', 'changePet', 'Pets', 'beta'],
      ['DELETE /pets/{petId}', 'withdrawPet', 'Pets', 'beta'],
      ['GET /categories', 'listCategories', 'Categories', 'beta'],
      ['POST /categories', 'createCategory', 'Categories', 'beta'],
      ['GET /categories/{categoryId}', 'getCategory', 'Categories', 'beta'],
      ['PUT /categories/{categoryId}', 'nameCategory', 'Categories', 'beta'],
      ['DELETE /categories/{categoryId}', 'removeCategory', 'Categories', 'beta'],
      ['GET /store/orders', 'listOrders', 'Store', 'beta'],
      ['POST /store/orders', 'placeOrder', 'Store', 'beta'],
      ['GET /store/orders/{orderId}', 'getOrder', 'Store', 'beta'],
      ['POST /store/orders/{orderId}/complete', 'completeOrder', 'Store', 'beta'],
      ['POST /store/orders/{orderId}/cancel', 'cancelOrder', 'Store', 'beta'],
      ['POST /messages', 'queueMessage', 'Messages', 'experimental'],
      ['GET /messages/{messageId}', 'getMessage', 'Messages', 'experimental'],
      ['GET /events', 'listEvents', 'Events', 'experimental'],
      ['GET /webhooks', 'listWebhooks', 'Webhooks', 'experimental'],
      ['POST /webhooks', 'createWebhook', 'Webhooks', 'experimental'],
      ['GET /webhooks/{webhookId}', 'getWebhook', 'Webhooks', 'experimental'],
      ['PATCH /webhooks/{webhookId}', 'changeWebhook', 'Webhooks', 'experimental'],
      ['DELETE /webhooks/{webhookId}', 'deleteWebhook', 'Webhooks', 'experimental'],
      ['POST /webhooks/{webhookId}/rotate-secret', 'rotateWebhookSecret', 'Webhooks', 'experimental'],
      ['POST /webhooks/{webhookId}/ping', 'pingWebhook', 'Webhooks', 'experimental'],
      ['GET /webhooks/{webhookId}/deliveries', 'listDeliveries', 'Webhooks', 'experimental'],
      ['POST /webhooks/{webhookId}/deliveries/{deliveryId}/retry', 'retryDelivery', 'Webhooks', 'experimental'],
      ['POST /webhooks/{webhookId}/recover', 'recoverDeliveries', 'Webhooks', 'experimental'],
      ['GET /rate_limit', 'getRateLimit', 'Limits', 'stable'],
    ]);
  });

  it('has exactly the API’s methods at each path', async () => {
    for (const [path, methods] of Object.entries(paths)) {
      const target = `/v1${path.replace(/\{\w+\}/g, '1')}`;
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

  it('marks the deprecated operation with the date at which it ends', () => {
    const sunset = new Date(getPetDeprecation.sunset).toISOString().slice(0, 10);
    expect(sunset).toBe('2030-12-05');
    const marks = operations.map((each) => [each.operationId, each.deprecated, each['x-deprecated-sunset']]);
    expect(marks.filter(([, deprecated]) => deprecated === true)).toEqual([['getPet', true, sunset]]);
    // The portal marks the keys that call them.
    const ending = OPERATIONS.flatMap(({ route, notice }) =>
      notice ? [{ ...notice.deprecation, operation: route }] : [],
    );
    expect(ending).toEqual(DEPRECATIONS);
  });

  it('has the samples of code', () => {
    const ids = operations.filter((each) => each['x-codeSamples']).map(({ operationId }) => operationId);
    expect(ids.sort()).toEqual([...readSamples().keys()].sort());
  });

  it('shows the limits of the plans', () => {
    const { perMinute, perDay } = PLANS.business;
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
  it('refuses the names that the API refuses for want of a visible character, without \\p', () => {
    expect(VISIBLE).not.toContain(String.raw`\p`);
    const isTaken = (name: string) => {
      try {
        return newAnimal({ name, categoryId: 1n }).name === name;
      } catch {
        return false;
      }
    };
    const names = Array.from({ length: 0x1_0000 }, (_, code) => String.fromCodePoint(code));
    const differs = (name: string) => new RegExp(VISIBLE, 'u').test(name) !== isTaken(name);
    expect(names.filter((name) => !/\p{Surrogate}/u.test(name)).filter(differs)).toEqual([]);
  });

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

  it('has an example of a parameter only where a new store takes it, as it takes those of the bodies', async () => {
    const store = await startApi();
    await seedCatalogue(store.application);
    const refused: (readonly [string, number])[] = [];
    for (const { name, path, parameters, requestBody } of operations) {
      const [method = ''] = name.split(' ');
      const headers: Record<string, string> = { ...bearer(store.key), 'Content-Type': 'application/json' };
      const query = new URLSearchParams();
      let target = path;
      for (const each of parameters) {
        const parameter = resolved({ ...each }) as { name: string; in: string; schema: object };
        const [example] = (resolved({ ...parameter.schema })['examples'] ?? []) as readonly Example[];
        if (example === undefined) continue;
        if (parameter.in === 'path') target = target.replace(`{${parameter.name}}`, String(example));
        else if (parameter.in === 'header') headers[parameter.name] = String(example);
        else for (const value of [example].flat()) query.append(parameter.name, String(value));
      }
      // Nobody knows an id that is made at random.
      if (target.includes('{')) continue;
      const [body] = Object.values(requestBody?.content['application/json'].examples ?? {});
      const { status } = await request(store, `/v1${target}?${query.toString()}`, {
        method,
        headers,
        ...(body && { body: JSON.stringify(body.value) }),
      });
      if (status >= 300) refused.push([name, status]);
    }
    await store.close();
    // Animals have the category, and the order is completed.
    expect(refused).toEqual([
      ['DELETE /categories/{categoryId}', 409],
      ['POST /store/orders/{orderId}/cancel', 409],
    ]);
  });
});

it('each code of the registry is met by a suite', () => {
  const specs = [join(__dirname, '..'), join(__dirname, '../../../../test/hostile')].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.spec.ts'))
      .map((name) => readFileSync(join(folder, name), 'utf8')),
  );
  expect(Object.keys(errorStatuses).filter((code) => !specs.some((text) => text.includes(`'${code}'`)))).toEqual([]);
});

it('a response is checked against the description: what that lacks is a problem', async () => {
  const response = await get(api, '/v1/pets?limit=0');
  const problems = (changed: Partial<RawResponse>) => problemsOf('GET', '/v1/pets', { ...response, ...changed });
  expect(problems({})).toEqual([]);
  expect(problems({ status: 202 })).toEqual(['status 202 is not described']);
  expect(problems({ headers: { ...response.headers, 'x-inside': '1' } })).toEqual(['header x-inside is not described']);
  expect(problems({ body: response.body.replace('{', '{"stack":"",') })).not.toEqual([]);
  expect(problems({ body: response.body.replace('invalid_parameter', 'not_found') })).not.toEqual([]);
});

const fetchPage = (path: string, method = 'GET', headers: Readonly<Record<string, string>> = {}) =>
  request(api, path, { method, headers });

function expectPage(response: RawResponse, type: string): void {
  expect(response).toMatchObject({
    status: 200,
    headers: { 'content-type': type, 'cache-control': 'public, no-cache', 'x-content-type-options': 'nosniff' },
  });
  expect(Object.keys(response.headers).filter((name) => /ratelimit|authenticate|stability/.test(name))).toEqual([]);
  const policy = response.headers['content-security-policy'];
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toMatch(/unsafe|https?:|\*/);
}

const PAGES = [
  ['/openapi.json', 'application/json; charset=utf-8'],
  ['/llms.txt', 'text/plain; charset=utf-8'],
  ['/favicon.ico', 'image/x-icon'],
  ['/docs', 'text/html; charset=utf-8'],
  ['/docs/page.js', 'text/javascript; charset=utf-8'],
  ['/docs/swagger-ui.css', 'text/css; charset=utf-8'],
  ['/docs/swagger-ui-bundle.js', 'text/javascript; charset=utf-8'],
] as const;

describe.each(PAGES)('%s', (path, type) => {
  it('needs no key, and may load nothing from other hosts', async () => {
    expectPage(await fetchPage(path), type);
    expectPage(await fetchPage(`${path}?x=1`), type);
  });

  it('is not sent again to a client that has it', async () => {
    const { body, headers } = await fetchPage(path);
    const etag = headers['etag'] ?? '';
    expect(etag).toMatch(/^"[\w-]{22}"$/);
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      expect(await fetchPage(path, 'GET', { 'If-None-Match': known })).toMatchObject({ status: 304, body: '' });
    }
    expect(await fetchPage(path, 'GET', { 'If-None-Match': '"other"' })).toMatchObject({ status: 200, body });
  });

  it('answers HEAD as GET, without the body', async () => {
    const { headers } = await fetchPage(path);
    const response = await fetchPage(path, 'HEAD');
    expect(response).toMatchObject({ status: 200, body: '' });
    expect(response.headers).toMatchObject({ etag: headers['etag'], 'content-length': headers['content-length'] });
  });
});

describe.each(['/', ...PAGES.map(([path]) => path)])('%s', (path) => {
  it('answers OPTIONS with 204 and Allow, and refuses other methods with 405', async () => {
    const allow = 'GET, HEAD, OPTIONS';
    expect(await fetchPage(path, 'OPTIONS')).toMatchObject({ status: 204, body: '', headers: { allow } });
    for (const method of ['POST', 'PUT', 'DELETE']) {
      const response = await fetchPage(path, method);
      expect(response).toMatchObject({ status: 405, headers: { allow } });
      expect(JSON.parse(response.body)).toMatchObject({ code: 'method_not_allowed', status: 405 });
    }
  });

  it('counts against no address', async () => {
    api.clock.advance(60_000);
    for (let sent = 0; sent < 61; sent += 1) await fetchPage(path, 'HEAD');
    expect((await fetchPage('/v1/pets')).headers['x-ratelimit-remaining']).toBe('59');
  });
});

it.each(['GET', 'HEAD'])('%s of / leads to the page at /docs, without a key', async (method) => {
  for (const path of ['/', '/?x=1']) {
    const { status, headers, body } = await fetchPage(path, method);
    expect([status, body, headers['location'], headers['cache-control']]).toEqual([303, '', '/docs', 'no-store']);
    expect(Object.keys(headers).filter((name) => /ratelimit|authenticate/.test(name))).toEqual([]);
  }
});

describe('a file that is compressed', () => {
  const path = '/docs/swagger-ui.css';

  it.each([
    ['gzip, deflate, br', 'br'],
    ['gzip', 'gzip'],
    ['br;q=0, gzip', 'gzip'],
    ['*', 'br'],
    ['gzip;q=0', undefined],
    ['', undefined],
  ])('is sent to a client that accepts "%s" as %s', async (accepted, encoding) => {
    const response = await fetchPage(path, 'GET', { 'Accept-Encoding': accepted });
    expect(response).toMatchObject({ status: 200, headers: { vary: 'Accept-Encoding' } });
    expect(response.headers['content-encoding']).toBe(encoding);
  });

  it('has a tag for each encoding (RFC 9110 §8.8.3.3)', async () => {
    const headersFor = async (encoding: string) =>
      (await fetchPage(path, 'HEAD', { 'Accept-Encoding': encoding })).headers;
    const all = await Promise.all(['br', 'gzip', 'identity'].map(headersFor));
    expect(new Set(all.map(({ etag }) => etag)).size).toBe(3);
    const known = { 'Accept-Encoding': 'br', 'If-None-Match': all[0]?.['etag'] ?? '' };
    expect(await fetchPage(path, 'GET', known)).toMatchObject({ status: 304, body: '' });
  });

  it('is sent as it was', async () => {
    const plain = await (await fetch(`${api.origin}${path}`, { headers: { 'Accept-Encoding': 'identity' } })).text();
    for (const encoding of ['br', 'gzip']) {
      const response = await fetch(`${api.origin}${path}`, { headers: { 'Accept-Encoding': encoding } });
      expect([response.headers.get('content-encoding'), await response.text()]).toEqual([encoding, plain]);
    }
  });
});

describe('the page at /docs', () => {
  it.each([
    [undefined, '<li>The operator of this service gives out keys</li>'],
    ['https://portal.example.com', '<a href="https://portal.example.com/keys">Get a key</a>'],
    ['https://example.com/"><script>', '<a href="https://example.com/%22%3E%3Cscript%3E/keys">Get a key</a>'],
  ])('leads from the portal address %s to a key', (portalUrl, link) => {
    expect(referencePage(portalUrl)).toContain(link);
  });

  it('shows the quick starts', () => {
    const marks: Readonly<Record<string, string>> = { lt: '<', amp: '&' };
    const shown = referencePage(undefined).replace(/&(\w+);/g, (entity, name: string) => marks[name] ?? entity);
    const starts = readQuickStarts();
    expect(starts.map(({ language }) => language)).toEqual(['curl', 'TypeScript', 'Python']);
    for (const { file, command, pack, install, text } of starts)
      for (const code of command === undefined ? [text] : [file, command, pack, install, text])
        if (code !== undefined) expect(shown).toContain(`<code>${code}</code>`);
  });
});

describe('beside the pages', () => {
  it.each(['/docs/', '/docs/index.html', '/docs/../package.json', '/docs/%2e%2e/package.json', '/v1/docs', '/openapi'])(
    'nothing is to be had at %s',
    async (path) => {
      expectError(await fetchPage(path), 401, 'missing_api_key');
      expectError(await fetchPage(path, 'GET', bearer(api.key)), 404, 'not_found');
    },
  );
});

describe('openapi.json', () => {
  it('and the README’s table are committed as the code has them; `npm run openapi -w @adoption-store/api` writes them', () => {
    expect(readFileSync(join(__dirname, '../../openapi.json'), 'utf8')).toBe(descriptionText(OPERATIONS));
    const rows = readFileSync(join(__dirname, '../../../../README.md'), 'utf8').match(/^\| `[A-Z]+ \/v1\/.*$/gm) ?? [];
    expect(rows.map((row) => row.replace(/ +/g, ' '))).toEqual(readmeRows(OPERATIONS));
  });
});

describe('the server in /openapi.json and /llms.txt', () => {
  it('is a relative address, whatever the Host header says', async () => {
    for (const [path, text] of [
      ['/openapi.json', descriptionText(OPERATIONS, '/v1')],
      ['/llms.txt', llmsText(OPERATIONS, '/v1')],
    ] as const) {
      const host = ['Host: evil.example', 'X-Forwarded-Host: evil.example'];
      expect((await sendOnce(api, rawHead(api, `GET ${path} HTTP/1.1`, [], host))).body).toBe(text);
    }
    expect(JSON.parse(descriptionText(OPERATIONS, '/v1'))).toMatchObject({ servers: [{ url: '/v1' }, ...servers] });
  });

  it('is at PUBLIC_URL, where that is set, and / leads to the page there', async () => {
    const published = await startApi({ publicUrl: 'https://api.example.com' });
    const server = 'https://api.example.com/v1';
    expect((await request(published, '/openapi.json')).body).toBe(descriptionText(OPERATIONS, server));
    expect((await request(published, '/llms.txt')).body).toBe(llmsText(OPERATIONS, server));
    expect((await request(published, '/')).headers).toMatchObject({ location: 'https://api.example.com/docs' });
    await published.close();
  });
});

it('/llms.txt has the guide and every operation', () => {
  const text = llmsText(OPERATIONS, '/v1');
  expect(text).toContain(info.description);
  const names = [...text.matchAll(/^- `(.+?)`/gm)].map(([, name]) => name);
  expect(names.sort()).toEqual(operations.map(({ name }) => name).sort());
  expect(text).toContain(
    '- `GET /categories`: List categories. Lists categories by their identifiers, ascending. Pages work as for animals. ' +
      'It needs the scope `pets:read`. Query: `limit`, `id`, `cursor`. Stability: beta.',
  );
  expect(text).toContain('Body, for example: `{"name":"Bella","categoryId":1}`.');
});
