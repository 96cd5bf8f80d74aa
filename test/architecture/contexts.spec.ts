import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { temporaryFolder } from '@adoption-store/test-support';

/** A context has the same folder wherever it appears. */
const CONTEXTS = [
  ...['animals', 'categories', 'orders', 'messages', 'accounts'],
  ...['limits', 'sessions', 'idempotency', 'deliveries'],
];

/** What a workspace has besides: folders of its technology, which know no context or every one. */
const OTHERS: Readonly<Record<string, readonly string[]>> = {
  'packages/domain': ['kernel', 'testing'],
  'packages/infrastructure': ['kernel', 'database'],
  'apps/api': ['http', 'openapi', 'docs'],
  'apps/portal': ['http'],
  'apps/worker': [],
  'apps/cli': [],
};

/** Each folder directly under the sources of these workspaces that is no context and not named above. */
function unknownFolders(repository: string): readonly string[] {
  return Object.entries(OTHERS).flatMap(([workspace, others]) => {
    const sources = join(repository, workspace, 'src');
    const folders = existsSync(sources) ? readdirSync(sources, { withFileTypes: true }) : [];
    return folders
      .filter((entry) => entry.isDirectory() && ![...CONTEXTS, ...others].includes(entry.name))
      .map(({ name }) => `${workspace}/src/${name}`);
  });
}

it('every folder of sources is a context, or one of the few that are named here', () => {
  expect(unknownFolders(join(__dirname, '../..'))).toEqual([]);
});

it('every context is one of the domain', () => {
  const folders = readdirSync(join(__dirname, '../../packages/domain/src'));
  expect(CONTEXTS.filter((context) => !folders.includes(context))).toEqual([]);
});

it('finds a context under another name', async () => {
  const folder = await temporaryFolder();
  try {
    for (const path of ['apps/api/src/pets', 'apps/api/src/orders', 'apps/portal/src/docs']) {
      mkdirSync(join(folder.path, path), { recursive: true });
    }
    expect(unknownFolders(folder.path)).toEqual(['apps/api/src/pets', 'apps/portal/src/docs']);
  } finally {
    await folder.remove();
  }
});
