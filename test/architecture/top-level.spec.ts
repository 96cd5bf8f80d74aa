import { readdirSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { repository } from './trees.js';

const AT_THE_TOP = [
  'LICENSE',
  'README.md',
  'apps',
  'docker',
  'package-lock.json',
  'package.json',
  'packages',
  'test',
  'tsconfig.base.json',
  'turbo.json',
];

// Ignored by .gitignore, except dotfiles.
const IGNORED = /^(?:node_modules|dist|coverage)$|\.(?:log|tgz)$/;

it('has only known entries at the top level', () => {
  expect(strangersAmong(readdirSync(repository))).toEqual([]);
});

it('notices unknown entries', () => {
  const names = [
    ...AT_THE_TOP,
    '.github',
    '.data',
    'node_modules',
    'npm-debug.log',
    'src',
    'jest.config.js',
    'NOTES.md',
  ];
  expect(strangersAmong(names)).toEqual(['src', 'jest.config.js', 'NOTES.md']);
});

function strangersAmong(names: readonly string[]): string[] {
  return names.filter((name) => !AT_THE_TOP.includes(name) && !name.startsWith('.') && !IGNORED.test(name));
}
