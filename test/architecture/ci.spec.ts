import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { repository } from './trees.js';

const read = (path: string) => readFileSync(join(repository, path), 'utf8');

interface Workflow {
  readonly on: unknown;
  readonly permissions: unknown;
  readonly jobs: Readonly<
    Record<string, { readonly needs?: string; readonly permissions?: unknown; readonly steps?: readonly unknown[] }>
  >;
}

/** Actions that aren't named by their commit, and packages of npm and versions of Node.js that aren't exact. */
function unpinned(text: string): string[] {
  const uses = [...text.matchAll(/uses: (?!\.\/)(\S+)/g)].filter(([, action]) => !/@[0-9a-f]{40}$/.test(action ?? ''));
  const packages = [...text.matchAll(/npm install .* "?(\S+?)"? \|\|/g)].filter(
    ([, name]) => !/@(?:\d+\.\d+\.\d+(?:-[\w.]+)?|\$version)$/.test(name ?? ''),
  );
  const versions = [...text.matchAll(/(?:test_on_node|node-version:) ((?!\d+\.\d+\.\d+\s)[\d.']+)/g)];
  return [...uses, ...packages, ...versions].map(([, name]) => name ?? '');
}

describe('CI', () => {
  it('takes exact versions of whatever has one', () => {
    const files = ['.github/workflows/ci.yml', '.github/workflows/publish.yml', '.ci/run'];
    expect(files.flatMap((file) => unpinned(read(file)))).toEqual([]);
  });

  it('is told of an action, a package and a version that may change', () => {
    const text = `
      - uses: actions/checkout@v4
      - uses: actions/setup-node@49933ea5288caeca8642d1e84afbd3f7d6820020
          node-version: '20.19'
      npm install --silent --prefix "$folder" tool@latest || return 1
      npm install --silent --prefix "$folder" tool@1.2.3 || return 1
      test_on_node 24 'e2e'
      test_on_node 24.1.0 'e2e'`;
    expect(unpinned(text)).toEqual(['actions/checkout@v4', 'tool@latest', `'20.19'`, '24']);
  });

  it('tests on the Node.js of the images, and begins with the oldest that is promised', () => {
    const [, version = 'none'] = /node:(\d+\.\d+\.\d+)-/.exec(read('docker/Dockerfile')) ?? [];
    expect(read('.ci/run')).toContain(`test_on_node ${version} `);
    const { engines } = JSON.parse(read('package.json')) as { readonly engines: { readonly node: string } };
    expect(`>=${read('.nvmrc').trim()}`).toBe(`${engines.node}.0`);
  });
});

describe('the workflow that publishes', () => {
  const { on, permissions, jobs } = parse(read('.github/workflows/publish.yml')) as Workflow;

  it('runs for a tag, after everything that CI does', () => {
    expect(on).toEqual({ push: { tags: ['v*.*.*'] } });
    expect(jobs['test']).toEqual({ uses: './.github/workflows/ci.yml' });
    expect(jobs['publish']?.needs).toBe('test');
  });

  it('publishes each package that is not private, with provenance and without a token of ours', () => {
    const published = ['client', 'domain'].map((name) => `--workspace=@adoption-store/${name}`).join(' ');
    expect(jobs['publish']?.steps?.at(-1)).toEqual({ run: `npm publish --provenance --access public ${published}` });
    expect({ all: permissions, publish: jobs['publish']?.permissions }).toEqual({
      all: { contents: 'read' },
      publish: { contents: 'read', 'id-token': 'write' },
    });
    expect(read('.github/workflows/publish.yml')).not.toMatch(/secrets\.|TOKEN/);
  });
});
