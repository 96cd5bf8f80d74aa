import { readdirSync, readFileSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { expect, it } from '@jest/globals';

const repository = join(__dirname, '../..');

/** A context has the same folder wherever it appears. */
const CONTEXTS = [
  ...['animals', 'categories', 'orders', 'messages', 'events', 'accounts'],
  ...['limits', 'sessions', 'idempotency', 'deliveries', 'webhooks'],
];

/** What a workspace has besides: folders of its technology, which know no context or every one. */
const OTHERS: Readonly<Record<string, readonly string[]>> = {
  'packages/domain': ['kernel', 'published', 'testing'],
  'packages/infrastructure': ['kernel', 'turns', 'database'],
  'apps/api': ['http', 'openapi', 'docs'],
  'apps/portal': ['http'],
  'apps/worker': [],
  'apps/cli': [],
};

it.each(Object.entries(OTHERS))('every folder of the sources of %s is a context, or one of %j', (workspace, others) => {
  const entries = readdirSync(join(repository, workspace, 'src'), { withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  expect(folders.filter((name) => ![...CONTEXTS, ...others].includes(name))).toEqual([]);
});

it('every context is one of the domain', () => {
  const folders = readdirSync(join(repository, 'packages/domain/src'));
  expect(CONTEXTS.filter((context) => !folders.includes(context))).toEqual([]);
});

/** For each folder directly under the sources, and each file there, what of these it imports. */
function importsBetween(sources: string): ReadonlyMap<string, ReadonlySet<string>> {
  const imports = new Map<string, Set<string>>();
  const files = readdirSync(sources, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /(?<!\.spec)\.ts$/.test(file),
  );
  const partOf = (file: string) => file.split('/')[0]?.replace(/\.[jt]s$/, '') ?? '';
  for (const file of files) {
    const part = partOf(file);
    const own = imports.get(part) ?? new Set();
    imports.set(part, own);
    for (const [, path = ''] of readFileSync(join(sources, file), 'utf8').matchAll(/(?:from |import\()'(\.[^']+)'/g)) {
      const imported = partOf(normalize(join(file, '..', path)));
      if (imported !== part) own.add(imported);
    }
  }
  return imports;
}

/** The longest path of imports from this part. It ends, because no two parts import each other (boundaries.js). */
function layersUnder(part: string, imports: ReadonlyMap<string, ReadonlySet<string>>): number {
  const below = [...(imports.get(part) ?? [])];
  return 1 + Math.max(0, ...below.map((each) => layersUnder(each, imports)));
}

it('the API stands in at most six layers: the edge at the bottom, contexts above it, create-api.ts on top', () => {
  const imports = importsBetween(join(repository, 'apps/api/src'));
  expect(imports.get('http')).toEqual(new Set());
  expect(layersUnder('create-api', imports)).toBeLessThanOrEqual(6);
  // Only the start of the process stands higher.
  const higher = [...imports.keys()].filter((part) => layersUnder(part, imports) > 6);
  expect(higher.sort()).toEqual(['main', 'serve-api']);
});
