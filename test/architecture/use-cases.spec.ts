import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';

const root = join(__dirname, '../..');
const read = (...path: string[]) => readFileSync(join(root, ...path), 'utf8');

it('the API signs nobody up, and handles no password', () => {
  const lists = ['accounts/sign-in/use-cases.ts', 'sessions/use-cases.ts'].map((file) =>
    read('packages/domain/src', file),
  );
  const found = lists.flatMap((text) => [...text.matchAll(/^export (?:class (\w+)|\* from '\.\/([a-z-]+)\.js')/gm)]);
  // The file sign-up.ts has the class SignUp.
  const names = found.map(([, name, file = '']) => name ?? file.replaceAll('-', ''));
  expect(names.length).toBeGreaterThan(10);
  const folder = 'apps/api/src';
  const files = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.ts'),
  );
  const code = files.map((file) => read(folder, file)).join('\n');
  expect(names.filter((name) => new RegExp(`\\b${name}\\b`, 'i').test(code))).toEqual([]);
});
