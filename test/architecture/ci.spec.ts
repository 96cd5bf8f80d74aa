import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { repository } from './trees.js';

const read = (path: string) => readFileSync(join(repository, path), 'utf8');

/** Actions that aren't named by their commit, and packages of npm and versions of Node.js that aren't exact. */
function unpinned(text: string): string[] {
  const uses = [...text.matchAll(/uses: (\S+)/g)].filter(([, action]) => !/@[0-9a-f]{40}$/.test(action ?? ''));
  const packages = [...text.matchAll(/npm install .* "?(\S+?)"? \|\|/g)].filter(
    ([, name]) => !/@(?:\d+\.\d+\.\d+(?:-[\w.]+)?|\$version)$/.test(name ?? ''),
  );
  const versions = [...text.matchAll(/(?:test_on_node|node-version:) ((?!\d+\.\d+\.\d+ )[\d.']+)/g)];
  return [...uses, ...packages, ...versions].map(([, name]) => name ?? '');
}

describe('CI', () => {
  it('takes exact versions of whatever has one', () => {
    expect(unpinned(read('.github/workflows/ci.yml') + read('.ci/run'))).toEqual([]);
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
