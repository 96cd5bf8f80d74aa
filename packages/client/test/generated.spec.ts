import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { temporaryFolder } from '@adoption-store/test-support';

const CLIENT = join(__dirname, '..');
const read = (path: string) => readFileSync(path, 'utf8');

it.each([
  ['types', 'generate.js', 'generated.ts'],
  ['shapes of answers', 'generate-shapes.js', 'answer-shapes.ts'],
])("the client's %s match the description", async (_, script, name) => {
  const folder = await temporaryFolder();
  const made = join(folder.path, name);
  execFileSync(process.execPath, [join(CLIENT, script), made]);
  expect(read(join(CLIENT, 'src', name))).toBe(read(made));
  await folder.remove();
});

it("the client's version is its package's", () => {
  const { version } = JSON.parse(read(join(CLIENT, 'package.json'))) as { version: string };
  expect(read(join(CLIENT, 'src/version.ts'))).toContain(`'${version}'`);
});
