import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { repository } from './trees.js';

const CLIENT = join(repository, 'packages/client');

it.each([
  ['types', 'generate.js', 'generated.ts'],
  ['shapes of answers', 'generate-shapes.js', 'answer-shapes.ts'],
])("the client's %s match the description", async (_, script, name) => {
  const folder = await mkdtemp(join(tmpdir(), 'client-'));
  const made = join(folder, name);
  execFileSync(process.execPath, [join(CLIENT, script), made]);
  const [committed, current] = [join(CLIENT, 'src', name), made].map((file) => readFileSync(file, 'utf8'));
  await rm(folder, { recursive: true });
  expect(committed).toBe(current);
});

it("the client's version is its package's", () => {
  const { version } = JSON.parse(readFileSync(join(CLIENT, 'package.json'), 'utf8')) as { version: string };
  expect(readFileSync(join(CLIENT, 'src/version.ts'), 'utf8')).toContain(`'${version}'`);
});
