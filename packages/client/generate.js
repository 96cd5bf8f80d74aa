/**
 * `node generate.js [FILE]` writes what the API's description says as TypeScript: its types, and which of their
 * properties are int64. A test holds the committed file to it.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import openapiTypescript, { astToString } from 'openapi-typescript';
import ts from 'typescript';

const description = JSON.parse(readFileSync(join(import.meta.dirname, '../../apps/api/openapi.json'), 'utf8'));

const types = await openapiTypescript(description, {
  // A default is the server's business: whoever adds an animal may leave it out.
  defaultNonNullable: false,
  transform: ({ format }) =>
    format === 'int64' ? ts.factory.createKeywordTypeNode(ts.SyntaxKind.BigIntKeyword) : undefined,
});

const file = process.argv[2] ?? join(import.meta.dirname, 'src/generated.ts');
writeFileSync(
  file,
  `// Made by generate.js of apps/api/openapi.json; npm run generate -w @adoption-store/client makes it anew.

/** The properties of JSON bodies that are int64, and so bigints here. */
export const int64Properties: ReadonlySet<string> = new Set(${JSON.stringify(int64Properties(description.components.schemas))});

${astToString(types)}`,
);

/** A name says enough only as long as it is int64 everywhere; where it no longer is, there is no client to be had. */
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
  if (both.length > 0) throw new Error(`${both.join(', ')}: an int64 here, another number there`);
  if (anywhere > 0) throw new Error('an int64 that is no property of an object');
  return [...int64].sort();
}
