import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it } from '@jest/globals';
import ts from 'typescript';
import { useApi } from '@adoption-store/api/testing/api';

const EXAMPLES = join(__dirname, '../examples');

/** The output of each example, in order, in a store with Bella, Luna and Milo. */
const OUTPUTS: Readonly<Record<string, RegExp>> = {
  'pages.ts': /^1 Bella\n2 Luna\n3 Milo\n$/,
  'quick-start.ts':
    /^one page: 1 Bella\none page: 2 Luna\nall pages: 1 Bella\nall pages: 2 Luna\nall pages: 3 Milo\norder 1 of animal 1 is placed\n$/,
  'orders.ts': /^409 pet_not_available: .+\nthe order is completed\nanimal 4 was adopted\n$/,
  'errors.ts': /^Luna is animal \d+\n404 not_found\n\d+ requests left, status 200\n$/,
  'messages.ts': /^"Is Luna still there\?" is queued\n$/,
};

const api = useApi();

it('every example works with the built package', async () => {
  for (const name of ['Bella', 'Luna', 'Milo'])
    await api.application.addAnimal.execute({ name, categoryId: 1n, status: 'available' });
  const outputs: Record<string, unknown> = {};
  for (const name of Object.keys(OUTPUTS)) outputs[name] = await outputOf(name);
  expect(outputs).toEqual(
    Object.fromEntries(
      Object.entries(OUTPUTS).map(([name, stdout]) => [name, { stdout: expect.stringMatching(stdout), stderr: '' }]),
    ),
  );
});

it('every example is tested', () => {
  expect(readdirSync(EXAMPLES).sort()).toEqual(Object.keys(OUTPUTS).sort());
});

it('the README shows one of them unchanged', () => {
  const shown = readFileSync(join(EXAMPLES, '../README.md'), 'utf8');
  expect(shown).toContain(`\`\`\`ts\n${readFileSync(join(EXAMPLES, 'quick-start.ts'), 'utf8')}\`\`\`\n`);
});

/**
 * Runs the example as a separate program. Node.js 20 can't run TypeScript, and a module from stdin resolves the
 * workspace's packages.
 */
async function outputOf(example: string): Promise<{ stdout: string; stderr: string }> {
  const { outputText } = ts.transpileModule(readFileSync(join(EXAMPLES, example), 'utf8'), {
    compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext },
  });
  const { stdin, stdout, stderr } = spawn(process.execPath, ['--input-type=module'], {
    cwd: EXAMPLES,
    env: { PATH: process.env['PATH'], API_URL: `${api.origin}/v1`, API_KEY: api.key },
  });
  stdin.end(outputText);
  const [printed, failed] = await Promise.all([text(stdout), text(stderr)]);
  return { stdout: printed, stderr: failed };
}
