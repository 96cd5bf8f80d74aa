import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import ts from 'typescript';
import { refuseStaleBuild } from './compiled.js';

let root: string;
let source: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'adoption-store-compiled-'));
  const project = join(root, 'packages/one');
  mkdirSync(join(project, 'src'), { recursive: true });
  source = join(project, 'src/index.ts');
  writeFileSync(source, 'export const answer = 1;\n');
  const compilerOptions = {
    composite: true,
    rootDir: 'src',
    outDir: 'dist',
    tsBuildInfoFile: 'dist/.tsbuildinfo',
    types: [],
  };
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['src'] }));
  writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'one', scripts: { build: 'tsc -b' } }));
  mkdirSync(join(root, 'node_modules'));
  symlinkSync('../packages/one', join(root, 'node_modules/one'));
  ts.createSolutionBuilder(ts.createSolutionBuilderHost(ts.sys), [project], {}).build();
});
afterEach(() => {
  rmSync(root, { recursive: true });
});

it('an up-to-date build is accepted, whatever the files’ times', () => {
  utimesSync(source, new Date(), new Date(Date.now() + 60_000));
  expect(() => {
    refuseStaleBuild(join(root, 'packages/one'), root);
  }).not.toThrow();
});

it('a build older than a changed source is refused, with the command to run', () => {
  writeFileSync(source, 'export const answer = 2;\n');
  utimesSync(source, new Date(), new Date(Date.now() + 60_000));
  expect(() => {
    refuseStaleBuild(join(root, 'packages/one'), root);
  }).toThrow(/packages\/one\/tsconfig\.json: its sources were changed .* run: npm run build$/);
});

it('a workspace is refused that needs a project which is stale', () => {
  mkdirSync(join(root, 'packages/two'));
  const manifest = { name: 'two', devDependencies: { one: '1.0.0' } };
  writeFileSync(join(root, 'packages/two/package.json'), JSON.stringify(manifest));
  const isRefused = () => {
    refuseStaleBuild(join(root, 'packages/two'), root);
  };
  expect(isRefused).not.toThrow();
  writeFileSync(source, 'export const answer = 2;\n');
  utimesSync(source, new Date(), new Date(Date.now() + 60_000));
  expect(isRefused).toThrow('packages/one/tsconfig.json');
});

it('a project that was never compiled is refused', () => {
  rmSync(join(root, 'packages/one/dist'), { recursive: true });
  expect(() => {
    refuseStaleBuild(join(root, 'packages/one'), root);
  }).toThrow('npm run build');
});

it('a copy of a workspace runs the programs of the original', () => {
  const copy = join(root, 'copy');
  cpSync(join(root, 'packages/one'), copy, { recursive: true, filter: (path) => !path.includes('dist') });
  const isRefused = () => {
    refuseStaleBuild(copy, root);
  };
  writeFileSync(join(copy, 'src/index.ts'), 'export const answer = 2;\n');
  expect(isRefused).not.toThrow();
  writeFileSync(source, 'export const answer = 2;\n');
  utimesSync(source, new Date(), new Date(Date.now() + 60_000));
  expect(isRefused).toThrow('packages/one/tsconfig.json');
});
