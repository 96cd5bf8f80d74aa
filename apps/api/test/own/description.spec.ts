import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EVENT_TYPES, MESSAGE_STATUSES, newAnimal, ORDER_STATUSES, PET_STATUSES } from '@adoption-store/domain';
import { DEPRECATIONS, readSamples } from '@adoption-store/web';
import { describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { seedCatalogue } from '../../src/demo.js';
import { ADDED_EVENT, PLACED_EVENT } from '../../src/events/event.schema.js';
import { VISIBLE } from '../../src/http/operations/schema.js';
import { OPERATIONS } from '../../src/api.module.js';
import { descriptionOf, descriptionText, llmsText } from '../../src/openapi/description.js';
import { readmeRows } from '../../src/openapi/operations.js';
import { startApi, useApi } from '../support/api.js';
import { bodyOf, rawHead, send, sendOnce } from '../support/client.js';
import { request } from '../support/raw-http.js';

type Example = string | number | readonly (string | number)[];

interface Operation {
  readonly operationId: string;
  readonly parameters: readonly object[];
  readonly requestBody?: {
    readonly content: {
      readonly 'application/json': {
        readonly schema: { readonly $ref: string };
        readonly examples: Readonly<Record<string, { readonly value: object }>>;
      };
    };
  };
  readonly 'x-codeSamples'?: readonly object[];
}

interface Schema {
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly examples?: readonly object[];
}

interface Description {
  readonly info: { readonly description: string };
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, Schema>>>>;
}

const description = descriptionOf(OPERATIONS);
const { info, servers, paths, components } = description as unknown as Description;
const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, ...operation })),
);
const fieldsOfBodies = operations.flatMap(({ method, path, requestBody }) => {
  const { $ref } = requestBody?.content['application/json'].schema ?? {};
  const { properties = {}, examples: [example] = [] } = components['schemas']?.[$ref?.split('/').at(-1) ?? ''] ?? {};
  const target = `/v1${path.replace(/\{\w+\}/g, '1')}`;
  return Object.keys(properties).map((field) => ({ method, path: target, field, example }));
});
/** The part that a reference stands for. */
function resolved(part: object): object {
  const [section = '', name = ''] = '$ref' in part ? String(part.$ref).split('/').slice(-2) : [];
  return components[section]?.[name] ?? part;
}

const api = useApi();

describe('the description', () => {
  it.each(fieldsOfBodies)('has no unvalidated $field in a body of $method $path', async (of) => {
    const { method, path, field, example } = of;
    const response = await send(api, method, path, { ...example, [field]: {} });
    expect(bodyOf(response, 400)).toMatchObject({ message: expect.stringMatching(`^${field} must be`) });
  });

  it('ends the operations that the portal marks as deprecated', () => {
    const ending = OPERATIONS.flatMap(({ route, notice }) =>
      notice ? [{ ...notice.deprecation, operation: route }] : [],
    );
    expect(ending).toEqual(DEPRECATIONS);
  });

  it('has a sample of each operation in each language, and those that change something say so', () => {
    const wanted = operations.flatMap(({ method, operationId }) =>
      ['curl', 'TypeScript', 'Python'].map((label) => `${operationId} ${label}${method === 'GET' ? '' : ', says'}`),
    );
    const shown = [...readSamples()].flatMap(([id, samples]) =>
      samples.map(({ label, source }) => `${id} ${label}${/^(#|\/\/) [A-Z]/.test(source) ? ', says' : ''}`),
    );
    expect(shown.sort()).toEqual(wanted.sort());
  });
});

describe('for generators of clients, the description', () => {
  it('refuses the names that the API refuses for want of a visible character, but for combining marks, without \\p', () => {
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
    expect(names.filter((name) => !/[\p{Surrogate}\p{M}]/u.test(name)).filter(differs)).toEqual([]);
  });

  it('has the same open type for the words of a request as for those of a response, so that what was read can be sent', () => {
    const closed = Object.entries(components['schemas'] ?? {}).filter(([, each]) =>
      /"(?:enum|const)"/.test(JSON.stringify(each)),
    );
    expect(closed.map(([name]) => name)).toEqual([
      'PetEvent',
      'OrderEvent',
      'MessageEvent',
      'OtherEvent',
      'EventStart',
    ]);
    const typeOf = (name: string) => components['schemas']?.[name]?.properties?.['status'];
    for (const [read, written] of [
      ['Pet', 'NewPet'],
      ['Pet', 'PetPatch'],
      ['Webhook', 'WebhookPatch'],
    ] as const)
      expect(resolved(typeOf(written) as object)).toEqual({
        ...(typeOf(read) as object),
        description: expect.stringMatching(/ One of `.+`; any other is 400\./),
      });
  });

  it('tells the data of an event by its type, and has a branch for a type that is added later', () => {
    const ajv = new Ajv2020({ strict: false });
    formats.default(ajv);
    const isEvent = ajv.compile({ $ref: '#/components/schemas/Event', components });
    const [pet, order] = [ADDED_EVENT, PLACED_EVENT];
    expect([pet, order, { ...pet, type: 'pet.praised', data: {} }].map((event) => isEvent(event))).toEqual([
      true,
      true,
      true,
    ]);
    for (const event of [
      { ...pet, data: order.data },
      { ...order, data: pet.data },
      { ...pet, data: {} },
    ])
      expect(isEvent(event)).toBe(false);
  });

  it('has no default of a property, which openapi-typescript would make required', () => {
    expect(JSON.stringify(components['schemas'])).not.toContain('"default"');
  });

  it('has an example of a parameter only where a new store takes it, as it takes those of the bodies', async () => {
    const store = await startApi();
    await seedCatalogue(store.application);
    const refused: (readonly [string, number])[] = [];
    for (const { method, path, parameters, requestBody } of operations) {
      const headers: Record<string, string> = {};
      const query = new URLSearchParams();
      let target = path;
      for (const each of parameters) {
        const parameter = resolved(each) as { name: string; in: string; schema: object };
        const { examples: [example] = [] } = resolved(parameter.schema) as { examples?: readonly Example[] };
        if (example === undefined) continue;
        if (parameter.in === 'path') target = target.replace(`{${parameter.name}}`, String(example));
        else if (parameter.in === 'header') headers[parameter.name] = String(example);
        else for (const value of [example].flat()) query.append(parameter.name, String(value));
      }
      // Nobody knows an id that is made at random.
      if (target.includes('{')) continue;
      const [body] = Object.values(requestBody?.content['application/json'].examples ?? {});
      const { status } = await send(store, method, `/v1${target}?${query.toString()}`, body?.value, headers);
      if (status >= 300) refused.push([`${method} ${path}`, status]);
    }
    await store.close();
    // Animals have the category, and the order is completed.
    expect(refused).toEqual([
      ['DELETE /categories/{categoryId}', 409],
      ['POST /store/orders/{orderId}/cancel', 409],
    ]);
  });
});

it('openapi.json and the README’s table are committed as the code has them; `npm run openapi -w @adoption-store/api` writes them', () => {
  expect(readFileSync(join(__dirname, '../../openapi.json'), 'utf8')).toBe(descriptionText(OPERATIONS));
  const rows = readFileSync(join(__dirname, '../../../../README.md'), 'utf8').match(/^\| `[A-Z]+ \/v1\/.*$/gm) ?? [];
  expect(rows.map((row) => row.replace(/ +/g, ' '))).toEqual(readmeRows(OPERATIONS));
});

it('the README names every status and every type of event', () => {
  const readme = readFileSync(join(__dirname, '../../README.md'), 'utf8');
  const words = [...PET_STATUSES, ...ORDER_STATUSES, ...MESSAGE_STATUSES, ...EVENT_TYPES.map((type) => `\`${type}\``)];
  expect(words.filter((word) => !readme.includes(word))).toEqual([]);
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
  expect(names.sort()).toEqual(operations.map(({ method, path }) => `${method} ${path}`).sort());
  expect(text).toContain(
    '- `GET /categories`: List categories. Lists categories by their identifiers, ascending. Pages work as for animals. ' +
      'It needs the scope `pets:read`. Query: `limit`, `id`, `cursor`. Stability: beta.',
  );
  expect(text).toContain('Body, for example: `{"name":"Bella","categoryId":1}`.');
});
