import type { Described } from './schema.js';

const SCHEMA = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json';

interface Parameter extends Described {
  readonly name: string;
  readonly in: 'header' | 'path' | 'query';
  readonly description: string;
  readonly schema: Described;
}

interface Operation extends Described {
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly parameters: readonly Described[];
  readonly requestBody?: { readonly content: Described };
}

/**
 * The description as a Postman collection (v2.1), one request for each operation. Optional parameters are there, but not
 * sent. Identifiers are variables of the collection, also in bodies.
 */
export function postmanCollection(description: Described): Described {
  const { info, servers, tags, paths, components } = description as unknown as {
    info: { title: string; description: string };
    servers: readonly { url: string }[];
    tags: readonly { name: string; description: string }[];
    paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
    components: Readonly<Record<string, Described>>;
  };
  const resolved = (part: Described & { $ref?: string }): Described => {
    const { $ref = '' } = part;
    const [, , section = '', name = ''] = $ref.split('/');
    return section === '' ? part : (components[section]?.[name] as Described);
  };
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      operation,
      parameters: operation.parameters
        .map((each) => resolved(each) as Parameter)
        .map((each) => ({ ...each, schema: resolved(each.schema) })),
    })),
  );
  const ids = new Map(
    operations.flatMap(({ parameters }) =>
      parameters.filter((each) => each.in === 'path').map((each) => [each.name, exampleOf(each)]),
    ),
  );
  return {
    info: { name: info.title, description: info.description, schema: SCHEMA },
    auth: { type: 'bearer', bearer: [{ key: 'token', value: '{{apiKey}}', type: 'string' }] },
    variable: [
      { key: 'baseUrl', value: servers[0]?.url },
      { key: 'apiKey', value: '' },
      ...[...ids].map(([key, value]) => ({ key, value })),
    ],
    item: tags.map(({ name, description: about }) => ({
      name,
      description: about,
      item: operations
        .filter(({ operation }) => operation.tags.includes(name))
        .map(({ method, path, operation, parameters }) => ({
          name: operation.summary,
          request: {
            method,
            description: operation.description,
            url: urlOf(path, parameters),
            header: [
              ...parameters.filter((each) => each.in === 'header').map(optional),
              ...(operation.requestBody ? [{ key: 'Content-Type', value: 'application/json' }] : []),
            ],
            body: operation.requestBody && bodyOf(operation.requestBody.content, [...ids.keys()]),
          },
          response: [],
        })),
    })),
  };
}

function urlOf(path: string, parameters: readonly Parameter[]): Described {
  const withVariables = path.replace(/\{(\w+)\}/g, '{{$1}}');
  return {
    raw: `{{baseUrl}}${withVariables}`,
    host: ['{{baseUrl}}'],
    path: withVariables.slice(1).split('/'),
    query: parameters.filter((each) => each.in === 'query').map(optional),
  };
}

function optional(parameter: Parameter): Described {
  return {
    key: parameter.name,
    // A key is for one request, so Postman makes a new one each time.
    value: parameter.name === 'Idempotency-Key' ? '{{$guid}}' : exampleOf(parameter),
    description: parameter.description,
    disabled: true,
  };
}

function exampleOf({ schema }: Parameter): string {
  const [example] = schema['examples'] as readonly unknown[];
  return String(Array.isArray(example) ? example[0] : example);
}

function bodyOf(content: Described, ids: readonly string[]): Described {
  const { examples } = content['application/json'] as { examples: Readonly<Record<string, { value: object }>> };
  const [example] = Object.values(examples);
  const text = JSON.stringify(example?.value, null, 2);
  return {
    mode: 'raw',
    raw: text.replace(/"(\w+)": \d+/g, (field, name: string) =>
      ids.includes(name) ? `"${name}": {{${name}}}` : field,
    ),
    options: { raw: { language: 'json' } },
  };
}
