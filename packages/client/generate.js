/**
 * `node generate.js [FILE]` writes the TypeScript types of the API's OpenAPI description, and the names of its int64
 * properties. A test checks that the committed file is current.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import openapiTypescript, { astToString } from 'openapi-typescript';
import ts from 'typescript';

const description = JSON.parse(readFileSync(join(import.meta.dirname, '../../apps/api/openapi.json'), 'utf8'));

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

const file = process.argv[2] ?? join(import.meta.dirname, 'src/generated.ts');
writeFileSync(
  file,
  `// Made by generate.js of apps/api/openapi.json; npm run generate -w @adoption-store/client makes it anew.

/** The properties of JSON bodies that are int64, and so bigints here. */
export const int64Properties: ReadonlySet<string> = new Set(${JSON.stringify(int64Properties(description.components.schemas))});

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
