/**
 * `node generate-shapes.js [FILE]` writes what a response of each operation looks like, as far as the client checks it.
 * A test checks that the committed file is current.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const { paths, components } = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../apps/api/openapi.json'), 'utf8'),
);

/** The shapes of the description's objects, as source text, by name. */
const objects = {};
const answers = Object.entries(paths).flatMap(([path, item]) =>
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
  process.argv[2] ?? join(import.meta.dirname, 'src/answer-shapes.ts'),
  `// Made by generate-shapes.js of apps/api/openapi.json; npm run generate -w @adoption-store/client makes it anew.

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
`,
);

/** The shape of a schema, as source text. `oneOf` makes a value nullable; the description has no other combination. */
function shapeOf({ $ref, oneOf, type, format, items, properties, required = [], ...schema }) {
  if ($ref !== undefined) return named($ref.split('/').at(-1));
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
  const shape = shapeOf(components.schemas[name]);
  if (!shape.startsWith('{')) return shape;
  objects[name] = shape;
  return name;
}

function theOnly(shapes) {
  const [only, another] = new Set(shapes);
  if (another !== undefined) throw new Error(`more than one kind of value: ${only}, ${another}`);
  return only;
}
