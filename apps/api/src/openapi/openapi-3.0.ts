import { type Described, isDescribed } from './schema.js';

/**
 * The same description in OpenAPI 3.0, for tools that don't read 3.1. It converts the keywords that our description has;
 * the linters check the result.
 */
export function inOpenApi30(description: Described): Described {
  return { ...(converted(description) as Described), openapi: '3.0.3' };
}

function converted(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(converted);
  if (!isDescribed(part)) return part;
  return convertedSchema(
    Object.fromEntries(Object.entries(part).flatMap(([name, value]) => convertedField(name, value))),
  );
}

function convertedField(name: string, value: unknown): readonly (readonly [string, unknown])[] {
  switch (name) {
    // Of a schema the first of a list; a body's named examples are the same in both editions.
    case 'examples':
      return Array.isArray(value) ? [['example', value[0]]] : [[name, value]];
    case 'const':
      return [['enum', [value]]];
    case 'identifier':
      return [['url', `https://spdx.org/licenses/${String(value)}.html`]];
    // Only OAuth has roles. The texts of the operations name their scopes.
    case 'bearerAuth':
      return [[name, Array.isArray(value) ? [] : value]];
    default:
      return [[name, converted(value)]];
  }
}

function convertedSchema({ $ref, oneOf, ...rest }: Described): Described {
  if (typeof $ref === 'string') return Object.keys(rest).length === 0 ? { $ref } : { ...rest, allOf: [{ $ref }] };
  if (!Array.isArray(oneOf)) return rest;
  const others = (oneOf as readonly Described[]).filter(({ type }) => type !== 'null');
  const [only] = others;
  return only !== undefined && others.length === 1 ? { ...only, ...rest, nullable: true } : { ...rest, oneOf };
}
