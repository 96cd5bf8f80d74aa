import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import ts from 'typescript';
import { refuseStaleBuild } from './compiled.js';
import { ask, createDatabase, EMPTY, expectDatabaseErrors } from './database.js';

describe('a build that process tests run', () => {
  let root: string;
  let source: string;

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'adoption-store-compiled-'));
    const project = join(root, 'packages/one');
    mkdirSync(join(project, 'src'), { recursive: true });
    source = join(project, 'src/index.ts');
    writeFileSync(source, 'export const answer = 1;\n');
    const output = { outDir: 'dist', tsBuildInfoFile: 'dist/.tsbuildinfo' };
    const compilerOptions = { composite: true, rootDir: 'src', ...output, types: [] };
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['src'] }));
    writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'one', scripts: { build: 'tsc -b' } }));
    mkdirSync(join(root, 'node_modules'));
    symlinkSync('../packages/one', join(root, 'node_modules/one'));
    ts.createSolutionBuilder(ts.createSolutionBuilderHost(ts.sys), [project], {}).build();
  });
  afterEach(() => {
    rmSync(root, { recursive: true });
  });

  const refusing = (folder: string) => () => {
    refuseStaleBuild(join(root, folder), root);
  };

  /** Later than the build, whatever the clock's resolution. */
  function change(file: string, text: string): void {
    writeFileSync(file, text);
    utimesSync(file, new Date(), new Date(Date.now() + 60_000));
  }

  it('an up-to-date build is accepted, whatever the files’ times', () => {
    change(source, 'export const answer = 1;\n');
    expect(refusing('packages/one')).not.toThrow();
  });

  it('a build older than a changed source or none is refused, with the command to run, and so is one that needs it', () => {
    mkdirSync(join(root, 'packages/two'));
    const manifest = { name: 'two', devDependencies: { one: '1.0.0' } };
    writeFileSync(join(root, 'packages/two/package.json'), JSON.stringify(manifest));
    expect(refusing('packages/two')).not.toThrow();
    change(source, 'export const answer = 2;\n');
    for (const folder of ['packages/one', 'packages/two'])
      expect(refusing(folder)).toThrow(
        /packages\/one\/tsconfig\.json: its sources were changed .* run: npm run build$/,
      );
    rmSync(join(root, 'packages/one/dist'), { recursive: true });
    expect(refusing('packages/one')).toThrow('npm run build');
  });
});

describe('the database of a suite', () => {
  it('fails the suite on an ERROR in its log that the suite has not asked for, and shows the statement', async () => {
    const database = await createDatabase(EMPTY);
    for (const column of ['unasked', 'neither'])
      await expect(ask(database.url, `SELECT\n ${column}`)).rejects.toThrow(column);
    await expect(ask(database.url, 'SELECT 1 / 0')).rejects.toThrow('zero');
    expectDatabaseErrors('22012');
    const dropped = expect(database.drop()).rejects;
    await dropped.toThrow(/42703 ERROR: .*"unasked"[^]*STATEMENT:[^]*unasked\n.* ERROR: .*"neither"(?![^]*22012)/);
    expectDatabaseErrors('42703');
    await database.drop();
  });
});
