import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { build } from 'esbuild';
import { leadsSomewhere } from '../architecture/documents.js';
import { compilers, exportsOf, manifestOf, PUBLISHED, repository, Stranger } from './packed.js';

const REPOSITORY = 'https://github.com/adoption-store/adoption-store';
const OUTPUT = { client: '9223372036854775807 Luna\n', domain: '9223372036854775807 Luna\n' };
// Bytes, minified, with its dependencies.
const MOST_BYTES_OF_CLIENT = 20_000;

let stranger: Stranger;

beforeAll(async () => {
  stranger = await Stranger.arrive();
});
afterAll(() => stranger.remove());

it('every other workspace is private', () => {
  const folders = ['.', 'test', ...['apps', 'packages'].flatMap((parent) => workspacesIn(parent))];
  const open = folders.filter((folder) => manifestOf(join(repository, folder)).private !== true);
  expect(open).toEqual(PUBLISHED.map((name) => `packages/${name}`));
});

function workspacesIn(parent: string): string[] {
  const folders = readdirSync(join(repository, parent)).map((name) => join(parent, name));
  return folders.filter((folder) => existsSync(join(repository, folder, 'package.json')));
}

describe.each(PUBLISHED)('@adoption-store/%s', (name) => {
  const folder = join(repository, 'packages', name);
  const read = (path: string) => readFileSync(join(stranger.installed(name), path), 'utf8');

  it('passes publint', () => {
    const program = join(repository, 'node_modules/publint/src/cli.js');
    const args = [program, '--strict', stranger.files[name]];
    expect(spawnSync(process.execPath, args, { encoding: 'utf8' })).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('All good!'),
    });
  });

  it('says where it comes from', () => {
    expect(manifestOf(stranger.installed(name))).toMatchObject({
      license: 'MIT',
      engines: { node: '>=20.19' },
      keywords: expect.arrayContaining(['adoption']),
      repository: { type: 'git', url: `git+${REPOSITORY}.git`, directory: `packages/${name}` },
      homepage: `${REPOSITORY}/tree/main/packages/${name}#readme`,
      bugs: `${REPOSITORY}/issues`,
      publishConfig: { access: 'public', provenance: true },
    });
    expect(read('LICENSE')).toBe(readFileSync(join(repository, 'LICENSE'), 'utf8'));
    expect(read('CHANGELOG.md')).toMatch(/^## \[(?:Unreleased|\d+\.\d+\.\d+)\]/m);
  });

  it('has its code, its sources and its documents, and no tests', () => {
    const allowed =
      /^(?:package\.json|README\.md|LICENSE|CHANGELOG\.md|dist\/.+\.(?:js|d\.ts)(?:\.map)?|(?:src|examples)\/.+\.ts)$/;
    const files = stranger.filesOf(name);
    expect(files.filter((path) => !allowed.test(path) || path.includes('.spec.'))).toEqual([]);
    expect(files).toEqual(expect.arrayContaining(['README.md', 'LICENSE', 'CHANGELOG.md', 'dist/index.js']));
  });

  it('has source maps that point at its sources', () => {
    const files = stranger.filesOf(name);
    const broken = files
      .filter((path) => /^dist\/.*\.(?:js|ts)$/.test(path))
      .filter((path) => {
        const map = join(dirname(path), /^\/\/# sourceMappingURL=(.+)$/m.exec(read(path))?.[1] ?? 'none');
        if (!files.includes(map)) return true;
        const { sources } = JSON.parse(read(map)) as { readonly sources: readonly string[] };
        return sources.length !== 1 || !files.includes(normalize(join(dirname(map), sources[0] ?? '')));
      });
    expect(broken).toEqual([]);
  });

  it('has a README that says how to install it, whose links work wherever it is shown', () => {
    expect(read('README.md')).toMatch(new RegExp(`^npm install @adoption-store/${name}$`, 'm'));
    const files = stranger.filesOf(name);
    const broken = [...read('README.md').matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, target = '']) => target)
      .filter((target) => {
        const [, path] =
          /^https:\/\/github\.com\/adoption-store\/adoption-store\/(?:blob|tree)\/main\/(.+)$/.exec(target) ?? [];
        if (path !== undefined) return !leadsSomewhere(repository, 'README.md', path);
        if (/^[a-z]+:/.test(target)) return !target.startsWith('https:');
        // npm resolves these by `repository.directory`, an editor in the installed folder.
        const isPacked =
          target.startsWith('#') || files.some((file) => `${file}/`.startsWith(`${target.replace(/#.*/, '')}/`));
        return !isPacked || !leadsSomewhere(folder, 'README.md', target);
      });
    expect(broken).toEqual([]);
  });

  describe.each(compilers())('with TypeScript $version', (compiler) => {
    const [major = 0, minor = 0] = compiler.version.split('.').map(Number);
    const isSince = (since: number) => major * 100 + minor >= since;

    it('compiles and runs, with module nodenext', () => {
      expect(stranger.compile(name, compiler, 'nodenext', 'mts')).toBe('');
      expect(stranger.run(`nodenext/${name}.mjs`)).toBe(OUTPUT[name]);
    });

    if (isSince(500))
      it('compiles and runs, with module resolution bundler', () => {
        expect(stranger.compile(name, compiler, 'bundler', 'mts')).toBe('');
        expect(stranger.run(`bundler/${name}.mjs`)).toBe(OUTPUT[name]);
      });

    if (isSince(508))
      it('compiles and runs as CommonJS', () => {
        expect(stranger.compile(name, compiler, 'nodenext', 'cts')).toBe('');
        expect(stranger.run(`nodenext/${name}.cjs`)).toBe(OUTPUT[name]);
      });
  });

  it('is imported and required by Node.js without a compiler', () => {
    const print = `console.log(Object.keys(PACKAGE).length > 0)`;
    const imported = `import * as PACKAGE from '@adoption-store/${name}'; ${print}`;
    const required = `const PACKAGE = require('@adoption-store/${name}'); ${print}`;
    expect(stranger.run('--input-type=module', '--eval', imported)).toBe('true\n');
    expect(stranger.run('--input-type=commonjs', '--eval', required)).toBe('true\n');
  });
});

it("the stranger's program uses everything that the client exports", () => {
  const program = readFileSync(join(__dirname, 'programs/client.ts'), 'utf8');
  const exported = exportsOf(join(stranger.installed('client'), 'dist/index.d.ts'));
  expect(exported).toContain('AdoptionStore');
  expect(exported.filter((name) => program.split(new RegExp(`\\b${name}\\b`)).length < 3)).toEqual([]);
});

it('the client is small', async () => {
  const { outputFiles } = await build({
    stdin: { contents: `export * from '@adoption-store/client';`, resolveDir: stranger.path },
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    write: false,
  });
  expect(outputFiles[0]?.contents.length).toBeGreaterThan(5_000);
  expect(outputFiles[0]?.contents.length).toBeLessThanOrEqual(MOST_BYTES_OF_CLIENT);
});
