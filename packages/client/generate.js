/**
 * Writes `src/generated.ts` for the build: the client's version, the TypeScript types of the API's OpenAPI description, the
 * names of its int64 properties, the POSTs without an Idempotency-Key, and the shape of each operation's result.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import openapiTypescript, { astToString } from 'openapi-typescript';
import ts from 'typescript';

const { version } = JSON.parse(readFileSync(join(import.meta.dirname, 'package.json'), 'utf8'));

const description = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../apps/api/openapi.json'), 'utf8'),
  // An int64 that a number holds exactly is a number here.
  (_name, value) =>
    value?.format === 'int64' && value.maximum <= Number.MAX_SAFE_INTEGER ? { ...value, format: undefined } : value,
);

const types = await openapiTypescript(description, {
  transform: ({ format, 'x-extensible-enum': words }) => {
    if (format === 'int64') return ts.factory.createKeywordTypeNode(ts.SyntaxKind.BigIntKeyword);
    return words && openSet(words);
  },
});

/** `'a' | 'b' | (string & {})`: editors offer the words, and the compiler accepts those of a later version. */
function openSet(words) {
  const literals = words.map((word) => ts.factory.createLiteralTypeNode(ts.factory.createStringLiteral(word)));
  const text = ts.factory.createKeywordTypeNode(ts.SyntaxKind.StringKeyword);
  return ts.factory.createUnionTypeNode([
    ...literals,
    ts.factory.createParenthesizedType(
      ts.factory.createIntersectionTypeNode([text, ts.factory.createTypeLiteralNode([])]),
    ),
  ]);
}

/** The shapes of the description's objects, as source text, by name. */
const objects = {};
const answers = Object.entries(description.paths).flatMap(([path, item]) =>
  Object.entries(item)
    .filter(([, { responses }]) => responses !== undefined)
    .map(([method, { responses }]) => {
      const operation = `${method.toUpperCase()} ${path}`;
      const successes = Object.entries(responses).filter(([status]) => status.startsWith('2'));
      return `  '${operation}': ${theOnly(
        successes.map(([, { content }]) =>
          content === undefined ? 'null' : shapeOf(content['application/json'].schema),
        ),
      )},`;
    }),
);

writeFileSync(
  join(import.meta.dirname, 'src/generated.ts'),
  `// Made by generate.js of apps/api/openapi.json. The build makes it anew.

export const version = '${version}';

/** The properties of JSON bodies that are int64, and so bigints here. */
export const int64Properties: ReadonlySet<string> = new Set(${JSON.stringify(int64Properties(description.components.schemas))});

/** The POSTs that take no Idempotency-Key. */
export const keyless: ReadonlySet<string> = new Set(${JSON.stringify(keyless())});

/** Types of values: [Pet] is a list, [Pet, null] may be null. Properties that may be missing are left out. */
export type Shape =
  | 'int64'
  | 'integer'
  | 'number'
  | 'string'
  | 'boolean'
  | readonly [item: Shape]
  | readonly [value: Shape, orNull: null]
  | { readonly [property: string]: Shape };

${Object.entries(objects)
  .map(([name, shape]) => `const ${name} = ${shape} as const;`)
  .join('\n')}

/** The result of each operation; null if it has none. */
export const answers: Readonly<Record<string, Shape | null>> = {
${answers.join('\n')}
};

${astToString(types)}`,
);

/** The client recognises int64 properties by name, so a name must be int64 everywhere or nowhere. */
function int64Properties(schemas) {
  const int64 = new Set();
  const other = new Set();
  let anywhere = 0;
  const visit = (schema) => {
    if (schema === null || typeof schema !== 'object') return;
    if (schema.format === 'int64') anywhere += 1;
    for (const [name, { type, format }] of Object.entries(schema.properties ?? {}))
      if (format === 'int64') {
        int64.add(name);
        anywhere -= 1;
      } else if (type === 'integer' || type === 'number') other.add(name);
    Object.values(schema).forEach(visit);
  };
  visit(schemas);
  const both = [...int64].filter((name) => other.has(name));
  if (both.length > 0) throw new Error(`${both.join(', ')}: int64 in one schema, another number in a second one`);
  if (anywhere > 0) throw new Error('an int64 that is not a property of an object');
  return [...int64].sort();
}

function keyless() {
  return Object.entries(description.paths)
    .filter(([, { post }]) => post?.parameters.every(({ $ref }) => $ref !== '#/components/parameters/IdempotencyKey'))
    .map(([path]) => `POST ${path}`);
}

/**
 * The shape of a schema, as source text. `oneOf` makes a value nullable. The last of `anyOf` is the branch that takes what is
 * added later: only what it requires is checked. The description has no other combination.
 */
function shapeOf({ $ref, oneOf, anyOf, type, format, items, properties, required = [], ...schema }) {
  if ($ref !== undefined) return named($ref.split('/').at(-1));
  if (anyOf !== undefined) return shapeOf(anyOf.at(-1));
  if (oneOf !== undefined) return `[${theOnly(oneOf.filter((each) => each.type !== 'null').map(shapeOf))}, null]`;
  if (type === 'array') return `[${shapeOf(items)}]`;
  if (type === 'object')
    return `{ ${Object.entries(properties ?? {})
      .filter(([name]) => required.includes(name))
      .map(([name, property]) => `${name}: ${shapeOf(property)}`)
      .join(', ')} }`;
  if (typeof type !== 'string') throw new Error(`a schema without a type of its own: ${JSON.stringify(schema)}`);
  return `'${format === 'int64' ? 'int64' : type}'`;
}

/** The name of an object's shape; the shape itself of anything else. */
function named(name) {
  const shape = shapeOf(description.components.schemas[name]);
  if (!shape.startsWith('{')) return shape;
  objects[name] = shape;
  return name;
}

function theOnly(shapes) {
  const [only, another] = new Set(shapes);
  if (another !== undefined) throw new Error(`more than one kind of value: ${only}, ${another}`);
  return only;
}
