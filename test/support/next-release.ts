import { appendFileSync, copyFileSync, cpSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join, relative } from 'node:path';
import { API, MIGRATE, temporaryFolder, WORKER } from '@adoption-store/test-support';

const ROOT = join(__dirname, '../..');
const MIGRATION = '1700000200000-add-initials.js';

/** Copies what is compiled and adds a migration to the copy, as the next release does. Returns the copy's programs. */
export async function makeNextRelease() {
  const folder = await temporaryFolder();
  const { path } = folder;
  const isRun = (source: string) => !/\/(?:src|test|node_modules)$/.test(source);
  for (const name of ['apps', 'packages'])
    cpSync(join(ROOT, name), join(path, name), { recursive: true, filter: isRun });
  mkdirSync(join(path, 'node_modules'));
  for (const name of readdirSync(join(ROOT, 'node_modules'))) {
    const [from, to] = [join(ROOT, 'node_modules', name), join(path, 'node_modules', name)];
    // These lead to the workspaces by relative paths, so the copies lead to the copied workspaces.
    if (name === '@adoption-store') cpSync(from, to, { recursive: true, verbatimSymlinks: true });
    else symlinkSync(from, to);
  }
  const migrations = join(path, 'packages/infrastructure/dist/database/migrations');
  copyFileSync(join(__dirname, MIGRATION), join(migrations, MIGRATION));
  appendFileSync(join(migrations, 'index.js'), `\nexport * from './${MIGRATION}';\n`);
  const copyOf = (program: string) => join(path, relative(ROOT, program));
  return { api: copyOf(API), worker: copyOf(WORKER), migrate: copyOf(MIGRATE), remove: () => folder.remove() };
}
