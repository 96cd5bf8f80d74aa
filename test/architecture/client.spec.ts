import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { repository } from './trees.js';

const CLIENT = join(repository, 'packages/client');

it("the client's types match the description", async () => {
  const folder = await mkdtemp(join(tmpdir(), 'client-'));
  const made = join(folder, 'generated.ts');
  execFileSync(process.execPath, [join(CLIENT, 'generate.js'), made]);
  const [committed, current] = [join(CLIENT, 'src/generated.ts'), made].map((file) => readFileSync(file, 'utf8'));
  await rm(folder, { recursive: true });
  expect(committed).toBe(current);
});

it('packs its exports, without tests', () => {
  const packed = execFileSync('npm', ['pack', '--dry-run', '--json', '--silent'], { cwd: CLIENT, encoding: 'utf8' });
  const [{ files }] = JSON.parse(packed) as [{ files: { path: string }[] }];
  const paths = files.map(({ path }) => path);
  expect(paths).toEqual(expect.arrayContaining(['package.json', 'README.md', 'dist/index.js', 'dist/index.d.ts']));
  expect(paths.filter((path) => !/^(?:package\.json|README\.md|dist\/[\w-]+(?:\.d\.ts|\.js))$/.test(path))).toEqual([]);
  expect(paths.filter((path) => path.includes('.spec.'))).toEqual([]);
});
